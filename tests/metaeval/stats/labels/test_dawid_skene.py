"""Dawid and Skene's model, compared with its equations computed rating by rating."""

from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.stats.labels.dawid_skene import FLOOR, dawid_skene

ratings = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 2)),
    min_size=1,
    max_size=25,
    unique_by=lambda rating: rating[:2],
)


def fit(rows, n_units=6, n_answers=3):
    units, raters, answers = (list(column) for column in zip(*rows, strict=True)) if rows else ([], [], [])
    return dawid_skene(units, raters, answers, n_units=n_units, n_answers=n_answers)


def compute_by_equations(rows, n_answers, rounds):
    """Compute the posteriors by the equations after `rounds` rounds.

    Adding FLOOR to each count keeps all rates above 0.
    """
    units = sorted({unit for unit, _, _ in rows})
    raters = {rater for _, rater, _ in rows}
    of = {unit: [(rater, answer) for u, rater, answer in rows if u == unit] for unit in units}
    truth = {
        unit: [sum(answer == k for _, answer in of[unit]) / len(of[unit]) for k in range(n_answers)]
        for unit in units
    }
    for _ in range(rounds):
        share = [sum(truth[unit][k] for unit in units) / len(units) + FLOOR for k in range(n_answers)]
        prevalence = [each / sum(share) for each in share]
        rates = {}
        for rater in raters:
            for k in range(n_answers):
                times = [
                    sum(truth[unit][k] for unit, r, answer in rows if r == rater and answer == given) + FLOOR
                    for given in range(n_answers)
                ]
                rates[rater, k] = [each / sum(times) for each in times]
        for unit in units:
            joint = [
                prevalence[k] * prod(rates[rater, k][answer] for rater, answer in of[unit])
                for k in range(n_answers)
            ]
            truth[unit] = [each / sum(joint) for each in joint]
    return truth


@given(ratings)
def test_posteriors_match_the_papers_equations(rows):
    fitted = fit(rows)
    expected = compute_by_equations(rows, 3, min(fitted.rounds, 60))
    if fitted.rounds <= 60:
        for unit in range(6):
            if unit in expected:
                assert fitted.posterior[unit] == pytest.approx(expected[unit], abs=1e-8)
            else:
                assert np.isnan(fitted.posterior[unit]).all()


@given(ratings, st.randoms())
def test_the_order_of_ratings_does_not_change_the_result(rows, random):
    shuffled = list(rows)
    random.shuffle(shuffled)
    assert fit(shuffled).posterior.tobytes() == fit(rows).posterior.tobytes()


def simulate(accuracy):
    """Simulate 600 units and raters of this accuracy; return the truth, answers and model."""
    rng = np.random.default_rng(7)
    truth = rng.random(600) < 0.4
    right = rng.random((600, len(accuracy))) < accuracy
    answers = np.where(right, truth[:, None], ~truth[:, None]).astype(np.int64)
    units, raters = np.divmod(np.arange(answers.size), len(accuracy))
    return truth, answers, dawid_skene(units, raters, answers.ravel(), n_units=600, n_answers=2)


def test_the_model_beats_majority_vote_when_raters_differ_in_skill():
    accuracy = [0.95, 0.85, 0.8, 0.4, 0.4]
    truth, answers, fitted = simulate(accuracy)
    found = fitted.posterior[:, 1] > 0.5
    vote = answers.sum(axis=1) > 2.5
    assert fitted.has_converged
    assert (found == truth).mean() > (vote == truth).mean() + 0.05


def test_a_model_that_has_not_converged_says_so():
    _, _, fitted = simulate([0.95, 0.9, 0.55, 0.55, 0.55])
    assert (fitted.rounds, fitted.has_converged) == (1000, False)


def test_raters_with_one_rating_each_leave_units_at_the_prevalence():
    fitted = dawid_skene([0, 1, 2], [0, 1, 2], [1, 0, 1], n_units=3, n_answers=2)
    assert fitted.posterior[:, 1] == pytest.approx([fitted.posterior[:, 1].mean()] * 3, abs=1e-4)


def test_a_single_rater_is_always_right():
    fitted = dawid_skene([0, 1, 2], [0, 0, 0], [1, 0, 1], n_units=3, n_answers=2)
    assert fitted.posterior[:, 1] == pytest.approx([1, 0, 1], abs=1e-6)


def test_no_ratings_give_undefined_posteriors():
    fitted = fit([], n_units=2)
    assert fitted.posterior.shape == (2, 3)
    assert np.isnan(fitted.posterior).all()


def test_a_single_possible_answer_has_probability_1():
    fitted = dawid_skene([0, 1], [0, 0], [0, 0], n_units=2, n_answers=1)
    assert fitted.posterior.tolist() == [[1.0], [1.0]]


@pytest.mark.parametrize(
    ("units", "raters", "answers", "message"),
    [
        ([0], [0, 1], [0], "lengths must be equal"),
        ([2], [0], [0], "units must be codes from 0 and below 2, not 2..2"),
        ([0], [-1], [0], "raters must be codes from 0, not -1..-1"),
        ([0], [0], [5], "answers must be codes from 0 and below 2"),
        ([0.5], [0], [0], "units must be whole-number codes"),
    ],
)
def test_invalid_codes_are_refused(units, raters, answers, message):
    with pytest.raises(ValueError, match=message):
        dawid_skene(units, raters, answers, n_units=2, n_answers=2)
