"""Which summaries are listed as disagreements, and in which order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation import protocol
from metaeval.judgements import Evaluator, Labels
from metaeval.stats.scores.percentiles import percentiles
from metaeval.summaries.disagreements import Side, disagreements
from metaeval.summaries.ranked_pairs import RankedPairs

YES_NO = next(question.scale for question in protocol.SEAHORSE.questions)
POINTS = protocol.ONE_TO_FIVE


def found(labels, scores, scale=YES_NO):
    labels, scores = np.array(labels, dtype=float), np.array(scores, dtype=float)
    pairs = RankedPairs(
        evaluator=Evaluator("1", "Judge", "judge", None, True, frozenset(), {}),
        question=Labels("q", "q", "Q", scale, labels, "."),
        places=np.arange(len(labels)),
        labels=labels,
        scores=scores,
        label_ranks=percentiles(labels),
        score_ranks=percentiles(scores),
    )
    return disagreements(pairs)


class TestYesAndNo:
    def test_a_no_among_as_many_as_get_a_yes_is_scored_high_and_the_reverse_low(self):
        listed = found([0, 0, 1, 1], [0.1, 0.9, 0.2, 0.8])
        assert listed.high.tolist() == [1]
        assert listed.low.tolist() == [2]

    def test_the_line_is_where_people_draw_it_not_at_a_half_of_the_scores(self):
        """One No in four: only the lowest score is the evaluator's No."""
        listed = found([0, 1, 1, 1], [0.3, 0.2, 0.8, 0.9])
        assert (listed.high.tolist(), listed.low.tolist()) == ([0], [1])

    def test_scores_that_are_tied_across_the_line_are_on_neither_side(self):
        """Most scores are 0: the lowest there is must not be called high."""
        listed = found([0, 1, 1, 1, 1], [0, 0, 0, 0, 0.7])
        assert listed.of(None).tolist() == []

    def test_halved_answers_are_not_listed(self):
        listed = found([0.5, 0, 1], [0.9, 0.1, 0.5])
        assert 0 not in listed.of(None)

    def test_the_majority_decides_and_a_clear_no_comes_before_a_divided_one(self):
        listed = found([1 / 3, 0, 1, 1, 2 / 3], [0.9, 0.9, 0.1, 0.2, 0.95])
        assert listed.high.tolist() == [1, 0]


class TestOtherScales:
    def test_the_furthest_apart_come_first_on_either_side(self):
        listed = found([1, 2, 3, 4, 5], [5, 2, 4, 3, 1], POINTS)
        assert listed.high.tolist() == [0, 2]
        assert listed.low.tolist() == [4, 3]
        assert listed.of(None).tolist() == [0, 4, 2, 3]
        assert [listed.side(place) for place in (0, 4)] == [Side.HIGH, Side.LOW]

    def test_ties_that_could_be_broken_either_way_are_no_disagreement(self):
        assert found([2, 2, 2, 5], [1, 2, 3, 4], POINTS).of(None).tolist() == []


@pytest.mark.parametrize(
    ("labels", "scores", "reason"),
    [
        ([], [], "no summary"),
        ([0, 0], [1, 2], "same of every summary"),
        ([0, 1 / 3], [1, 2], "same of every summary"),
        ([0, 1], [2, 2], "all scores are equal"),
    ],
)
def test_without_an_order_nothing_is_listed_and_the_reason_is_told(labels, scores, reason):
    listed = found(labels, scores)
    assert listed.of(None).tolist() == []
    assert reason in listed.reason


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(0, 9)), min_size=1, max_size=25))
def test_each_is_on_one_side_and_turning_the_scores_round_swaps_the_sides(rows):
    labels, scores = zip(*rows, strict=True)
    listed = found(labels, scores, POINTS)
    assert not set(listed.high.tolist()) & set(listed.low.tolist())
    assert (listed.pairs.ahead[listed.high] > 0).all()
    assert (listed.pairs.ahead[listed.low] < 0).all()
    turned = found([6 - label for label in labels], [-score for score in scores], POINTS)
    assert sorted(turned.high.tolist()) == sorted(listed.low.tolist())


@given(st.lists(st.tuples(st.sampled_from([0, 0.5, 1]), st.integers(0, 9)), min_size=1, max_size=25))
def test_a_perfect_evaluator_disagrees_with_nobody(rows):
    labels = [label for label, _ in rows]
    assert found(labels, labels).of(None).tolist() == []
    assert found(labels, [2 * label - 7 for label in labels], POINTS).of(None).tolist() == []
