"""The estimates of a learning curve against the library's own, and against direct computation."""

import numpy as np
import pytest
from scipy import stats

from metaeval.learning_curves.statistics import CurveRows, curve_statistics
from metaeval.stats.method import Method
from metaeval.stats.rows import Rows
from metaeval.stats.uncertainty.article_draws import TOO_FEW_ARTICLES
from metaeval.stats.uncertainty.intervals import intervals

PEARSON = Method(coefficient="pearson", items="common", resamples=200)


def curve_rows(n_articles: int = 30, shares=((0, 1), (2, 3)), *, seed: int = 0) -> CurveRows:
    """Return two weak and two good models, a comparator, and three raters of all summaries but some."""
    rng = np.random.default_rng(seed)
    articles = np.repeat(np.arange(n_articles), 4)
    quality = rng.normal(size=len(articles))
    raters = np.array([quality + rng.normal(size=len(quality)) for _ in range(3)])
    noise = np.array([6.0, 6.0, 0.3, 0.3, 2.0])[:, None] * rng.normal(size=(5, len(quality)))
    scores, systems = quality + noise, np.tile(np.arange(4), n_articles)
    rated = articles % 3 > 0  # twice or more
    turns = [
        Rows(
            np.delete(raters, turn, axis=0).mean(axis=0)[rated],
            np.vstack([raters[turn], scores])[:, rated],
            articles[rated],
            systems[rated],
        )
        for turn in range(3)
    ]
    rows = Rows(raters.mean(axis=0), scores, articles, systems)
    return CurveRows(rows, [np.array(each) for each in shares], [4], turns)


def test_values_are_means_over_the_models_of_a_share():
    data = curve_rows()
    found = curve_statistics(data, PEARSON)
    each = [stats.pearsonr(own, data.rows.labels).statistic for own in data.rows.scores]
    assert [share.value for share in found.shares] == pytest.approx([np.mean(each[:2]), np.mean(each[2:4])])
    assert found.others[0].value == pytest.approx(each[4])
    assert found.over_others[0][1].value == pytest.approx(np.mean(each[2:4]) - each[4])


def test_models_and_one_rater_are_compared_on_the_same_labels():
    data = curve_rows()
    found = curve_statistics(data, PEARSON)
    gaps = [
        np.mean([stats.pearsonr(turn.scores[1 + place], turn.labels).statistic for place in (2, 3)])
        - stats.pearsonr(turn.scores[0], turn.labels).statistic
        for turn in data.turns
    ]
    assert found.over_rater[1].value == pytest.approx(np.mean(gaps))
    held_out = [stats.pearsonr(turn.scores[0], turn.labels).statistic for turn in data.turns]
    assert found.rater.value == pytest.approx(np.mean(held_out))


@pytest.mark.parametrize("level", ["pooled", "article", "system"])
def test_with_a_single_model_the_interval_is_that_over_articles(level):
    data = curve_rows(shares=((2,), (3,)))
    method = Method(level=level, coefficient="pearson", items="common", resamples=100)
    found = curve_statistics(data, method)
    expected = intervals("bootstrap_articles", level, "pearson", data.rows, method.resampling)
    for estimate, place in zip((*found.shares, *found.others), (2, 3, 4), strict=True):
        assert (estimate.interval.low, estimate.interval.high) == (
            expected[place].low,
            expected[place].high,
        )


def test_seeds_that_differ_widen_the_interval():
    together = curve_statistics(curve_rows(shares=((0, 2),)), PEARSON).shares[0]
    alone = [curve_statistics(curve_rows(shares=((place,),)), PEARSON).shares[0] for place in (0, 2)]
    assert together.interval.low < alone[0].value + 0.05
    assert together.interval.high > alone[1].value - 0.05


def test_a_model_as_good_as_the_comparator_is_not_better():
    data = curve_rows(shares=((2,),))
    scores = data.rows.scores.copy()
    scores[4] = scores[2]
    same = CurveRows(data.rows.with_scores(scores), data.shares, data.others, ())
    difference = curve_statistics(same, PEARSON).over_others[0][0]
    assert difference.value == 0
    assert difference.interval.reason == "every resample gives the same value"


def test_without_two_ratings_there_is_no_rater_and_the_rest_stands():
    data = curve_rows()
    found = curve_statistics(CurveRows(data.rows, data.shares, data.others, ()), PEARSON)
    assert (
        found.rater.reason == found.over_rater[0].reason == "no summary has two ratings or more with a number"
    )
    assert found.shares[1].interval.low > 0.5


def test_few_articles_give_values_without_intervals():
    found = curve_statistics(curve_rows(n_articles=9), PEARSON)
    assert found.shares[0].interval.reason == TOO_FEW_ARTICLES
    assert found.over_others[0][0].interval.reason == TOO_FEW_ARTICLES
    of_rater = curve_statistics(curve_rows(n_articles=12), PEARSON)  # eight of them are rated twice
    assert of_rater.shares[0].interval.reason == ""
    assert of_rater.rater.interval.reason == TOO_FEW_ARTICLES


def test_a_constant_model_leaves_its_share_undefined_with_the_reason():
    data = curve_rows()
    scores = data.rows.scores.copy()
    scores[0] = 1.0
    found = curve_statistics(CurveRows(data.rows.with_scores(scores), data.shares, data.others, ()), PEARSON)
    assert np.isnan(found.shares[0].value)
    assert found.shares[0].reason == found.over_others[0][0].reason != ""
    assert found.shares[1].reason == ""
