"""The paired bootstrap over articles."""

import numpy as np
import pytest
from scipy import stats

from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.rows import Resampling, Rows
from metaeval.stats.significance.compare_pairs import compare_pairs
from metaeval.stats.significance.corrections import holm
from metaeval.stats.uncertainty.bootstrap import Bootstrap
from tests.metaeval.stats.evaluator_cases import random_case

DRAWS = 60


@pytest.mark.parametrize("level", ["pooled", "article", "system"])
def test_both_evaluators_are_resampled_on_their_common_summaries(level):
    labels, scores, articles, systems = random_case(6, articles=12)
    kept = ~np.isnan(labels) & ~np.isnan(scores).any(axis=0)
    common = Rows(labels[kept], scores[:, kept], articles[kept], systems[kept])
    values = [LEVELS[level].estimate(COEFFICIENTS["kendall_b"], each).value for each in common.each]
    drawn = Bootstrap("articles", level, "kendall_b", common, Resampling(DRAWS, 3)).replicates
    if level == "pooled":
        values, drawn = np.arctanh(values), np.arctanh(drawn)
    gap = drawn[0] - drawn[1]
    gap = gap[~np.isnan(gap)]
    found = compare_pairs(
        "bootstrap_articles",
        level,
        "kendall_b",
        Rows(labels, scores, articles, systems),
        Resampling(DRAWS, 3),
    )
    degrees = len(np.unique(articles[kept])) - 1
    ratio = (values[0] - values[1]) / np.std(gap, ddof=1) * np.sqrt(degrees / (degrees + 1))
    assert found.p_values[0, 1] == pytest.approx(2 * stats.t.cdf(-abs(ratio), degrees), abs=1e-12)


def test_comparing_all_evaluators_equals_comparing_each_pair():
    labels, scores, *rest = random_case(2, articles=20, evaluators=3)
    scores[:, np.isnan(scores).any(axis=0)] = np.nan
    together = compare_pairs(
        "bootstrap_articles", "article", "pearson", Rows(labels, scores, *rest), Resampling(DRAWS)
    )
    apart = compare_pairs(
        "bootstrap_articles", "article", "pearson", Rows(labels, scores[:2], *rest), Resampling(DRAWS)
    )
    assert together.p_values[0, 1] == apart.p_values[0, 1]


def test_a_thousand_resamples_can_show_many_significant_differences():
    rng = np.random.default_rng(7)
    labels = rng.normal(size=400)
    scores = np.array([labels + noise * rng.normal(size=400) for noise in np.linspace(0.2, 6, 10)])
    articles = np.arange(400) // 4
    found = compare_pairs(
        "bootstrap_articles", "pooled", "pearson", Rows(labels, scores, articles, articles * 0)
    )
    adjusted = holm(found.p_values[np.triu_indices(10, 1)])
    assert found.p_values[0, 9] * 45 < 0.05
    assert (adjusted < 0.05).sum() > 20


def test_equal_scores_have_p_1_and_constant_differences_have_no_p_value():
    labels = np.tile([1.0, 2.0, 3.0], 10)
    scores = np.array([labels, labels, -labels])
    articles = np.arange(30) // 3
    found = compare_pairs(
        "bootstrap_articles", "article", "pearson", Rows(labels, scores, articles, articles * 0)
    )
    assert found.p_values[0, 1] == 1.0
    assert np.isnan(found.p_values[0, 2])
    assert found.reasons[0, 2] == "the same difference in every resample"


def test_a_perfect_evaluator_is_told_from_others_but_not_from_another_perfect_one():
    rng = np.random.default_rng(5)
    labels = rng.normal(size=60)
    scores = np.array([labels, 2 * labels, labels + rng.normal(size=60)])
    articles = np.arange(60) // 3
    for coefficient in ("pearson", "kendall_b"):
        found = compare_pairs(
            "bootstrap_articles", "pooled", coefficient, Rows(labels, scores, articles, articles * 0)
        ).p_values
        assert found[0, 1] == 1.0
        assert found[0, 2] == pytest.approx(found[1, 2])
        assert 0 < found[0, 2] < 1e-6


def test_a_difference_undefined_in_many_resamples_has_no_p_value():
    labels = np.r_[1.0, 1.0, np.zeros(18)]
    scores = np.random.default_rng(1).normal(size=(2, 20))
    articles = np.arange(20)
    found = compare_pairs(
        "bootstrap_articles",
        "pooled",
        "pearson",
        Rows(labels, scores, articles, articles * 0),
        Resampling(200),
    )
    assert np.isnan(found.p_values[0, 1])
    assert found.reasons[0, 1].startswith("undefined in ")


def test_one_resample_is_too_few():
    labels, scores, *rest = random_case(1, articles=20)
    found = compare_pairs(
        "bootstrap_articles", "pooled", "pearson", Rows(labels, scores, *rest), Resampling(1)
    )
    assert np.isnan(found.p_values[0, 1])
    assert found.reasons[0, 1] == "fewer than two resamples in which the difference is defined"


@pytest.mark.parametrize("test", ["bootstrap_articles", "perm_inputs_t"])
def test_nine_articles_are_too_few(test):
    labels, scores, articles, systems = random_case(1, articles=10)
    scores[np.isnan(scores)] = 0.0
    labels[np.isnan(labels)] = 1.0
    ten, nine = (
        compare_pairs(test, "pooled", "pearson", Rows(labels, scores, own, systems), Resampling(DRAWS))
        for own in (articles, np.minimum(articles, 8))
    )
    assert not np.isnan(ten.p_values[0, 1])
    assert np.isnan(nine.p_values[0, 1])
    assert nine.reasons[0, 1] == "fewer than 10 articles to draw from"


# The means of resamples of m numbers spread too little by sqrt((m - 1) / m), which shows where m is small.
def test_over_articles_it_is_the_paired_t_test_but_for_the_draws():
    labels, noise, other = np.random.default_rng(3).normal(size=(3, 60))
    systems, articles = np.divmod(np.arange(60), 10)
    rows = Rows(labels, [labels + noise, labels + 2 * other], articles, systems)
    given = ("article", "pearson", rows, Resampling(20_000))
    drawn, exact = (compare_pairs(test, *given) for test in ("bootstrap_articles", "paired_t"))
    assert drawn.p_values[0, 1] == pytest.approx(exact.p_values[0, 1], rel=0.05)


ASKED = Resampling(DRAWS, 3)


@pytest.mark.parametrize("unscored", [0, 1, 2])
@pytest.mark.parametrize("signs", [(1, 1, 1), (1, -1, 1)])
@pytest.mark.parametrize(("level", "coefficient"), [("pooled", "spearman"), ("article", "acc_eq")])
def test_reusing_the_intervals_resamples_does_not_change_the_result(level, coefficient, unscored, signs):
    labels, scores, *rest = random_case(4, articles=20, evaluators=3)
    scores[np.isnan(scores)] = 1.0
    for evaluator in range(unscored):
        scores[evaluator, np.flatnonzero(~np.isnan(labels))[evaluator]] = np.nan
    given = (level, coefficient, Rows(labels, scores, *rest), ASKED)
    apart = compare_pairs("bootstrap_articles", *given, orientation=signs)
    shared = Bootstrap("articles", *given)
    together = compare_pairs("bootstrap_articles", *given, orientation=signs, bootstrap=shared)
    np.testing.assert_array_equal(together.p_values, apart.p_values)


def test_reusing_resamples_does_not_change_the_result_for_tied_labels():
    _, scores, articles, systems = random_case(5, articles=20)
    scores[np.isnan(scores)] = 1.0
    labels = np.random.default_rng(5).integers(3, size=len(articles)) / 2
    given = ("pooled", "roc_auc", Rows(labels, scores, articles, systems, yes_no=True), ASKED)
    apart = compare_pairs("bootstrap_articles", *given)
    together = compare_pairs("bootstrap_articles", *given, bootstrap=Bootstrap("articles", *given))
    np.testing.assert_array_equal(together.p_values, apart.p_values)


def test_given_resamples_are_reused_when_every_summary_is_scored():
    labels, scores, *rest = random_case(4, articles=20)
    scores[np.isnan(scores)] = 1.0
    given = ("pooled", "pearson", Rows(labels, scores, *rest))
    other_draws = Bootstrap("articles", *given, Resampling(DRAWS, 4))
    apart = compare_pairs("bootstrap_articles", *given, ASKED)
    told = compare_pairs("bootstrap_articles", *given, ASKED, bootstrap=other_draws)
    assert told.p_values[0, 1] != apart.p_values[0, 1]
