"""Confidence intervals by name: what they are, and when there is none."""

import json
import math

import numpy as np
import pytest
import scipy.stats

from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.uncertainty.intervals import INTERVALS, JACKKNIFE_GROUPS, intervals

BOOTSTRAPS = [name for name, method in INTERVALS.items() if method.scheme]


def study(articles=40, systems=5, *, seed=0, yes_no=False):
    rng = np.random.default_rng(seed)
    label, score = rng.normal(size=(2, articles, systems)) + rng.normal(size=(articles, 1))
    label = (label > 0).astype(float) if yes_no else np.round(label)
    article, system = np.indices(label.shape)
    return {
        "labels": label.ravel(),
        "scores": score.reshape(1, -1),
        "articles": article.ravel(),
        "systems": system.ravel(),
        "yes_no": yes_no,
    }


def estimate(level, coefficient, *, labels, scores, articles, systems, yes_no):
    return LEVELS[level].estimate(
        COEFFICIENTS[coefficient], labels, scores[0], articles, systems, yes_no=yes_no
    )


@pytest.mark.parametrize("name", INTERVALS)
def test_each_has_a_name_and_a_label(name):
    assert INTERVALS[name].name == name
    assert INTERVALS[name].label


@pytest.mark.parametrize("name", BOOTSTRAPS)
@pytest.mark.parametrize("level", ["pooled", "article", "within_system"])
@pytest.mark.parametrize("coefficient", ["pearson", "kendall_b", "roc_auc"])
def test_a_bootstrap_interval_holds_the_value_and_says_what_was_drawn(name, level, coefficient):
    data = study(yes_no=True)
    (found,) = intervals(name, level, coefficient, **data, resamples=200, seed=3)
    assert found.low < estimate(level, coefficient, **data).value < found.high
    assert INTERVALS[name].scheme.replace("both", "systems and") in found.definition
    assert "200 resamples" in found.definition
    assert "seed 3" in found.definition


@pytest.mark.parametrize("name", BOOTSTRAPS)
def test_the_same_seed_gives_the_same_interval_and_another_one_another(name):
    one, same, other = (
        intervals(name, "article", "spearman", **study(), resamples=100, seed=seed)[0] for seed in (1, 1, 2)
    )
    assert one == same
    assert (one.low, one.high) != (other.low, other.high)


@pytest.mark.parametrize("name", INTERVALS)
def test_the_order_of_the_summaries_does_not_matter(name):
    data = study()
    order = np.random.default_rng(0).permutation(len(data["labels"]))
    shuffled = {key: data[key][..., order] for key in ("labels", "scores", "articles", "systems")}
    (found,) = intervals(name, "pooled", "kendall_b", **shuffled, resamples=50)
    (expected,) = intervals(name, "pooled", "kendall_b", **data, resamples=50)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize("name", BOOTSTRAPS)
def test_an_evaluator_has_the_same_interval_whoever_else_is_compared(name):
    data = study()
    others = np.random.default_rng(5).normal(size=(2, data["scores"].shape[1]))
    (alone,) = intervals(name, "article", "kendall_b", **data, resamples=50)
    data["scores"] = np.concatenate([data["scores"], others])
    assert intervals(name, "article", "kendall_b", **data, resamples=50)[0] == alone


def test_rescaled_scores_have_the_same_interval():
    data = study()
    (expected,) = intervals("bca_articles", "pooled", "pearson", **data, resamples=100)
    data["scores"] = data["scores"] * 20 + 300
    (found,) = intervals("bca_articles", "pooled", "pearson", **data, resamples=100)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-9)


@pytest.mark.parametrize("coefficient", ["spearman", "kendall_b", "kendall_c", "acc_eq", "roc_auc"])
@pytest.mark.parametrize("name", ["bootstrap_both", "bca_articles"])
def test_a_rescaling_that_keeps_the_order_does_not_matter_to_those_of_order(name, coefficient):
    data = study(yes_no=True)
    expected = intervals(name, "article", coefficient, **data, resamples=50)
    data["scores"] = np.exp(data["scores"])
    assert intervals(name, "article", coefficient, **data, resamples=50) == expected


@pytest.mark.parametrize(("name", "scheme"), [("percentile", "bootstrap"), ("BCa", "bca")])
def test_scipy_finds_about_the_same_interval_for_summaries_that_are_all_of_their_own_article(name, scheme):
    rng = np.random.default_rng(2)
    label = rng.normal(size=60)
    score = label + rng.normal(size=60)
    by_scipy = scipy.stats.bootstrap(
        (label, score),
        lambda x, z: scipy.stats.pearsonr(x, z).statistic,
        paired=True,
        vectorized=False,
        n_resamples=4000,
        method=name,
        rng=0,
    ).confidence_interval
    codes = np.arange(60)
    (found,) = intervals(
        f"{scheme}_articles", "pooled", "pearson", label, score[None], codes, codes * 0, resamples=20_000
    )
    assert (found.low, found.high) == pytest.approx((by_scipy.low, by_scipy.high), abs=0.015)


@pytest.mark.parametrize("known", [True, False])
def test_summaries_of_unknown_article_are_drawn_one_by_one(known):
    data = study(articles=60, systems=1)
    (expected,) = intervals("bca_articles", "pooled", "pearson", **data, resamples=100)
    if not known:
        data["articles"] = np.full(60, -1)
    (found,) = intervals("bca_articles", "pooled", "pearson", **data, resamples=100)
    assert found == expected


def test_systems_of_which_one_is_unknown_cannot_be_drawn():
    data = study()
    data["systems"] = np.where(np.arange(len(data["labels"])) == 7, -1, data["systems"])
    (found,) = intervals("bootstrap_systems", "pooled", "pearson", **data, resamples=50)
    assert found.reason == "systems cannot be drawn: that of some summaries is not known"
    (found,) = intervals("bootstrap_systems", "within_system", "pearson", **data, resamples=50)
    assert not found.reason


def reason_of(name, level="pooled", coefficient="pearson", **changed):
    (found,) = intervals(name, level, coefficient, **(study() | changed), resamples=50)
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert found.definition
    return found.reason


@pytest.mark.parametrize("name", INTERVALS)
def test_constant_labels_have_no_interval(name):
    assert reason_of(name, labels=np.ones(200)) == "the value is undefined: all labels equal"


@pytest.mark.parametrize("name", INTERVALS)
def test_nothing_has_no_interval(name):
    assert reason_of(name, labels=np.full(200, np.nan)).startswith("the value is undefined")


def test_few_articles_or_systems_are_too_few_to_draw_from():
    one = np.zeros(200, dtype=int)
    assert reason_of("bootstrap_articles", articles=one) == "fewer than 10 articles to draw from"
    assert reason_of("bca_systems", systems=one) == "fewer than 5 systems to draw from"
    assert reason_of("bootstrap_both", systems=one) == "fewer than 5 systems to draw from"


def test_a_value_undefined_in_many_resamples_has_no_interval():
    labels = np.r_[1.0, np.zeros(199)]
    assert reason_of("bootstrap_articles", labels=labels).startswith("undefined in ")


def test_undefined_resamples_are_left_out_and_counted():
    data = study(articles=12, systems=1, seed=4)
    data["labels"] = np.array([1.0] * 3 + [0.0] * 9)
    (found,) = intervals("bootstrap_articles", "pooled", "pearson", **data, resamples=500)
    assert not found.reason
    assert "that leave it undefined are left out" in found.definition


def test_perfect_agreement_has_no_interval():
    labels = study()["scores"][0]
    assert (
        reason_of("bootstrap_articles", coefficient="kendall_b", labels=labels)
        == "every resample gives the same value"
    )
    assert "around -1 or 1" in reason_of("analytic", coefficient="kendall_b", labels=labels)


@pytest.mark.parametrize(
    ("level", "coefficient"), [("article", "pearson"), ("pooled", "acc_eq"), ("system", "kendall_c")]
)
def test_without_a_formula_there_is_no_analytic_interval(level, coefficient):
    assert reason_of("analytic", level, coefficient).startswith("there is no formula")


def test_roc_auc_has_no_interval_over_systems():
    assert "a system's mean label is neither" in reason_of(
        "analytic", "system", "roc_auc", yes_no=True, labels=np.arange(200) % 2.0
    )


def test_many_clusters_are_left_out_in_groups():
    data = study(articles=JACKKNIFE_GROUPS * 2 + 3, systems=1)
    (found,) = intervals("bca_articles", "pooled", "pearson", **data, resamples=100)
    assert found.low < estimate("pooled", "pearson", **data).value < found.high


def matrices(shared, case):
    golden = json.loads((shared / "golden" / "metaeval.json").read_text())
    for each in golden[case]:
        scores, labels = (np.array(golden["matrices"][each[side]]) for side in "xz")
        articles, systems = np.indices(scores.shape)
        yield each, (labels.ravel(), scores.reshape(1, -1), articles.ravel(), systems.ravel())


def test_golden_values_of_fishers_interval(shared):
    for case, columns in matrices(shared, "fisher_ci"):
        for golden_name, ends in case["expected"].items():
            name = {"kendall": "kendall_b"}.get(golden_name, golden_name)
            (found,) = intervals("analytic", case["level"], name, *columns)
            assert (found.low, found.high) == pytest.approx(ends, abs=1e-9)


@pytest.mark.parametrize(
    ("scheme", "golden_scheme"), [("articles", "inputs"), ("systems", "systems"), ("both", "both")]
)
def test_golden_values_of_the_bootstrap(shared, scheme, golden_scheme):
    for case, columns in matrices(shared, "bootstrap"):
        expected = case["expected"][golden_scheme]
        (found,) = intervals(f"bootstrap_{scheme}", "article", "kendall_b", *columns, resamples=10_000)
        assert (found.low, found.high) == pytest.approx(
            expected["ci95"], abs=expected["tol_for_10000_resamples"]
        )


def test_ties_are_not_calibrated_on_more_pairs_than_can_be_kept():
    study_of_many = study(articles=700, systems=3)
    (found,) = intervals("bootstrap_articles", "pooled", "acc_eq_calibrated", **study_of_many, resamples=20)
    assert found.reason == (
        "the value is undefined: more than 2,000,000 pairs of summaries to calibrate ties on"
    )
