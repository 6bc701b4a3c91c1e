import numpy as np
import pytest

from annotation import protocol
from metaeval.raters.pace import FEWEST_RATINGS, paces, same_answers
from metaeval.snapshot.arrays import HumanRatings, QuestionRatings

ENOUGH = FEWEST_RATINGS
QUESTIONS = protocol.SEAHORSE.questions[:3]


def times(seconds, count=ENOUGH):
    return [{1: seconds / 4, 2: 3 * seconds / 4}] * count


def test_a_rater_far_below_the_others_median_is_marked():
    same = dict.fromkeys(range(3), (0, 0))
    found = paces({0: times(10), 1: times(60), 2: times(90)}, same)
    assert [found[rater].is_fast for rater in range(3)] == [True, False, False]
    assert found[1].seconds == 60
    assert found[1].by_stage == {1: 15, 2: 45}


def test_few_ratings_get_no_mark():
    assert not paces({0: times(10, ENOUGH - 1), 1: times(60)}, {0: (0, 0), 1: (0, 0)})[0].is_fast


def test_a_stage_left_open_does_not_count():
    found = paces({0: [*times(60, 3), {1: 10.0, 2: 5000.0}]}, {0: (0, 0)})[0]
    assert (found.timed, found.seconds) == (3, 60)


def test_imported_ratings_have_no_times():
    found = paces({}, {0: (5, 1)})[0]
    assert (found.seconds, found.timed, found.compared, found.same) == (None, 0, 5, 1)


@pytest.mark.parametrize(("others", "marked"), [(2, True), (8, False)])
def test_one_answer_to_everything_is_marked_where_others_vary(others, marked):
    found = paces({}, {0: (ENOUGH, ENOUGH), 1: (10, others)})
    assert found[0].is_same is marked


def test_equal_answers_are_counted_over_questions():
    """Rater 0 answers yes yes yes to summary 0 and yes no yes to summary 1; rater 1 answers two questions."""

    def ratings(question, *given):
        summaries, raters, answers = np.array(given).T
        return QuestionRatings(question, ("yes", "no"), summaries, raters, answers)

    human = HumanRatings(
        (
            ratings(QUESTIONS[0], (0, 0, 0), (1, 0, 0), (0, 1, 1)),
            ratings(QUESTIONS[1], (0, 0, 0), (1, 0, 1), (0, 1, 1)),
            ratings(QUESTIONS[2], (0, 0, 0), (1, 0, 0)),
        ),
        ("", ""),
        "",
        "",
    )
    assert same_answers(human, 2) == {0: (2, 1), 1: (0, 0)}
