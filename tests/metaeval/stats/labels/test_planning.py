"""Plans of how many articles are needed, compared with larger samples."""

import numpy as np
import pytest

from metaeval.stats.labels.planning import plan_difference, plan_width
from metaeval.stats.rows import Resampling, Rows
from metaeval.stats.significance.compare_pairs import ALWAYS_VALID_TEST, compare_pairs
from metaeval.stats.uncertainty.article_draws import TOO_FEW_ARTICLES
from metaeval.stats.uncertainty.bootstrap import Bootstrap
from metaeval.stats.uncertainty.intervals import ALWAYS_VALID, intervals
from metaeval.stats.uncertainty.percentile_interval import NO_SPREAD

POOLED = ("pooled", "pearson")


def make_sample(seed, articles=40, noise=(0.5, 1.0), systems=4):
    """Return labels, noisy scores of evaluators, articles and systems."""
    rng = np.random.default_rng(seed)
    of_article = np.repeat(np.arange(articles), systems)
    labels = rng.normal(size=articles * systems) + 0.3 * rng.normal(size=articles)[of_article]
    scores = [labels + amount * rng.normal(size=len(labels)) for amount in noise]
    return labels, scores, of_article, np.tile(np.arange(systems), articles)


def half_width(data, row=0):
    drawn = Bootstrap("articles", *POOLED, Rows(*data), Resampling(300)).replicates
    return float(np.ptp(np.quantile(drawn[row], [0.025, 0.975])) / 2)


def plan_for_width(data, target, seed=0, **more):
    return plan_width(*POOLED, Rows(*data).each[0], target=target, resampling=Resampling(200, seed), **more)


def plan_for_difference(data, **more):
    return plan_difference(*POOLED, Rows(*data), resampling=Resampling(200), **more)


def test_the_planned_number_of_articles_gives_the_target_width():
    now = make_sample(1)
    target = half_width(now) / 2
    plan = plan_for_width(now, target)
    assert not plan.is_reached
    assert plan.wanted_low < plan.wanted < plan.wanted_high
    assert 2 * plan.articles < plan.wanted < 8 * plan.articles
    then = [half_width(make_sample(seed, articles=int(plan.wanted))) for seed in range(2, 5)]
    assert np.mean(then) == pytest.approx(target, rel=0.35)
    few = half_width(make_sample(9, articles=int(plan.wanted_low) // 2))
    many = half_width(make_sample(9, articles=int(plan.wanted_high) * 2))
    assert many < target < few


def test_half_the_width_needs_four_times_the_articles():
    data = make_sample(3)
    once, half = (plan_for_width(data, target).wanted for target in (0.01, 0.005))
    assert half == pytest.approx(4 * once, abs=4)


def test_a_target_that_is_met_already_is_reached():
    plan = plan_for_width(make_sample(4), 0.5)
    assert plan.is_reached
    assert plan.wanted <= plan.articles == 40
    assert plan.summaries == 160


def test_a_target_that_needs_too_many_articles_is_infinite():
    plan = plan_for_width(make_sample(5), 0.0005)
    assert plan.wanted == np.inf
    assert not plan.is_reached


def test_a_clear_difference_is_reached_already():
    plan = plan_for_difference(make_sample(6, noise=(0.2, 2.0)))
    assert plan.value > 0.3
    assert plan.is_reached


def test_a_small_difference_needs_more_articles_without_upper_bound():
    plan = plan_for_difference(make_sample(7, noise=(0.98, 1.0)))
    assert not plan.is_reached
    assert plan.articles < plan.wanted_low <= plan.wanted
    assert plan.wanted_high == np.inf


def test_the_planned_articles_give_the_target_width_at_every_look():
    plan = plan_for_width(make_sample(1), 0.02, at_every_look=True)
    assert plan.wanted_low < plan.wanted < plan.wanted_high
    assert 2 < plan.wanted / plan_for_width(make_sample(1), 0.02).wanted < 4
    then = []
    for seed in range(2, 5):
        of_size = make_sample(seed, articles=int(plan.wanted), noise=(0.5,))
        (interval,) = intervals(ALWAYS_VALID, *POOLED, Rows(*of_size))
        then.append((interval.high - interval.low) / 2)
    assert np.mean(then) == pytest.approx(0.02, rel=0.35)


def test_most_campaigns_of_the_planned_size_settle_a_difference_at_every_look():
    plan = plan_for_difference(make_sample(7, noise=(0.9, 1.0)), at_every_look=True)
    assert plan.articles < plan.wanted < np.inf
    noise = (0.9, 1.0)
    truth = make_sample(0, articles=20_000, noise=noise)
    true = np.subtract(*(np.corrcoef(truth[0], scores)[0, 1] for scores in truth[1]))
    wanted = int(plan.wanted * (plan.value / true) ** 2)  # as if the present difference were the true one
    p_values = [
        compare_pairs(
            ALWAYS_VALID_TEST, *POOLED, Rows(*make_sample(seed, articles=wanted, noise=noise))
        ).p_values[0, 1]
        for seed in range(20)
    ]
    assert 11 <= sum(p <= 0.05 for p in p_values) <= 19


def test_a_difference_that_is_clear_at_one_look_may_not_be_settled_at_every_look():
    sample = make_sample(6, noise=(0.8, 1.0))
    assert plan_for_difference(sample).is_reached
    assert not plan_for_difference(sample, at_every_look=True).is_reached


def test_nothing_is_settled_at_every_look_while_few_articles_tell():
    labels, scores, articles, systems = make_sample(1)
    tells = articles < 8
    rare = (np.where(tells, labels, 0.0), np.where(tells, scores, 0.0), articles, systems)
    assert plan_for_width(rare, 0.9).is_reached
    plan = plan_for_width(rare, 0.9, at_every_look=True)
    assert (plan.is_reached, plan.reason) == (
        False,
        "too early: fewer than 10 articles carry the standard error",
    )


def test_equal_scores_give_no_plan():
    labels, scores, articles, systems = make_sample(8)
    plan = plan_for_difference((labels, [scores[0], scores[0]], articles, systems))
    assert np.isnan(plan.wanted)
    assert plan.reason == NO_SPREAD


def test_plans_depend_on_the_seed():
    assert plan_for_width(make_sample(1), 0.02) == plan_for_width(make_sample(1), 0.02)
    assert plan_for_width(make_sample(1), 0.02) != plan_for_width(make_sample(1), 0.02, seed=1)


def test_summaries_without_label_score_or_article_do_not_count():
    labels, scores, articles, systems = make_sample(1)
    labels[0], scores[0][1], articles[2] = np.nan, np.nan, -1
    assert plan_for_width((labels, scores, articles, systems), 0.02).summaries == 157


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (make_sample(1, articles=9), TOO_FEW_ARTICLES),
        ((np.ones(160), *make_sample(1)[1:]), "all labels equal"),
        (([], [[]], [], []), TOO_FEW_ARTICLES),
    ],
)
def test_an_impossible_plan_has_a_reason(data, reason):
    plan = plan_for_width(data, 0.02)
    assert np.isnan([plan.wanted, plan.wanted_low, plan.wanted_high]).all()
    assert plan.reason == reason
    assert not plan.is_reached


@pytest.mark.parametrize("target", [0, -1, float("nan")])
def test_a_target_width_must_be_above_0(target):
    with pytest.raises(ValueError, match="target must be above 0"):
        plan_for_width(make_sample(1), target)


@pytest.mark.parametrize("articles", [600, 20_500])
def test_one_summary_per_article_follows_the_normal_approximation(articles):
    data = make_sample(2, articles=articles, systems=1)
    plan = plan_for_width(data, 0.001)
    one = 1.959964 * (1 - plan.value**2)  # half width at one summary
    assert plan.half_width == pytest.approx(one / np.sqrt(articles), rel=0.2)
    target = one / np.sqrt(4 * articles)
    assert plan_for_width(data, target).wanted == pytest.approx(4 * articles, rel=0.35)
