"""The summaries listed as disagreements, and their order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation import protocol
from metaeval.disagreements.disagreements import Side, ranked_disagreements
from metaeval.disagreements.ranked_pairs import RankedPairs
from metaeval.snapshot.arrays import Labels, SetupScores
from metaeval.stats.scores.percentiles import percentiles

YES_NO = next(question.scale for question in protocol.SEAHORSE.questions)
POINTS = protocol.ONE_TO_FIVE


def find_disagreements(labels, scores, scale=YES_NO):
    labels, scores = np.array(labels, dtype=float), np.array(scores, dtype=float)
    pairs = RankedPairs(
        evaluator=SetupScores("1", "Judge", "judge", None, True, frozenset(), {}),
        question=Labels("q", "q", "Q", scale, labels, "."),
        places=np.arange(len(labels)),
        labels=labels,
        scores=scores,
        label_ranks=percentiles(labels),
        score_ranks=percentiles(scores),
    )
    return ranked_disagreements(pairs)


class TestYesNoQuestions:
    def test_high_scores_of_no_and_low_scores_of_yes_are_listed(self):
        listed = find_disagreements([0, 0, 1, 1], [0.1, 0.9, 0.2, 0.8])
        assert listed.high.tolist() == [1]
        assert listed.low.tolist() == [2]

    def test_the_cut_follows_the_share_of_no_answers(self):
        """One label in four is No, so only the lowest score counts as the evaluator's No."""
        listed = find_disagreements([0, 1, 1, 1], [0.3, 0.2, 0.8, 0.9])
        assert (listed.high.tolist(), listed.low.tolist()) == ([0], [1])

    def test_scores_tied_across_the_cut_are_not_listed(self):
        """Most scores are 0, and the lowest score must not count as high."""
        listed = find_disagreements([0, 1, 1, 1, 1], [0, 0, 0, 0, 0.7])
        assert listed.of(None).tolist() == []

    def test_labels_tied_between_yes_and_no_are_not_listed(self):
        listed = find_disagreements([0.5, 0, 1], [0.9, 0.1, 0.5])
        assert 0 not in listed.of(None)

    def test_unanimous_labels_are_listed_before_divided_ones(self):
        listed = find_disagreements([1 / 3, 0, 1, 1, 2 / 3], [0.9, 0.9, 0.1, 0.2, 0.95])
        assert listed.high.tolist() == [1, 0]


class TestOtherScales:
    def test_the_largest_differences_come_first_on_each_side(self):
        listed = find_disagreements([1, 2, 3, 4, 5], [5, 2, 4, 3, 1], POINTS)
        assert listed.high.tolist() == [0, 2]
        assert listed.low.tolist() == [4, 3]
        assert listed.of(None).tolist() == [0, 4, 2, 3]
        assert [listed.side(place) for place in (0, 4)] == [Side.HIGH, Side.LOW]

    def test_ties_compatible_with_the_labels_are_not_listed(self):
        assert find_disagreements([2, 2, 2, 5], [1, 2, 3, 4], POINTS).of(None).tolist() == []


@pytest.mark.parametrize(
    ("labels", "scores", "reason"),
    [
        ([], [], "no summary"),
        ([0, 0], [1, 2], "all labels are equal"),
        ([0, 1 / 3], [1, 2], "all labels are equal"),
        ([0, 1], [2, 2], "all scores are equal"),
    ],
)
def test_constant_labels_or_scores_list_nothing_and_give_a_reason(labels, scores, reason):
    listed = find_disagreements(labels, scores)
    assert listed.of(None).tolist() == []
    assert reason in listed.reason


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(0, 9)), min_size=1, max_size=25))
def test_negating_scores_and_labels_swaps_the_sides(rows):
    labels, scores = zip(*rows, strict=True)
    listed = find_disagreements(labels, scores, POINTS)
    assert not set(listed.high.tolist()) & set(listed.low.tolist())
    assert (listed.pairs.ahead[listed.high] > 0).all()
    assert (listed.pairs.ahead[listed.low] < 0).all()
    turned = find_disagreements([6 - label for label in labels], [-score for score in scores], POINTS)
    assert sorted(turned.high.tolist()) == sorted(listed.low.tolist())


@given(st.lists(st.tuples(st.sampled_from([0, 0.5, 1]), st.integers(0, 9)), min_size=1, max_size=25))
def test_a_perfect_evaluator_has_no_disagreements(rows):
    labels = [label for label, _ in rows]
    assert find_disagreements(labels, labels).of(None).tolist() == []
    assert find_disagreements(labels, [2 * label - 7 for label in labels], POINTS).of(None).tolist() == []
