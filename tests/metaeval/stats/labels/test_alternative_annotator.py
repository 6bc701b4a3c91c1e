"""The alternative annotator test, compared with its definition, and its undefined cases."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_1samp

from metaeval.stats.labels.alternative_annotator import (
    ALIGNMENTS,
    NO_ANSWER,
    RATED_ONCE,
    AlternativeAnnotator,
    alternative_annotator,
)

SUMMARIES = 45


def make_campaign(seed, n_raters=4, n_points=4, skill=0.6, of_evaluator=0.6, rated=0.9):
    """Return ratings of 45 summaries as (summary, rater, answer), and the evaluator's answers."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_points, size=SUMMARIES)

    def answers(share):
        return np.where(rng.random(SUMMARIES) < share, truth, rng.integers(n_points, size=SUMMARIES))

    rows = []
    for rater in range(n_raters):
        given = answers(skill)
        rows += [(s, rater, int(given[s])) for s in range(SUMMARIES) if rng.random() < rated]
    evaluator = answers(of_evaluator).astype(float)
    evaluator[rng.random(SUMMARIES) < 0.05] = np.nan
    return rows, evaluator


def run(rows, evaluator, alignment="accuracy", epsilon=0.15):
    summaries, raters, answers = zip(*rows, strict=True) if rows else ((), (), ())
    return alternative_annotator(summaries, raters, answers, evaluator, alignment, epsilon=epsilon)


def score(alignment, mine, others):
    if alignment == "accuracy":
        return sum(mine == other for other in others) / len(others)
    return -sqrt(sum((mine - other) ** 2 for other in others) / len(others))


def compute_by_definition(rows, evaluator, alignment, epsilon):
    """Compute winning rate and advantage by their definition."""
    of = {}
    for summary, rater, answer in rows:
        of.setdefault(summary, {})[rater] = answer
    of = {s: each for s, each in of.items() if len(each) >= 2 and not np.isnan(evaluator[s])}
    p_values, advantages = [], []
    for rater in sorted({rater for _, rater, _ in rows}):
        leads, wins = [], []
        for summary, ratings in of.items():
            if rater in ratings:
                others = [answer for other, answer in ratings.items() if other != rater]
                human = score(alignment, ratings[rater], others)
                machine = score(alignment, evaluator[summary], others)
                wins.append(machine >= human)
                leads.append(int(human >= machine) - int(machine >= human))
        if len(leads) >= 30:
            p_values.append(ttest_1samp(leads, epsilon, alternative="less").pvalue)
            advantages.append(np.mean(wins))
    ordered, m = sorted(p_values), len(p_values)
    harmonic = sum(1 / i for i in range(1, m + 1))
    passed = [i for i, p in enumerate(ordered, 1) if p <= 0.05 * i / (m * harmonic)]
    return max(passed, default=0) / m, np.mean(advantages)


@given(
    st.integers(0, 10_000),
    st.sampled_from(sorted(ALIGNMENTS)),
    st.sampled_from([0.0, 0.1, 0.2]),
    st.sampled_from([0.5, 0.7, 0.95]),
)
def test_winning_rate_and_advantage_match_the_paper(seed, alignment, epsilon, of_evaluator):
    rows, evaluator = make_campaign(seed, of_evaluator=of_evaluator)
    tested = run(rows, evaluator, alignment, epsilon)
    if not tested.reason:
        winning_rate, advantage = compute_by_definition(rows, evaluator, alignment, epsilon)
        assert tested.winning_rate == winning_rate
        assert tested.advantage == pytest.approx(advantage, abs=1e-12)
        assert tested.passes == (winning_rate >= 0.5)


def test_an_evaluator_closer_to_raters_than_they_are_to_each_other_passes():
    good = run(*make_campaign(1, skill=0.6, of_evaluator=1.0))
    bad = run(*make_campaign(1, skill=0.9, of_evaluator=0.1))
    assert (good.winning_rate, good.passes) == (1.0, True)
    assert (bad.winning_rate, bad.passes) == (0.0, False)
    assert good.advantage > 0.7 > bad.advantage


def test_a_larger_margin_never_lowers_the_winning_rate():
    rows, evaluator = make_campaign(11)
    rates = [run(rows, evaluator, epsilon=epsilon).winning_rate for epsilon in (0, 0.05, 0.1, 0.2, 0.4, 1)]
    assert rates == sorted(rates)
    assert rates[-1] == 1.0


def test_an_evaluator_that_agrees_with_unanimous_raters_needs_a_margin_to_win():
    rows = [(s, r, 1) for s in range(40) for r in range(3)]
    assert run(rows, np.ones(40), epsilon=0.1).winning_rate == 1.0
    assert run(rows, np.ones(40), epsilon=0.0).winning_rate == 0.0
    assert run(rows, np.zeros(40), epsilon=0.1).winning_rate == 0.0


def test_numeric_answers_between_points_can_win():
    """Raters alternate between 1 and 3, so an evaluator that says 2 is never further from the others."""
    rows = [(s, r, 1 + 2 * ((s + r) % 2)) for s in range(40) for r in range(4)]
    assert run(rows, np.full(40, 2.0), "negative_rmse", 0.1).winning_rate == 1.0
    assert run(rows, np.full(40, 2.0), "accuracy", 0.1).winning_rate == 0.0


@pytest.mark.parametrize(
    ("rows", "n_left"),
    [
        ([], 0),
        ([(s, r, 1) for s in range(40) for r in range(2)], 2),
        ([(s, r, 1) for s in range(29) for r in range(5)], 0),
        ([(s, s % 5, 1) for s in range(SUMMARIES)], 0),
    ],
)
def test_too_few_raters_or_summaries_are_undefined_with_a_reason(rows, n_left):
    tested = run(rows, np.ones(SUMMARIES))
    assert np.isnan(tested.winning_rate)
    assert np.isnan(tested.advantage)
    assert tested.reason.startswith("fewer than 3 raters have rated 30 summaries or more")
    assert tested.reason.endswith(f"(there are {n_left})")
    assert not tested.passes


def test_left_out_summaries_are_counted_by_reason():
    rows = [(s, r, 1) for s in range(36) for r in range(3)] + [(36, 0, 1), (37, 3, 1), (0, 3, 1)]
    evaluator = np.ones(SUMMARIES)
    evaluator[:2] = np.nan
    evaluator[36] = np.nan
    tested = run(rows, evaluator)
    assert tested.summaries == 34
    assert tested.left_out == {RATED_ONCE: 2, NO_ANSWER: 2}
    assert tested.raters == 3


def test_raters_of_few_summaries_still_count_as_other_raters():
    rows = [(s, r, 1) for s in range(36) for r in range(3)] + [(s, 3, 0) for s in range(10)]
    tested = run(rows, np.ones(SUMMARIES))
    assert tested.raters == 3
    assert list(tested.left_out.values()) == [1]


def test_invalid_arguments_are_refused(subtests):
    cases = [
        ({"alignment": "f1"}, "alignment 'f1' does not exist"),
        ({"epsilon": 1.2}, "epsilon must lie from 0 to 1"),
        ({"answers": [1, np.nan]}, "stands for no number"),
        ({"summaries": [0, 3]}, "below 3"),
        ({"raters": [0, -1]}, "count from 0"),
        ({"raters": [0]}, "lengths must be equal"),
    ]
    for change, message in cases:
        with subtests.test(change=change, message=message):
            given = {
                "summaries": [0, 0],
                "raters": [0, 1],
                "answers": [1, 0],
                "evaluator": [1, 0, 1],
                "alignment": "accuracy",
                "epsilon": 0.1,
            }
            with pytest.raises(ValueError, match=message):
                alternative_annotator(**(given | change))


@given(st.integers(0, 1000), st.sampled_from([0.1, 25.0, 100 / 3]), st.sampled_from([0.0, 50.0]))
def test_rescaling_the_answers_does_not_matter(seed, factor, offset):
    """Ties must survive large numbers and offsets."""
    rows, evaluator = make_campaign(seed)
    turned = [(s, r, answer * factor + offset) for s, r, answer in rows]
    expected = run(rows, evaluator, "negative_rmse")
    found = run(turned, evaluator * factor + offset, "negative_rmse")
    assert (found.winning_rate, found.advantage) == pytest.approx((expected.winning_rate, expected.advantage))


@pytest.mark.parametrize("unheard_of", [-1.0, 1.5, 99.0])
def test_an_answer_no_rater_gives_agrees_with_nobody(unheard_of):
    """The evaluator ties only where the rater agrees with nobody either."""
    rows = [(summary, rater, summary % 2) for summary in range(40) for rater in range(3)]
    rows += [(summary, rater, rater) for summary in range(40, 50) for rater in range(3)]
    found = run(rows, np.full(50, unheard_of))
    assert found.advantage == pytest.approx(10 / 50)
    assert found.winning_rate == 0


@pytest.mark.parametrize(("summaries", "raters"), [(29, 0), (30, 3)])
def test_a_rater_needs_thirty_summaries_to_be_tested(summaries, raters):
    rows = [(summary, rater, summary % 2) for summary in range(summaries) for rater in range(3)]
    found = run(rows, np.arange(summaries) % 2.0)
    assert found.raters == raters
    assert bool(found.reason) == (raters == 0)


@pytest.mark.parametrize(("winning_rate", "passes"), [(0.5, True), (0.49, False)])
def test_an_evaluator_passes_with_half_of_the_raters(winning_rate, passes):
    assert AlternativeAnnotator(winning_rate, 0.8, 0, 40, "").passes is passes
