"""Articles drawn with replacement."""

import math

import numpy as np
import pytest

from metaeval.stats.rows import Resampling
from metaeval.stats.uncertainty.article_draws import (
    TOO_FEW_ARTICLES,
    article_draws,
    interval_over_articles,
)

ARTICLES = np.array([7, 7, 2, 5, 5, 5])


def test_each_draw_has_the_same_number_of_articles_with_all_summaries():
    for times in article_draws(ARTICLES, Resampling(50, 1)):
        seven, two, five = times[0], times[2], times[3]
        assert times.tolist() == [seven, seven, two, five, five, five]
        assert seven + two + five == 3


def test_draws_depend_on_the_seed():
    first, again, other = (
        np.array(list(article_draws(ARTICLES, Resampling(20, seed)))) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_the_interval_of_a_mean_is_close_to_the_normal_interval():
    rng = np.random.default_rng(0)
    articles = np.arange(400)
    values = rng.normal(size=400)
    replicates = np.array(
        [times @ values / times.sum() for times in article_draws(articles, Resampling(2000, 3))]
    )
    interval = interval_over_articles(replicates, articles, Resampling(2000, 3))
    reach = 1.96 * values.std() / 20
    assert interval.low == pytest.approx(values.mean() - reach, abs=0.015)
    assert interval.high == pytest.approx(values.mean() + reach, abs=0.015)
    assert "2,000 resamples, seed 3" in interval.definition


def test_few_articles_or_undefined_resamples_give_no_interval():
    few = interval_over_articles(np.arange(100.0), np.arange(9), Resampling(100))
    assert (few.reason, math.isnan(few.low)) == (TOO_FEW_ARTICLES, True)
    replicates = np.where(np.arange(100) < 6, np.nan, np.arange(100) % 2)
    assert interval_over_articles(replicates, np.arange(10), Resampling(100)).reason == (
        "undefined in 6 of 100 resamples"
    )
    enough = interval_over_articles(replicates[2:], np.arange(10), Resampling(98), "Ranked anew.")
    assert (enough.low, enough.high) == (0, 1)
    assert enough.definition.endswith(
        "Ranked anew. In 4 of 98 resamples it is undefined; these are left out."
    )
