"""The always-valid t-test of two evaluators."""

import numpy as np
import pytest

from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.rows import Rows
from metaeval.stats.significance.compare_pairs import compare_pairs
from metaeval.stats.uncertainty.always_valid import always_valid_p, degrees_at_every_look
from metaeval.stats.uncertainty.jackknife_interval import jackknife_spread
from tests.metaeval.stats.evaluator_cases import random_case


@pytest.mark.parametrize("level", ["pooled", "article", "within_system"])
def test_p_is_that_of_the_difference_over_its_jackknife_error_on_common_summaries(level):
    labels, scores, articles, systems = random_case(6, articles=40)
    kept = ~np.isnan(labels) & ~np.isnan(scores).any(axis=0)

    def difference(there):
        rows = Rows(labels[there], scores[:, there], articles[there], systems[there])
        one, other = (LEVELS[level].estimate(COEFFICIENTS["kendall_b"], each).value for each in rows.each)
        return float(np.arctanh(one) - np.arctanh(other)) if level == "pooled" else one - other

    without = np.array([difference(kept & (articles != each)) for each in np.unique(articles[kept])])
    spread = jackknife_spread(difference(kept), without, on_fishers_scale=False)
    expected = always_valid_p(spread.middle / spread.error, len(without), degrees_at_every_look(spread))
    found = compare_pairs("always_valid", level, "kendall_b", Rows(labels, scores, articles, systems))
    assert found.p_values[0, 1] == pytest.approx(expected, abs=1e-9)


def test_a_difference_that_few_articles_carry_is_not_tested():
    """Two evaluators that differ on the summaries of three of 30 articles."""
    labels, scores, articles, systems = random_case(6, articles=30)
    scores[1] = np.where(articles < 3, -scores[0], scores[0])
    found = compare_pairs("always_valid", "article", "kendall_b", Rows(labels, scores, articles, systems))
    assert np.isnan(found.p_values[0, 1])
    assert found.reasons[0, 1] == "too early: fewer than 10 articles carry the standard error"


def test_few_articles_are_not_tested():
    found = compare_pairs("always_valid", "pooled", "pearson", Rows(*random_case(6, articles=9)))
    assert found.reasons[0, 1] == "fewer than 10 articles to draw from"


def test_systems_means_are_not_tested():
    found = compare_pairs("always_valid", "system", "pearson", Rows(*random_case(6, articles=30)))
    assert found.reasons[0, 1].startswith("over systems' means nothing holds at every look")


def test_a_difference_that_is_the_same_without_any_article_is_not_tested():
    """One evaluator orders every article as people do, the other the other way round."""
    labels, _, articles, systems = random_case(6, articles=30)
    labels = np.arange(len(labels)) % 7.0
    rows = Rows(labels, np.array([labels, -labels]), articles, systems)
    found = compare_pairs("always_valid", "article", "kendall_b", rows)
    assert found.differences[0, 1] == 2
    assert found.reasons[0, 1] == "the value is the same without any article"
