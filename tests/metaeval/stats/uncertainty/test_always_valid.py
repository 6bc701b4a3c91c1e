"""Intervals and p-values that hold at every look."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import nct, norm, t

from metaeval.stats.result import NoIntervalError
from metaeval.stats.rows import Rows
from metaeval.stats.uncertainty.always_valid import (
    PRIOR_ARTICLES,
    always_valid_interval,
    always_valid_p,
    always_valid_quantile,
)
from metaeval.stats.uncertainty.intervals import ALWAYS_VALID, intervals
from metaeval.stats.uncertainty.jackknife_interval import jackknife_interval

SIZES = st.integers(20, 5000)


@pytest.mark.parametrize("n", [5, 12, 50])
@pytest.mark.parametrize("statistic", [0.0, 1.5, 3.0, -4.0])
def test_the_p_value_is_one_over_the_mixture_of_likelihoods(n, statistic):
    """The density of t is noncentral t with the effect size times √n, over a normal effect size."""
    mixed, _ = quad(
        lambda effect: (
            nct.pdf(statistic, n - 1, effect * math.sqrt(n)) * norm.pdf(effect, scale=PRIOR_ARTICLES**-0.5)
        ),
        -4,
        4,
        limit=200,
    )
    expected = min(1.0, float(t.pdf(statistic, n - 1)) / mixed)
    assert always_valid_p(statistic, n, n - 1) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("n", [10, 20, 50])
@pytest.mark.parametrize("statistic", [-1.0, 0.5, 2.5, 4.0])
def test_the_one_sided_p_value_draws_positive_effects_only(n, statistic):
    mixed, _ = quad(
        lambda effect: (
            nct.pdf(statistic, n - 1, effect * math.sqrt(n))
            * 2
            * norm.pdf(effect, scale=PRIOR_ARTICLES**-0.5)
        ),
        0,
        4,
        limit=200,
    )
    expected = min(1.0, float(t.pdf(statistic, n - 1)) / mixed)
    assert always_valid_p(statistic, n, n - 1, one_sided=True) == pytest.approx(expected, rel=1e-4)


@given(SIZES, st.floats(-20, 20))
def test_the_one_sided_p_value_is_at_best_half_of_the_other(n, statistic):
    both, above = (always_valid_p(statistic, n, n - 1, one_sided=each) for each in (False, True))
    assert above >= both / 2 * (1 - 1e-9)
    assert statistic > 0 or above == 1


@given(SIZES, st.floats(0.001, 0.2))
def test_the_quantile_is_where_the_p_value_reaches_alpha(n, alpha):
    quantile = always_valid_quantile(alpha, n, n - 1)
    if math.isinf(quantile):
        assert always_valid_p(1e6, n, n - 1) > alpha
    else:
        assert always_valid_p(quantile, n, n - 1) == pytest.approx(alpha)
        assert always_valid_p(quantile * 1.01, n, n - 1) < alpha


@given(SIZES, st.floats(-0.99, 0.99), st.floats(0.001, 0.1), st.sampled_from([-1.0, 0.0]))
def test_an_interval_is_wider_than_for_one_look_and_within_the_limits(n, value, spread, least):
    value = (value + 1) / 2 if least == 0 else value
    without = np.clip(value + spread * np.linspace(-1, 1, n) / n, least + 1e-9, 1 - 1e-9)
    low, high = always_valid_interval(value, without, n, least=least)
    assert least <= low < value < high <= 1
    if least == -1:
        once = jackknife_interval(value, without, is_correlation=True)
        assert low < once[0] < once[1] < high


def test_the_interval_of_a_share_is_that_of_its_log_odds():
    without = 0.8 + np.linspace(-0.01, 0.01, 30)
    low, high = always_valid_interval(0.8, without, 30, least=0.0)
    odds = np.log(without / (1 - without))
    half = always_valid_quantile(0.05, 30, 29) * math.sqrt(29 * odds.var())
    middle = math.log(0.8 / 0.2)
    ends = [1 / (1 + math.exp(-(middle + sign * half))) for sign in (-1, 1)]
    assert (low, high) == pytest.approx(ends)


def test_a_difference_has_no_limits():
    low, high = always_valid_interval(0.9, 0.9 + np.linspace(-0.1, 0.1, 20), 20, least=None)
    assert high > 1
    assert low + high == pytest.approx(1.8)


def test_few_articles_or_a_value_at_a_limit_have_no_interval():
    with pytest.raises(NoIntervalError, match="too early: fewer than 10 articles carry the standard error"):
        always_valid_interval(0.2, np.repeat([0.1, 0.2], [4, 46]), 50)
    assert always_valid_interval(0.2, np.repeat([0.1, 0.2], [15, 35]), 50)
    with pytest.raises(NoIntervalError, match="around 0 or 1"):
        always_valid_interval(1.0, np.ones(20), 20, least=0.0)


@given(
    st.lists(st.tuples(st.floats(-0.5, 0.5), st.integers(1, 30)), min_size=2, max_size=12),
    st.booleans(),
)
def test_a_value_that_counts_several_times_equals_its_repetition(values, has_limits):
    without, times = (np.array(each, dtype=np.float64) for each in zip(*values, strict=True))
    repeated = np.repeat(without, times.astype(int))
    articles = len(repeated)

    def ends(of, **weights):
        try:
            return always_valid_interval(0.2, of, articles, least=-1.0 if has_limits else None, **weights)
        except NoIntervalError as why_not:
            return str(why_not)

    weighted, expected = ends(without, times=times), ends(repeated)
    assert weighted == (expected if isinstance(expected, str) else pytest.approx(expected, abs=1e-9))


def test_undefined_values_count_for_nothing():
    without, times = np.array([0.1, np.nan, 0.3, 0.2]), np.array([40.0, 500, 60, 50])
    ends = always_valid_interval(0.2, without, 150, least=None, times=times)
    there = ~np.isnan(without)
    assert ends == always_valid_interval(0.2, without[there], 150, least=None, times=times[there])


def test_values_equal_up_to_rounding_have_no_interval():
    without = np.array([0.1 + 0.2, 0.3])
    with pytest.raises(NoIntervalError, match="the same without any article"):
        always_valid_interval(0.3, without, 20, least=None, times=np.array([7.0, 13.0]))


def looks(rng, n_articles):
    """Yield both intervals of pooled tau-b after 10 articles, 12, 14 and so on, of unrelated scores."""
    label, score = rng.normal(size=(2, n_articles, 2)) + rng.normal(size=(2, n_articles, 1))
    article, system = np.indices(label.shape).reshape(2, -1)
    seen = 10.0
    while seen <= n_articles:
        here = article < int(seen)
        rows = Rows(label.ravel()[here], score.reshape(1, -1)[:, here], article[here], system[here])
        yield [
            intervals(name, "pooled", "kendall_b", rows)[0] for name in (ALWAYS_VALID, "jackknife_articles")
        ]
        seen *= 1.2


def test_looking_again_and_again_rarely_meets_a_wrong_interval():
    """Of 40 campaigns, two at most meet a wrong one; with intervals for one look, eight or more."""
    rng = np.random.default_rng(11)
    wrong = np.zeros(2, dtype=int)
    for _ in range(40):
        found = np.array([[each.low > 0 or each.high < 0 for each in look] for look in looks(rng, 120)])
        wrong += found.any(axis=0)
    always, once = wrong
    assert always <= 2
    assert once >= 8
