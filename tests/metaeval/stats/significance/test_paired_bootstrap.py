"""The paired bootstrap over articles."""

import numpy as np
import pytest
from scipy import stats

from metaeval.stats.significance.compare_pairs import compare_pairs
from metaeval.stats.significance.corrections import holm
from metaeval.stats.uncertainty.bootstrap import Bootstrap, Resampling, bootstrap_replicates
from tests.metaeval.stats.evaluator_cases import random_case

DRAWS = 60


@pytest.mark.parametrize("level", ["pooled", "article", "system"])
def test_both_evaluators_are_drawn_on_their_common_summaries(level):
    labels, scores, articles, systems = random_case(1, articles=8)
    kept = ~np.isnan(labels) & ~np.isnan(scores).any(axis=0)
    one, other = bootstrap_replicates(
        "articles",
        level,
        "kendall_b",
        labels[kept],
        scores[:, kept],
        articles[kept],
        systems[kept],
        resamples=DRAWS,
        seed=3,
    )
    gap = (one - other)[~np.isnan(one - other)]
    found = compare_pairs(
        "bootstrap_articles", level, "kendall_b", labels, scores, articles, systems, resamples=DRAWS, seed=3
    )
    ratio = found.differences[0, 1] / np.std(gap, ddof=1)
    degrees = len(np.unique(articles[kept])) - 1
    assert found.p_values[0, 1] == pytest.approx(2 * stats.t.cdf(-abs(ratio), degrees), abs=1e-12)
    assert found.low[0, 1] == pytest.approx(np.quantile(gap, 0.025), abs=1e-12)
    assert found.high[0, 1] == pytest.approx(np.quantile(gap, 0.975), abs=1e-12)


def test_evaluators_with_the_same_summaries_find_what_each_pair_finds():
    labels, scores, *rest = random_case(2, articles=8, evaluators=3)
    scores[:, np.isnan(scores).any(axis=0)] = np.nan
    together = compare_pairs(
        "bootstrap_articles", "article", "pearson", labels, scores, *rest, resamples=DRAWS
    )
    apart = compare_pairs(
        "bootstrap_articles", "article", "pearson", labels, scores[:2], *rest, resamples=DRAWS
    )
    assert together.p_values[0, 1] == apart.p_values[0, 1]
    assert together.low[0, 1] == apart.low[0, 1]


def test_many_pairs_can_be_told_apart_with_a_thousand_resamples():
    rng = np.random.default_rng(7)
    labels = rng.normal(size=400)
    scores = np.array([labels + noise * rng.normal(size=400) for noise in np.linspace(0.2, 6, 10)])
    articles = np.arange(400) // 4
    found = compare_pairs("bootstrap_articles", "pooled", "pearson", labels, scores, articles, articles * 0)
    adjusted = holm(found.p_values[np.triu_indices(10, 1)])
    assert found.p_values[0, 9] * 45 < 0.05
    assert (adjusted < 0.05).sum() > 20


def test_the_same_scores_are_no_different_and_a_difference_that_never_varies_has_no_p_value():
    labels = np.tile([1.0, 2.0, 3.0], 5)
    scores = np.array([labels, labels, -labels])
    articles = np.arange(15) // 3
    found = compare_pairs("bootstrap_articles", "article", "pearson", labels, scores, articles, articles * 0)
    assert found.p_values[0, 1] == 1.0
    assert np.isnan(found.p_values[0, 2])
    assert found.reasons[0, 2] == "the same difference in every resample"


def test_a_difference_that_many_resamples_leave_undefined_has_no_p_value():
    labels = np.r_[1.0, 1.0, np.zeros(18)]
    scores = np.random.default_rng(1).normal(size=(2, 20))
    articles = np.arange(20)
    found = compare_pairs(
        "bootstrap_articles", "pooled", "pearson", labels, scores, articles, articles * 0, resamples=200
    )
    assert np.isnan(found.p_values[0, 1])
    assert found.reasons[0, 1].startswith("undefined in ")


def test_one_resample_is_too_few():
    labels, scores, *rest = random_case(1, articles=8)
    found = compare_pairs("bootstrap_articles", "pooled", "pearson", labels, scores, *rest, resamples=1)
    assert np.isnan(found.p_values[0, 1])
    assert found.reasons[0, 1] == "fewer than two resamples in which the difference is defined"


def test_one_article_is_too_few_to_draw_from():
    labels, scores, articles, systems = random_case(1)
    found = compare_pairs(
        "bootstrap_articles", "pooled", "pearson", labels, scores, articles * 0, systems, resamples=DRAWS
    )
    assert np.isnan(found.p_values[0, 1])
    assert found.reasons[0, 1] == "fewer than two articles to draw from"


def over_articles(level, coefficient, study, *, yes_no=False):
    return Bootstrap(Resampling("articles", level, coefficient, *study, yes_no=yes_no), DRAWS, 3)


@pytest.mark.parametrize("unscored", [0, 1, 2])
@pytest.mark.parametrize("signs", [(1, 1, 1), (1, -1, 1)])
@pytest.mark.parametrize(("level", "coefficient"), [("pooled", "spearman"), ("article", "acc_eq")])
def test_what_was_drawn_for_intervals_changes_nothing(level, coefficient, unscored, signs):
    labels, scores, *rest = random_case(4, articles=8, evaluators=3)
    scores[np.isnan(scores)] = 1.0
    for evaluator in range(unscored):
        scores[evaluator, np.flatnonzero(~np.isnan(labels))[evaluator]] = np.nan
    study = (labels, scores, *rest)
    asked = {"orientation": signs, "resamples": DRAWS, "seed": 3}
    apart = compare_pairs("bootstrap_articles", level, coefficient, *study, **asked)
    shared = over_articles(level, coefficient, study)
    together = compare_pairs("bootstrap_articles", level, coefficient, *study, **asked, bootstrap=shared)
    for name in ("p_values", "low", "high"):
        np.testing.assert_array_equal(getattr(together, name), getattr(apart, name))


def test_nor_does_it_where_people_are_tied_between_yes_and_no():
    _, scores, articles, systems = random_case(5, articles=8)
    scores[np.isnan(scores)] = 1.0
    labels = np.random.default_rng(5).integers(3, size=len(articles)) / 2
    study = (labels, scores, articles, systems)
    asked = {"resamples": DRAWS, "seed": 3, "yes_no": True}
    apart = compare_pairs("bootstrap_articles", "pooled", "roc_auc", *study, **asked)
    shared = over_articles("pooled", "roc_auc", study, yes_no=True)
    together = compare_pairs("bootstrap_articles", "pooled", "roc_auc", *study, **asked, bootstrap=shared)
    np.testing.assert_array_equal(together.low, apart.low)


def test_what_was_drawn_is_used_where_everything_is_scored():
    labels, scores, *rest = random_case(4, articles=8)
    scores[np.isnan(scores)] = 1.0
    study = (labels, scores, *rest)
    other_draws = Bootstrap(Resampling("articles", "pooled", "pearson", *study, yes_no=False), DRAWS, 4)
    asked = {"resamples": DRAWS, "seed": 3}
    apart = compare_pairs("bootstrap_articles", "pooled", "pearson", *study, **asked)
    told = compare_pairs("bootstrap_articles", "pooled", "pearson", *study, **asked, bootstrap=other_draws)
    assert told.low[0, 1] != apart.low[0, 1]
