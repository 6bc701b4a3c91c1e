"""The summaries that a narrower interval of agreement takes."""

import math

import numpy as np
import pytest

from annotation import protocol
from metaeval.agreement.method import AgreementMethod
from metaeval.agreement.report import agreement_report
from metaeval.snapshot.arrays import ALL, HumanRatings, QuestionRatings, Summaries
from metaeval.stats.agreement.planned_units import planned_always_valid, planned_units
from metaeval.stats.result import Interval
from metaeval.stats.uncertainty.always_valid import always_valid_quantile

GRAMMAR = protocol.SEAHORSE.question("grammar")


def interval(low, high):
    return Interval(low, high, "Interval: 95%.")


def alpha_of(n_units, seed):
    """Return alpha of three raters who see the truth in 5 of 6 cases, with its interval."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n_units)
    answers = np.where(rng.random((n_units, 3)) < 5 / 6, truth[:, None], 1 - truth[:, None])
    units = np.repeat(np.arange(n_units), 3)
    nothing = np.zeros(n_units, dtype=np.int64)
    ratings = QuestionRatings(
        GRAMMAR, GRAMMAR.scale.choices, units, np.tile(np.arange(3), n_units), answers.ravel()
    )
    summaries = Summaries(np.arange(n_units), nothing, nothing, nothing - 1, ("s",), ("en",), ())
    rows = agreement_report(
        summaries, HumanRatings((ratings,), ("",) * 3, "", ""), language=ALL, method=AgreementMethod()
    )
    return next(row.agreement for row in rows if row.statistic == "krippendorff_alpha")


def test_half_the_width_takes_about_four_times_the_units():
    assert planned_units(interval(0.4, 0.8), 50, 0.1) == 204
    assert planned_units(interval(0.4, 0.8), 50, 0.2) == 50
    assert planned_units(interval(0.4, 0.8), 50, 0.5) == 7  # reached with fewer
    assert planned_units(interval(0.4, 0.8), 50, 3) == 2
    assert planned_units(interval(0.4, 0.8), 50, 0.01) == math.inf


def test_a_plan_for_every_look_reaches_the_target():
    half, articles = 0.2, 50
    spread = half * math.sqrt(articles) / always_valid_quantile(0.05, articles, articles - 1)

    def half_at(n):
        return spread * always_valid_quantile(0.05, n, n - 1) / math.sqrt(n)

    for target in (0.1, 0.15, 0.3, 0.5):
        planned = int(planned_always_valid(interval(-half, half), articles, target))
        assert half_at(planned) <= target < half_at(planned - 1)
    assert planned_always_valid(interval(-half, half), articles, half) == articles
    assert planned_always_valid(interval(-half, half), articles, 0.01) == math.inf


def test_an_always_valid_interval_without_width_plans_nothing():
    assert math.isnan(planned_always_valid(interval(1.0, 1.0), 50, 0.1))
    assert math.isnan(planned_always_valid(Interval(math.nan, math.nan, "", "one summary"), 50, 0.1))
    with pytest.raises(ValueError, match="above 0"):
        planned_always_valid(interval(0.4, 0.8), 50, 0.0)


def test_an_interval_that_tells_nothing_plans_nothing():
    assert math.isnan(planned_units(interval(1.0, 1.0), 50, 0.1))
    assert math.isnan(planned_units(Interval(math.nan, math.nan, "", "one summary"), 1, 0.1))
    with pytest.raises(ValueError, match="above 0"):
        planned_units(interval(0.4, 0.8), 50, 0.0)


def test_alpha_reaches_the_target_at_the_planned_number_of_summaries():
    target = 0.06
    found = [alpha_of(100, seed) for seed in range(8)]
    planned = np.mean([planned_units(each.interval, 100, target) for each in found])
    there = [alpha_of(round(planned), seed).interval for seed in range(8, 12)]
    assert np.mean([(each.high - each.low) / 2 for each in there]) == pytest.approx(target, rel=0.1)
