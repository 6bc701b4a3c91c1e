"""Trivial answers in the alternative annotator test, and the evaluator's lead over them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.stats.labels.trivial_annotator import AnnotatorRatings, best_constant, trivial_annotator

SUMMARIES = 40


def make_ratings(answers, alignment="negative_rmse", articles=None):
    """Return ratings of each summary by each rater from answers, (raters, summaries)."""
    answers = np.array(answers, dtype=float)
    raters, summaries = np.indices(answers.shape)
    return AnnotatorRatings(
        summaries.ravel(),
        raters.ravel(),
        answers.ravel(),
        np.arange(SUMMARIES) if articles is None else articles,
        alignment,
    )


@pytest.mark.parametrize("alignment", ["accuracy", "negative_rmse"])
def test_the_lead_is_the_share_closer_to_all_raters_less_the_share_further(alignment):
    answers = np.array([[1, 2, 3, 4] * 10] * 3)
    evaluator = answers[0].astype(float)
    evaluator[:4] = [2, 2, 2, np.nan]  # further than 1, equal to 2, further than 3
    one = np.array([1.0, 2.0, 3.0, 4.0] * 10)
    one[20:] = 9.0
    lead = trivial_annotator(make_ratings(answers, alignment), evaluator, [one], 0.1).lead
    assert lead.labelled == 39
    assert lead.value == pytest.approx((20 - 2) / 39)
    assert lead.interval.low > 0


def test_draws_are_averaged_and_pass_by_majority():
    answers = np.array([[1, 2, 3, 4] * 10] * 3)
    good, bad = answers[0].astype(float), np.full(SUMMARIES, 9.0)
    found = trivial_annotator(make_ratings(answers), good, [good, bad, bad], 0.1)
    assert (found.winning_rate, found.passing) == (pytest.approx(1 / 3), pytest.approx(1 / 3))
    assert not found.passes
    assert found.lead.value == pytest.approx(2 / 3)
    assert found.is_beaten  # the same lead on every summary


def test_summaries_of_few_articles_do_not_prove_a_lead():
    """The evaluator is better on one of three articles: 40 summaries are not 40 proofs."""
    rng = np.random.default_rng(0)
    answers = rng.integers(1, 6, SUMMARIES)
    first = np.arange(SUMMARIES) % 3 == 0
    evaluator = np.where(first, answers, 3).astype(float)
    draw = [np.full(SUMMARIES, 3.0)]
    apart = trivial_annotator(make_ratings([answers] * 3), evaluator, draw, 0.1)
    together = trivial_annotator(
        make_ratings([answers] * 3, articles=np.arange(SUMMARIES) % 3), evaluator, draw, 0.1
    )
    assert apart.lead.value == together.lead.value
    assert (apart.is_beaten, together.is_beaten) == (True, False)


def test_the_best_constant_is_the_answer_that_is_hardest_to_beat():
    answers = np.array([[5] * 30 + [1] * 10] * 3)
    answers[0, :5] = 4
    for evaluator in (np.ones(SUMMARIES), np.full(SUMMARIES, 5.0)):
        assert best_constant(make_ratings(answers), evaluator, 0.2) == 5
        assert best_constant(make_ratings(answers, "accuracy"), evaluator, 0.2) == 5
    assert np.isnan(best_constant(make_ratings(np.zeros((3, 0))), np.ones(SUMMARIES), 0.2))
    assert np.isnan(best_constant(make_ratings(answers[:2]), np.ones(SUMMARIES), 0.2))


@given(st.integers(0, 1000), st.sampled_from([1, 2, 3, 4]))
def test_a_constant_never_beats_the_best_constant(seed, constant):
    answers = np.random.default_rng(seed).integers(1, 5, (3, SUMMARIES))
    ratings, evaluator = make_ratings(answers), np.full(SUMMARIES, float(constant))
    best = best_constant(ratings, evaluator, 0.1)
    assert not trivial_annotator(ratings, evaluator, [np.full(SUMMARIES, best)], 0.1).is_beaten
