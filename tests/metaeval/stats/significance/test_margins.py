"""The tests of whether evaluators are as good as others, within a margin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import stdtr
from scipy.stats import ttest_1samp

from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.rows import Resampling, Rows
from metaeval.stats.significance.compare_pairs import compare_pairs
from metaeval.stats.uncertainty.always_valid import always_valid_p, degrees_at_every_look
from metaeval.stats.uncertainty.bootstrap import Bootstrap
from metaeval.stats.uncertainty.jackknife_interval import jackknife_spread
from tests.metaeval.stats.evaluator_cases import random_case

ARTICLES, SYSTEMS = np.indices((60, 5)).reshape(2, -1)


def similar_evaluators(seed):
    """Labels, and two evaluators of which the second is a little better."""
    rng = np.random.default_rng(seed)
    labels = rng.normal(size=len(ARTICLES))
    scores = np.array([0.9, 1.0])[:, None] * labels + 0.5 * rng.normal(size=(2, len(ARTICLES)))
    return Rows(labels, scores, ARTICLES, SYSTEMS)


def within(rows, margin, *, test="bootstrap_articles", level="article", coefficient="pearson", draws=400):
    return compare_pairs(test, level, coefficient, rows, Resampling(draws), margin=margin).within_margin


def test_of_a_mean_over_articles_p_is_close_to_that_of_the_one_sided_t_test():
    rows = similar_evaluators(1)
    found = within(rows, 0.05, draws=20_000)
    each = [
        [np.corrcoef(rows.labels[article], scores[article])[0, 1] for scores in rows.scores]
        for article in (number == ARTICLES for number in range(60))
    ]
    d = np.diff(each)[:, 0]
    expected = [ttest_1samp(-d, -0.05, alternative="greater"), ttest_1samp(d, -0.05, alternative="greater")]
    p_values = [found.not_worse[0, 1], found.not_worse[1, 0]]
    assert p_values == pytest.approx([each.pvalue for each in expected], rel=0.1)
    assert 0.001 < max(p_values) < 0.999


def test_pooled_correlations_are_compared_on_fishers_scale():
    rows = similar_evaluators(2)
    found = within(rows, 0.05, level="pooled")
    one, other = (LEVELS["pooled"].estimate(COEFFICIENTS["pearson"], own).value for own in rows.each)
    drawn = np.arctanh(Bootstrap("articles", "pooled", "pearson", rows, Resampling(400)).replicates)
    error = (drawn[0] - drawn[1]).std(ddof=1) * np.sqrt(60 / 59)
    expected = stdtr(59, -(np.arctanh(one) - np.arctanh(other - 0.05)) / error)
    assert found.not_worse[0, 1] == pytest.approx(expected, rel=1e-6)


def test_what_holds_at_every_look_is_the_always_valid_p_of_the_difference_and_the_margin():
    rows = similar_evaluators(3)
    found = within(rows, 0.2, test="always_valid", coefficient="kendall_b")

    def difference(there):
        one, other = LEVELS["article"].estimates(COEFFICIENTS["kendall_b"], rows.at(there))
        return one.value - other.value

    everything = np.ones(len(ARTICLES), dtype=bool)
    without = np.array([difference(article != ARTICLES) for article in range(60)])
    spread = jackknife_spread(difference(everything), without, on_fishers_scale=False)
    t = (spread.middle + 0.2) / spread.error
    expected = always_valid_p(t, 60, degrees_at_every_look(spread), one_sided=True)
    assert found.not_worse[0, 1] == pytest.approx(expected, rel=1e-6)
    assert 0.0001 < expected < 0.05


@given(
    seed=st.integers(0, 1000),
    margins=st.tuples(st.floats(0.001, 0.99), st.floats(0.001, 0.99)).map(sorted),
    level=st.sampled_from(["pooled", "article", "within_system"]),
    test=st.sampled_from(["bootstrap_articles", "always_valid"]),
)
@settings(max_examples=25, deadline=None)
def test_a_larger_margin_is_never_harder_to_keep_to(seed, margins, level, test):
    rows = Rows(*random_case(seed, articles=15, evaluators=3))
    narrow, wide = (within(rows, each, level=level, test=test, draws=50) for each in margins)
    there = ~np.isnan(narrow.not_worse)
    assert (there == ~np.isnan(wide.not_worse)).all()
    assert (wide.not_worse[there] <= narrow.not_worse[there] + 1e-12).all()
    assert (narrow.equivalent[there] >= narrow.not_worse[there]).all()
    np.testing.assert_array_equal(narrow.equivalent, narrow.equivalent.T)
    untested = {(row, at) for row, at in np.argwhere(~there).tolist() if row != at}
    assert untested == set(narrow.reasons)


def test_half_of_the_two_sided_p_is_left_as_the_margin_shrinks():
    rows = similar_evaluators(4)
    tests = compare_pairs("bootstrap_articles", "pooled", "spearman", rows, margin=1e-9)
    better = int(tests.differences[1, 0] > 0)
    expected = tests.p_values[0, 1] / 2
    assert tests.within_margin.not_worse[better, 1 - better] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("test", ["perm_both", "perm_inputs_t", "williams"])
def test_other_tests_leave_the_margin_to_the_bootstrap(test):
    rows = similar_evaluators(5)
    found = within(rows, 0.05, test=test, level="pooled", draws=50)
    alone = within(rows, 0.05, level="pooled", draws=50)
    np.testing.assert_array_equal(found.not_worse, alone.not_worse)


def test_alike_evaluators_are_not_called_equivalent_without_a_standard_error():
    labels, scores, articles, systems = random_case(7, articles=30)
    found = within(Rows(labels, np.array([scores[0], 2 * scores[0]]), articles, systems), 0.05)
    assert np.isnan(found.not_worse).all()
    assert found.reasons[1, 0] == "the difference has no standard error: it is the same without any article"


def test_the_reason_is_that_of_the_test():
    rows = Rows(*random_case(6, articles=30))
    found = within(rows, 0.05, test="always_valid", level="system")
    assert "nothing holds at every look" in found.reasons[0, 1]


def test_lower_scores_that_are_better_are_turned_first():
    rows = similar_evaluators(8)
    turned = rows.with_scores(rows.scores * [[1], [-1]])
    given_ = ("bootstrap_articles", "pooled", "spearman")
    found = compare_pairs(*given_, turned, Resampling(50), orientation=[1, -1], margin=0.05).within_margin
    expected = compare_pairs(*given_, rows, Resampling(50), margin=0.05).within_margin
    np.testing.assert_allclose(found.not_worse, expected.not_worse)


@pytest.mark.parametrize("margin", [-0.1, 1.0, np.nan, np.inf])
def test_a_margin_out_of_range_is_refused(margin):
    with pytest.raises(ValueError, match="a margin lies above 0 and below 1"):
        within(similar_evaluators(9), margin)
