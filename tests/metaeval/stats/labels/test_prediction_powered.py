"""The prediction-powered mean, compared with the published formulas. Benchmarks test its coverage."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from metaeval.stats.labels.draw_chances import draw_chances, draw_weights
from metaeval.stats.labels.label_mean import FEWER_THAN_TWO, NO_SPREAD, label_mean
from metaeval.stats.labels.prediction_powered import (
    TOO_FEW_TO_TUNE,
    drawn_prediction_powered,
    prediction_powered,
)
from metaeval.stats.rows import Rows
from metaeval.stats.scores.complete_rows import NO_PAIR
from tests.metaeval.stats.simple_rows import make_rows


def make_sample(seed, labelled=25, alone=200, relation=0.8):
    """Return labels of the first summaries and scores of all, with one article each."""
    rng = np.random.default_rng(seed)
    labels = 3 + rng.normal(size=labelled + alone)
    scores = relation * labels + np.sqrt(1 - relation**2) * rng.normal(size=labelled + alone)
    labels[labelled:] = np.nan
    return labels, scores, np.arange(labelled + alone)


def compute_published(labels, scores, power=None):
    """Return estimate, power and both parts of the squared error as in ppi_py, uncorrected."""
    labelled = ~np.isnan(labels)
    y, f, alone = labels[labelled], scores[labelled], scores[~labelled]
    if power is None:
        covariance = np.cov(y, f, ddof=0)[0, 1]
        power = covariance / ((1 + len(y) / len(alone)) * np.var(scores, ddof=1))
    estimate = power * alone.mean() + (y - power * f).mean()
    return estimate, power, power**2 * alone.var() / len(alone), (y - power * f).var() / len(y)


@given(st.integers(0, 10_000), st.sampled_from([0.3, 0.8, 1.0]), st.sampled_from([None, 0.0, 0.5, 1.0]))
def test_mean_is_the_published_estimate_corrected_for_few_labels(seed, relation, power):
    labels, scores, articles = make_sample(seed, relation=relation)
    n = int((~np.isnan(labels)).sum())
    powered = prediction_powered(make_rows(labels, scores, articles), power=power)
    estimate, _, imputed, rectified = compute_published(labels, scores, power)
    fitted = 2 if power is None else 1
    half = stats.t.ppf(0.975, n - fitted) * np.sqrt(imputed + rectified * n / (n - fitted))
    assert powered.value == pytest.approx(estimate)
    assert powered.interval.high - powered.interval.low == pytest.approx(2 * half, rel=1e-6)
    assert (powered.labelled, powered.scored_only) == (25, 0 if power == 0 else 200)


def test_the_correction_vanishes_with_many_labels():
    labels, scores, articles = make_sample(1, labelled=4000, alone=8000)
    powered = prediction_powered(make_rows(labels, scores, articles))
    estimate, _, imputed, rectified = compute_published(labels, scores)
    half = 1.959964 * np.sqrt(imputed + rectified)
    assert powered.interval.low == pytest.approx(estimate - half, abs=half / 1000)


@given(st.integers(0, 10_000))
def test_a_power_of_0_gives_the_mean_of_the_labels(seed):
    labels, scores, articles = make_sample(seed)
    powered, alone = (
        prediction_powered(make_rows(labels, scores, articles), power=0),
        label_mean(labels, articles),
    )
    assert (powered.value, powered.interval, powered.scored_only) == (alone.value, alone.interval, 0)
    assert "λ = 0" in powered.definition


@pytest.mark.parametrize(
    "scores",
    [np.full(225, 0.4), np.where(np.arange(225) < 25, np.arange(225.0), np.nan)],
    ids=["all scores equal", "no summary with only a score"],
)
def test_uninformative_scores_give_the_mean_of_the_labels(scores):
    labels, _, articles = make_sample(3)
    assert (
        prediction_powered(make_rows(labels, scores, articles)).interval
        == label_mean(labels, articles).interval
    )


@given(st.integers(0, 10_000), st.sampled_from([0.01, -3.0, 250.0]), st.floats(-5, 5))
def test_rescaling_or_negating_scores_does_not_matter(seed, unit, offset):
    labels, scores, articles = make_sample(seed)
    powered, other = (
        prediction_powered(make_rows(labels, each, articles)) for each in (scores, unit * scores + offset)
    )
    assert other.value == pytest.approx(powered.value, rel=1e-6)
    assert other.interval.low == pytest.approx(powered.interval.low, rel=1e-6)


def test_only_good_scores_narrow_the_interval():
    def mean_widths(relation):
        drawn = [make_sample(seed, relation=relation) for seed in range(200)]
        pairs = [
            (prediction_powered(make_rows(*each)).interval, label_mean(each[0], each[2]).interval)
            for each in drawn
        ]
        return np.mean([[interval.high - interval.low for interval in pair] for pair in pairs], axis=0)

    powered, alone = mean_widths(0.9)
    assert powered < 0.6 * alone
    powered, alone = mean_widths(0.0)
    assert powered >= alone


def test_repeated_summaries_of_an_article_do_not_narrow_the_interval():
    labels, scores, articles = make_sample(5)
    once = prediction_powered(make_rows(labels, scores, articles)).interval
    thrice = prediction_powered(
        make_rows(np.tile(labels, 3), np.tile(scores, 3), np.tile(articles, 3))
    ).interval
    assert thrice.high - thrice.low == pytest.approx(once.high - once.low, rel=0.01)


def test_a_label_without_a_score_is_left_out():
    labels, scores, articles = make_sample(6)
    scores[0] = np.nan
    assert prediction_powered(make_rows(labels, scores, articles)).labelled == 24
    expected = prediction_powered(make_rows(labels[1:], scores[1:], articles[1:]))
    assert prediction_powered(make_rows(labels, scores, articles)) == expected


@pytest.mark.parametrize(
    ("labels", "articles", "reason"),
    [
        ([], [], NO_PAIR),
        ([1.0, 2.0], [0, 1], TOO_FEW_TO_TUNE),
        ([1.0, 2.0, 3.0], [0, 1, 1], TOO_FEW_TO_TUNE),
    ],
)
def test_too_few_labels_are_undefined_with_a_reason(labels, articles, reason):
    n = len(labels)
    powered = prediction_powered(make_rows([*labels, np.nan, np.nan], range(n + 2), [*articles, 7, 8]))
    assert (powered.reason, powered.interval.reason) == (reason, reason)
    assert np.isnan(powered.value)


def test_the_reason_mentions_labels_without_a_score():
    powered = prediction_powered(make_rows([1.0, 2.0, np.nan], [np.nan, np.nan, 0.3], range(3)))
    assert (powered.reason, powered.labelled, powered.scored_only) == (NO_PAIR, 0, 1)


def test_interval_with_given_power_needs_two_articles_and_varied_labels():
    scores = [0.1, 0.2, 0.3, 0.1]
    one = prediction_powered(make_rows([2.0, np.nan, np.nan, np.nan], scores, range(4)), power=1)
    assert one.value == pytest.approx(2.0 - 0.1 + 0.2)
    assert one.interval.reason == FEWER_THAN_TWO
    alike = prediction_powered(make_rows([2.0, 2.0, 2.0, np.nan], scores, range(4)), power=1)
    assert alike.interval.reason == NO_SPREAD


def test_at_every_look_the_interval_is_wider_around_the_same_value():
    rng = np.random.default_rng(6)
    scores = rng.normal(size=120)
    labels = np.where(np.arange(120) < 60, scores + rng.normal(size=120), np.nan)
    rows = make_rows(labels, scores, range(120))
    once, always = (prediction_powered(rows, at_every_look=each) for each in (False, True))
    assert always.value == once.value
    assert always.interval.low < once.interval.low < once.interval.high < always.interval.high
    assert "always-valid" in always.definition


def drawn_rows(rng, n=400, drawn=80):
    """Return rows whose doubtful summaries came first, their chances, and the mean of all labels."""
    chance_of_yes = rng.beta(0.4, 0.4, n)
    labels = (rng.random(n) < chance_of_yes).astype(float)
    weights = draw_weights([chance_of_yes])
    places = -np.expm1(np.log1p(-rng.random(n)) / weights)
    is_waiting = np.ones(n, dtype=bool)
    is_waiting[np.argsort(places)[:drawn]] = False
    known = np.where(is_waiting, np.nan, labels)
    rows = Rows(known, chance_of_yes, np.arange(n), np.zeros(n, dtype=int))
    return rows, draw_chances(places, weights, is_waiting), labels.mean()


def test_the_drawn_mean_is_right_on_average_and_its_interval_holds():
    rng, errors, held = np.random.default_rng(3), [], []
    for _ in range(300):
        rows, chances, truth = drawn_rows(rng)
        estimate = drawn_prediction_powered(rows, chances)
        errors.append(estimate.value - truth)
        held.append(estimate.interval.low <= truth <= estimate.interval.high)
    assert abs(np.mean(errors)) < 4 * np.std(errors) / np.sqrt(len(errors))
    assert np.mean(held) > 0.93


def test_equal_scores_leave_the_weighted_mean_of_the_labels():
    labels, articles = [1.0, 3.0, 2.0, 4.0, np.nan], range(5)
    chances = [0.5, 0.5, 1.0, 0.25, np.nan]
    rows = Rows(labels, [2.0] * 5, articles, [0] * 5)
    alone = label_mean(labels, articles, chances=chances)
    assert drawn_prediction_powered(rows, chances).value == pytest.approx(alone.value)


def test_too_few_drawn_articles_have_no_mean():
    rows = Rows([1.0, 2.0, np.nan], [0.1, 0.2, 0.3], [0, 1, 2], [0] * 3)
    few = drawn_prediction_powered(rows, [0.5, 0.5, np.nan])
    assert (few.reason, few.labelled) == (TOO_FEW_TO_TUNE, 2)
    none = drawn_prediction_powered(rows, [np.nan] * 3)
    assert (none.reason, none.labelled) == (NO_PAIR, 0)
