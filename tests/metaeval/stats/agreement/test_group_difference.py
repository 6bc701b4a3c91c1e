"""Differences between two groups of raters, in level and in judgement."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_ind

from metaeval.stats.agreement.group_difference import group_difference

ARTICLES, SYSTEMS = 30, 4


def compare(answers, n_first):
    """Compare the first raters with the others; `answers` are (summaries, raters), nan for none."""
    units, raters = np.indices(answers.shape)
    given = ~np.isnan(answers)
    return group_difference(
        units[given],
        raters[given],
        answers[given],
        raters[given] < n_first,
        np.repeat(np.arange(ARTICLES), SYSTEMS),
    )


def make_answers(seed, n_raters, noise=0.7):
    """Return answers to 120 summaries, (summaries, raters), and what all raters mean, (summaries, 1)."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(3, 1, (ARTICLES * SYSTEMS, 1))
    return truth + rng.normal(0, noise, (len(truth), n_raters)), truth


def test_groups_that_mean_different_things_differ_in_judgement():
    answers, _ = make_answers(1, 8)
    other, _ = make_answers(2, 5)
    answers[:, 3:] = other
    found = compare(answers, 3)
    assert found.differs_in_judgement
    assert not found.differs_in_level
    assert found.judgement.value == pytest.approx(2.0, abs=0.5)  # the variances of both truths
    assert found.judgement.labelled == ARTICLES * SYSTEMS


def test_a_stricter_group_differs_in_level_only():
    answers, _ = make_answers(3, 8)
    answers[:, :3] -= 0.8
    found = compare(answers, 3)
    assert found.differs_in_level
    assert not found.differs_in_judgement
    of_raters = (answers - answers.mean(1, keepdims=True)).mean(0)
    by_scipy = ttest_ind(of_raters[:3], of_raters[3:], equal_var=False)
    assert found.level == pytest.approx(of_raters[:3].mean() - of_raters[3:].mean())
    assert found.level_p == pytest.approx(by_scipy.pvalue)


def test_raters_with_habits_of_their_own_and_a_noisy_group_do_not_make_groups_differ():
    flagged = 0
    for seed in range(100):
        answers, _ = make_answers(seed, 8)
        rng = np.random.default_rng([seed, 1])
        answers += rng.normal(0, 0.5, 8)
        answers[:, 3:] += rng.normal(0, 1, (len(answers), 5))
        found = compare(answers, 3)
        flagged += found.differs_in_level or found.differs_in_judgement
    assert flagged <= 6


@given(st.integers(0, 1000))
def test_the_order_of_rows_and_of_groups_does_not_matter(seed):
    answers, _ = make_answers(seed, 5)
    answers[np.random.default_rng(seed).random(answers.shape) < 0.2] = np.nan
    one, other = compare(answers, 2), compare(answers[:, ::-1], 3)
    assert other.level == pytest.approx(-one.level)
    assert other.level_p == pytest.approx(one.level_p)
    assert other.judgement.value == pytest.approx(one.judgement.value)


def test_too_few_raters_are_undefined():
    answers, _ = make_answers(4, 3)
    found = compare(answers, 1)
    assert np.isnan([found.level, found.level_p, found.judgement.value]).all()
    assert not found.differs_in_level
    assert not found.differs_in_judgement
    assert compare(np.tile([1.0, 1, 2, 2], (ARTICLES * SYSTEMS, 1)), 2).level == -1
