"""Confidence intervals by name, and the reasons for missing ones."""

import json
import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.result import NoIntervalError
from metaeval.stats.rows import Resampling, Rows
from metaeval.stats.uncertainty.intervals import INTERVALS, JACKKNIFE_GROUPS, intervals, symmetric_interval


@given(
    st.lists(st.floats(-0.9, 0.9), min_size=5, max_size=40).filter(lambda each: np.ptp(each) > 1e-6),
    st.floats(-0.9, 0.9),
)
def test_it_is_as_far_above_the_value_as_below_unless_cut_off(replicates, value):
    low, high = symmetric_interval(value, np.array(replicates))
    assert -1 <= low <= value <= high <= 1
    if low > -1 and high < 1:
        assert high - value == pytest.approx(value - low)
    held = sum(low - 1e-9 <= each <= high + 1e-9 for each in replicates)
    assert held >= 0.95 * (len(replicates) - 1)


def test_shares_end_at_0():
    assert symmetric_interval(0.1, np.array([0.0, 0.5, 0.4]), least=0.0)[0] == 0.0


def test_undefined_resamples_are_refused_as_for_other_intervals():
    with pytest.raises(NoIntervalError, match="undefined in 2 of 10 resamples"):
        symmetric_interval(0.1, np.r_[np.linspace(0, 1, 8), np.nan, np.nan])


BOOTSTRAPS = [name for name in INTERVALS if name.startswith(("bootstrap_", "bca_"))]


def make_study(articles=40, systems=5, *, seed=0, yes_no=False):
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


def estimate(level, coefficient, **data):
    return LEVELS[level].estimate(COEFFICIENTS[coefficient], Rows(**data).each[0])


@pytest.mark.parametrize("name", INTERVALS)
def test_every_interval_has_a_name_and_a_label(name):
    assert INTERVALS[name].name == name
    assert INTERVALS[name].label


@pytest.mark.parametrize("name", BOOTSTRAPS)
@pytest.mark.parametrize("level", ["pooled", "article", "within_system"])
@pytest.mark.parametrize("coefficient", ["pearson", "kendall_b", "roc_auc"])
def test_bootstrap_intervals_contain_the_value_and_state_their_draws(name, level, coefficient):
    data = make_study(yes_no=True)
    (found,) = intervals(name, level, coefficient, Rows(**data), Resampling(200, 3))
    assert found.low < estimate(level, coefficient, **data).value < found.high
    assert INTERVALS[name].scheme.replace("both", "systems and") in found.definition
    assert "200 resamples" in found.definition
    assert "seed 3" in found.definition


@pytest.mark.parametrize("name", BOOTSTRAPS)
def test_intervals_depend_on_the_seed(name):
    one, same, other = (
        intervals(name, "article", "spearman", Rows(**make_study()), Resampling(100, seed))[0]
        for seed in (1, 1, 2)
    )
    assert one == same
    assert (one.low, one.high) != (other.low, other.high)


@pytest.mark.parametrize("name", INTERVALS)
def test_the_order_of_the_summaries_does_not_matter(name):
    data = make_study()
    order = np.random.default_rng(0).permutation(len(data["labels"]))
    shuffled = {key: data[key][..., order] for key in ("labels", "scores", "articles", "systems")}
    (found,) = intervals(name, "pooled", "kendall_b", Rows(**shuffled), Resampling(50))
    (expected,) = intervals(name, "pooled", "kendall_b", Rows(**data), Resampling(50))
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize("name", BOOTSTRAPS)
def test_an_evaluators_interval_does_not_depend_on_other_evaluators(name):
    data = make_study()
    others = np.random.default_rng(5).normal(size=(2, data["scores"].shape[1]))
    (alone,) = intervals(name, "article", "kendall_b", Rows(**data), Resampling(50))
    data["scores"] = np.concatenate([data["scores"], others])
    assert intervals(name, "article", "kendall_b", Rows(**data), Resampling(50))[0] == alone


def test_rescaled_scores_have_the_same_interval():
    data = make_study()
    (expected,) = intervals("bca_articles", "pooled", "pearson", Rows(**data), Resampling(100))
    data["scores"] = data["scores"] * 20 + 300
    (found,) = intervals("bca_articles", "pooled", "pearson", Rows(**data), Resampling(100))
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-9)


@pytest.mark.parametrize("coefficient", ["spearman", "kendall_b", "kendall_c", "acc_eq", "roc_auc"])
@pytest.mark.parametrize("name", ["bootstrap_both", "bca_articles"])
def test_monotonic_rescaling_does_not_change_rank_based_intervals(name, coefficient):
    data = make_study(yes_no=True)
    expected = intervals(name, "article", coefficient, Rows(**data), Resampling(50))
    data["scores"] = np.exp(data["scores"])
    assert intervals(name, "article", coefficient, Rows(**data), Resampling(50)) == expected


@pytest.mark.parametrize(("name", "scheme"), [("percentile", "bootstrap"), ("BCa", "bca")])
def test_intervals_of_single_summary_articles_are_close_to_scipys(name, scheme):
    rng = np.random.default_rng(2)
    label = rng.normal(size=60)
    score = label + rng.normal(size=60)
    by_scipy = scipy.stats.bootstrap(
        (label, score),
        lambda x, z, axis: scipy.stats.pearsonr(x, z, axis=axis).statistic,
        paired=True,
        vectorized=True,
        n_resamples=4000,
        method=name,
        rng=0,
    ).confidence_interval
    codes = np.arange(60)
    (found,) = intervals(
        f"{scheme}_articles",
        "pooled",
        "pearson",
        Rows(label, score[None], codes, codes * 0),
        Resampling(20_000),
    )
    assert (found.low, found.high) == pytest.approx((by_scipy.low, by_scipy.high), abs=0.015)


@pytest.mark.parametrize("known", [True, False])
def test_summaries_of_unknown_articles_are_drawn_one_by_one(known):
    data = make_study(articles=60, systems=1)
    (expected,) = intervals("bca_articles", "pooled", "pearson", Rows(**data), Resampling(100))
    if not known:
        data["articles"] = np.full(60, -1)
    (found,) = intervals("bca_articles", "pooled", "pearson", Rows(**data), Resampling(100))
    assert found == expected


def test_systems_cannot_be_drawn_when_one_is_unknown():
    data = make_study()
    data["systems"] = np.where(np.arange(len(data["labels"])) == 7, -1, data["systems"])
    (found,) = intervals("bootstrap_systems", "pooled", "pearson", Rows(**data), Resampling(50))
    assert found.reason == "systems cannot be drawn: that of some summaries is not known"
    (found,) = intervals("bootstrap_systems", "within_system", "pearson", Rows(**data), Resampling(50))
    assert not found.reason


def reason_of(name, level="pooled", coefficient="pearson", **changed):
    (found,) = intervals(name, level, coefficient, Rows(**make_study() | changed), Resampling(50))
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert found.definition
    return found.reason


@pytest.mark.parametrize("name", INTERVALS)
def test_constant_labels_have_no_interval(name):
    assert reason_of(name, labels=np.ones(200)) == "the value is undefined: all labels equal"


@pytest.mark.parametrize("name", INTERVALS)
def test_no_data_give_no_interval(name):
    assert reason_of(name, labels=np.full(200, np.nan)).startswith("the value is undefined")


def test_few_articles_or_systems_give_no_interval():
    one = np.zeros(200, dtype=int)
    assert reason_of("bootstrap_articles", articles=one) == "fewer than 10 articles to draw from"
    assert reason_of("bca_systems", systems=one) == "fewer than 5 systems to draw from"
    assert reason_of("bootstrap_both", systems=one) == "fewer than 5 systems to draw from"


def test_a_value_undefined_in_many_resamples_has_no_interval():
    labels = np.r_[1.0, np.zeros(199)]
    assert reason_of("bootstrap_articles", labels=labels).startswith("undefined in ")


def test_undefined_resamples_are_counted_as_left_out():
    data = make_study(articles=12, systems=1, seed=4)
    data["labels"] = np.array([1.0] * 3 + [0.0] * 9)
    (found,) = intervals("bootstrap_articles", "pooled", "pearson", Rows(**data), Resampling(500))
    assert not found.reason
    assert "that leave it undefined are left out" in found.definition


def test_perfect_agreement_has_no_interval():
    labels = make_study()["scores"][0]
    assert (
        reason_of("bootstrap_articles", coefficient="kendall_b", labels=labels)
        == "every resample gives the same value"
    )
    assert "around -1 or 1" in reason_of("analytic", coefficient="kendall_b", labels=labels)


@pytest.mark.parametrize(
    ("level", "coefficient"), [("article", "pearson"), ("pooled", "acc_eq"), ("system", "kendall_c")]
)
def test_coefficients_without_a_formula_have_no_analytic_interval(level, coefficient):
    assert reason_of("analytic", level, coefficient).startswith("there is no formula")


def test_a_mean_has_the_jackknife_interval_of_the_t_test():
    """The mean over articles of tau is a mean of independent numbers."""
    data = make_study(systems=8)
    taus = [
        scipy.stats.kendalltau(data["labels"][there], data["scores"][0][there]).statistic
        for there in (data["articles"] == article for article in range(40))
    ]
    mean, error = np.mean(taus), np.std(taus, ddof=1) / math.sqrt(40)
    (found,) = intervals("jackknife_articles", "article", "kendall_c", Rows(**data))
    by_t_test = scipy.stats.t.interval(0.95, 39, *_of_kendall_c(data))
    assert (found.low, found.high) == pytest.approx(by_t_test)
    (of_tau_b,) = intervals("jackknife_articles", "article", "kendall_b", Rows(**data))
    assert of_tau_b.low < mean < of_tau_b.high
    assert of_tau_b.high - of_tau_b.low == pytest.approx(2 * 2.02 * error, rel=0.1)
    assert "on Fisher's scale" in of_tau_b.definition


def _of_kendall_c(data):
    each = [
        estimate("pooled", "kendall_c", **{**data, **_only(data, data["articles"] == article)}).value
        for article in range(40)
    ]
    return np.mean(each), np.std(each, ddof=1) / math.sqrt(40)


def _only(data, there):
    return {
        "labels": data["labels"][there],
        "scores": data["scores"][:, there],
        "articles": data["articles"][there],
        "systems": data["systems"][there],
    }


def test_a_jackknife_over_articles_is_wider_than_a_formula_where_articles_differ():
    rng = np.random.default_rng(5)
    label, score = 0.3 * rng.normal(size=(2, 50, 6)) + rng.normal(size=(2, 50, 1))
    article, system = np.indices(label.shape)
    rows = Rows(label.ravel(), score.reshape(1, -1), article.ravel(), system.ravel())
    (by_formula,), (by_article,) = (
        intervals(name, "pooled", "spearman", rows) for name in ("analytic", "jackknife_articles")
    )
    assert by_article.high - by_article.low > 1.8 * (by_formula.high - by_formula.low)
    (drawn,) = intervals("bootstrap_articles", "pooled", "spearman", rows)
    assert by_article.high - by_article.low == pytest.approx(drawn.high - drawn.low, rel=0.15)


def test_roc_auc_has_no_interval_over_systems():
    assert "a system's mean label is neither" in reason_of(
        "analytic", "system", "roc_auc", yes_no=True, labels=np.arange(200) % 2.0
    )


def test_the_jackknife_leaves_out_many_clusters_in_groups():
    data = make_study(articles=JACKKNIFE_GROUPS * 2 + 3, systems=1)
    (found,) = intervals("bca_articles", "pooled", "pearson", Rows(**data), Resampling(100))
    assert found.low < estimate("pooled", "pearson", **data).value < found.high


def matrices(shared, case):
    golden = json.loads((shared / "golden" / "metaeval.json").read_text())
    for each in golden[case]:
        scores, labels = (np.array(golden["matrices"][each[side]]) for side in "xz")
        articles, systems = np.indices(scores.shape)
        yield each, (labels.ravel(), scores.reshape(1, -1), articles.ravel(), systems.ravel())


def test_fisher_intervals_match_golden_values(shared):
    for case, columns in matrices(shared, "fisher_ci"):
        for golden_name, ends in case["expected"].items():
            name = {"kendall": "kendall_b"}.get(golden_name, golden_name)
            (found,) = intervals("analytic", case["level"], name, Rows(*columns))
            assert (found.low, found.high) == pytest.approx(ends, abs=1e-9)


@pytest.mark.parametrize(
    ("scheme", "golden_scheme"), [("articles", "inputs"), ("systems", "systems"), ("both", "both")]
)
def test_bootstrap_intervals_match_golden_values(shared, scheme, golden_scheme):
    for case, columns in matrices(shared, "bootstrap"):
        expected = case["expected"][golden_scheme]
        (found,) = intervals(
            f"bootstrap_{scheme}", "article", "kendall_b", Rows(*columns), Resampling(10_000)
        )
        assert (found.low, found.high) == pytest.approx(
            expected["ci95"], abs=expected["tol_for_10000_resamples"]
        )


def test_calibrated_accuracy_has_no_interval_with_too_many_pairs():
    study_of_many = make_study(articles=700, systems=3)
    (found,) = intervals(
        "bootstrap_articles", "pooled", "acc_eq_calibrated", Rows(**study_of_many), Resampling(20)
    )
    assert found.reason == (
        "the value is undefined: more than 2,000,000 pairs of summaries to calibrate ties on"
    )
