"""How far apart raters' answers are."""

from itertools import combinations

import numpy as np
import pytest

from annotation import protocol
from metaeval.adjudication.disputes import answered_both, distances
from metaeval.snapshot.arrays import HumanRatings, QuestionRatings, answer_codes, answers_as_numbers

GRAMMAR = protocol.SEAHORSE.question("grammar")
COHERENCE = protocol.SUMMEVAL.question("coherence")
ANY_NUMBER = protocol.Question("n", "n", "N", "?", 1, protocol.Scale(protocol.ScaleKind.INTERVAL))
GROUPS = ("expert", "expert", "crowd", "crowd", "crowd")


def ratings_of(question, *answers):
    """Return the ratings of summaries 0, 1, ... by raters 0, 1, ..., in an order that means nothing."""
    rows = [(s, r, value) for s, given in enumerate(answers) for r, value in enumerate(given)]
    rows = [rows[place] for place in np.random.default_rng(0).permutation(len(rows))]
    numbers = answers_as_numbers(question.scale, [value for _, _, value in rows])
    values, codes = answer_codes(question.scale, numbers)
    ratings = QuestionRatings(
        question,
        values,
        np.array([summary for summary, _, _ in rows], dtype=np.int64),
        np.array([rater for _, rater, _ in rows], dtype=np.int64),
        codes,
    )
    return HumanRatings((ratings,), GROUPS, "ratings", ""), ratings


def test_words_are_apart_by_their_difference_and_unsure_by_half():
    answers = [("yes", "no"), ("yes", "yes", "no"), ("unsure", "no"), ("unsure", "unsure"), ("no",), ()]
    human, ratings = ratings_of(GRAMMAR, *answers)
    assert distances(human, ratings, 6) == pytest.approx([1, 2 / 3, 0.5, 0, 0, 0])
    assert distances(human, ratings, 6, "expert") == pytest.approx([1, 0, 0.5, 0, 0, 0])


@pytest.mark.parametrize(("question", "length"), [(COHERENCE, 4), (ANY_NUMBER, 4)])
def test_points_are_apart_by_their_mean_difference(question, length):
    answers = [("1", "5"), ("2", "2", "4", "5", "1"), ("3", "3"), ("4",), ()]
    human, ratings = ratings_of(question, *answers)
    expected = [
        np.mean([abs(float(a) - float(b)) for a, b in combinations(given, 2)] or [0]) / length
        for given in answers
    ]
    assert distances(human, ratings, 5) == pytest.approx(expected, abs=1e-12)


def test_equal_answers_on_a_scale_without_ends_are_not_apart():
    human, ratings = ratings_of(ANY_NUMBER, ("7.5", "7.5"))
    assert distances(human, ratings, 1).tolist() == [0]


def test_summaries_with_both_answers_are_found():
    human, ratings = ratings_of(GRAMMAR, ("yes", "no"), ("yes", "yes"), ("no", "unsure", "yes"), ("no",))
    assert answered_both(human, ratings, 4, "yes", "no").tolist() == [True, False, True, False]
    assert answered_both(human, ratings, 4, "yes", "yes").tolist() == [False, True, False, False]
    assert answered_both(human, ratings, 4, "yes", "no", "expert").tolist() == [True, False, False, False]
