"""How many more articles: predictions, held to what larger samples then show."""

import numpy as np
import pytest

from metaeval.stats.labels.planning import plan_difference, plan_width
from metaeval.stats.uncertainty.article_draws import TOO_FEW_ARTICLES
from metaeval.stats.uncertainty.bootstrap import bootstrap_replicates
from metaeval.stats.uncertainty.percentile_interval import NO_SPREAD

POOLED = ("pooled", "pearson")


def sample(seed, articles=40, noise=(0.5, 1.0), systems=4):
    """Labels, scores of evaluators with so much noise, articles, systems."""
    rng = np.random.default_rng(seed)
    of_article = np.repeat(np.arange(articles), systems)
    labels = rng.normal(size=articles * systems) + 0.3 * rng.normal(size=articles)[of_article]
    scores = [labels + amount * rng.normal(size=len(labels)) for amount in noise]
    return labels, scores, of_article, np.tile(np.arange(systems), articles)


def half_width(data, row=0):
    labels, scores, articles, systems = data
    drawn = bootstrap_replicates("articles", *POOLED, labels, scores, articles, systems, resamples=300)
    return float(np.ptp(np.quantile(drawn[row], [0.025, 0.975])) / 2)


def width(data, wished, **options):
    labels, scores, articles, systems = data
    return plan_width(*POOLED, labels, scores[0], articles, systems, wished=wished, resamples=200, **options)


def difference(data):
    labels, scores, articles, systems = data
    return plan_difference(*POOLED, labels, *scores, articles, systems, resamples=200)


def test_as_many_articles_as_planned_give_the_width_that_was_wished():
    now = sample(1)
    wished = half_width(now) / 2
    plan = width(now, wished)
    assert not plan.is_reached
    assert plan.wanted_low < plan.wanted < plan.wanted_high
    assert 2 * plan.articles < plan.wanted < 8 * plan.articles
    then = [half_width(sample(seed, articles=int(plan.wanted))) for seed in range(2, 5)]
    assert np.mean(then) == pytest.approx(wished, rel=0.35)
    few = half_width(sample(9, articles=int(plan.wanted_low) // 2))
    many = half_width(sample(9, articles=int(plan.wanted_high) * 2))
    assert many < wished < few


def test_half_the_width_takes_four_times_the_articles():
    data = sample(3)
    once, half = (width(data, wished).wanted for wished in (0.01, 0.005))
    assert half == pytest.approx(4 * once, abs=4)


def test_what_is_narrow_enough_is_reached_already():
    plan = width(sample(4), 0.5)
    assert plan.is_reached
    assert plan.wanted <= plan.articles == 40
    assert plan.summaries == 160


def test_a_hundred_times_as_many_is_beyond_reach():
    plan = width(sample(5), 0.0005)
    assert plan.wanted == np.inf
    assert not plan.is_reached


def test_a_clear_difference_is_resolved_already():
    plan = difference(sample(6, noise=(0.2, 2.0)))
    assert plan.value > 0.3
    assert plan.is_reached


def test_a_small_difference_takes_more_and_may_be_none():
    plan = difference(sample(7, noise=(0.98, 1.0)))
    assert not plan.is_reached
    assert plan.articles < plan.wanted_low <= plan.wanted
    assert plan.wanted_high == np.inf


def test_the_same_scores_never_differ():
    labels, scores, articles, systems = sample(8)
    plan = plan_difference(*POOLED, labels, scores[0], scores[0], articles, systems, resamples=50)
    assert np.isnan(plan.wanted)
    assert plan.reason == NO_SPREAD


def test_the_same_seed_plans_the_same():
    assert width(sample(1), 0.02) == width(sample(1), 0.02)
    assert width(sample(1), 0.02) != width(sample(1), 0.02, seed=1)


def test_summaries_that_lack_a_number_or_an_article_do_not_count():
    labels, scores, articles, systems = sample(1)
    labels[0], scores[0][1], articles[2] = np.nan, np.nan, -1
    assert width((labels, scores, articles, systems), 0.02).summaries == 157


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (sample(1, articles=9), TOO_FEW_ARTICLES),
        ((np.ones(160), *sample(1)[1:]), "all labels equal"),
        (([], [[]], [], []), TOO_FEW_ARTICLES),
    ],
)
def test_where_nothing_can_be_said_it_says_why(data, reason):
    plan = width(data, 0.02)
    assert np.isnan([plan.wanted, plan.wanted_low, plan.wanted_high]).all()
    assert plan.reason == reason
    assert not plan.is_reached


@pytest.mark.parametrize("wished", [0, -1, float("nan")])
def test_a_width_must_be_above_0(wished):
    with pytest.raises(ValueError, match="wished must be above 0"):
        width(sample(1), wished)


def test_unequal_lengths_are_refused():
    with pytest.raises(ValueError, match="lengths differ"):
        plan_width(*POOLED, [1.0], [1.0, 2.0], [0], [0], wished=0.1)


@pytest.mark.parametrize("articles", [600, 20_500])
def test_with_one_summary_of_each_article_it_is_the_formula_of_the_normal_distribution(articles):
    data = sample(2, articles=articles, systems=1)
    plan = width(data, 0.001)
    one = 1.959964 * (1 - plan.value**2)  # half the width at one summary
    assert plan.half_width == pytest.approx(one / np.sqrt(articles), rel=0.2)
    wished = one / np.sqrt(4 * articles)
    assert width(data, wished).wanted == pytest.approx(4 * articles, rel=0.35)
