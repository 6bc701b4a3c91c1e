"""Questions that were not asked because an earlier answer had ended the rating."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation import protocol
from metaeval.answers.unasked import can_be_unasked, unasked_as_no
from metaeval.snapshot.arrays import HumanRatings, QuestionRatings, answer_codes, answers_as_numbers
from metaeval.snapshot.label_rules import labels_by

FIRST, SECOND = protocol.SEAHORSE.questions[:2]
SHEETS = st.lists(
    st.tuples(
        st.sampled_from(["yes", "no", "unsure"]), st.sampled_from(["yes", "no", "unsure"]), st.integers(0, 2)
    ),
    max_size=9,
)


def ratings_of(question, rows):
    """Return the ratings of rows (summary, rater, answer)."""
    values, answers = answer_codes(
        question.scale, answers_as_numbers(question.scale, [answer for _, _, answer in rows])
    )
    summaries, raters = (np.array([row[place] for row in rows], dtype=np.int64) for place in (0, 1))
    return QuestionRatings(question, values, summaries, raters, answers)


def human_of(sheets):
    """Return the ratings of sheets, each (first answer, second answer, summary) by a rater of its own."""
    first = [(summary, rater, answer) for rater, (answer, _, summary) in enumerate(sheets)]
    second = [
        (summary, rater, answer) for rater, (ended, answer, summary) in enumerate(sheets) if ended != "no"
    ]
    return HumanRatings(
        (ratings_of(FIRST, first), ratings_of(SECOND, second)), ("",) * len(sheets), "ratings", "Wording."
    )


@given(SHEETS)
def test_an_ended_rating_says_no_to_later_questions(sheets):
    human = unasked_as_no(human_of(sheets))
    labels = labels_by("mean", human, human.on(SECOND.key), 3).values
    for summary in range(3):
        said = ["no" if ended == "no" else answer for ended, answer, of in sheets if of == summary]
        numbers = [float(answer == "yes") for answer in said if answer != "unsure"]
        expected = np.mean(numbers) if numbers else np.nan
        assert labels[summary] == pytest.approx(expected, nan_ok=True)


@given(SHEETS)
def test_answers_that_were_given_stay(sheets):
    human = human_of(sheets)
    filled = unasked_as_no(human)
    assert filled.on(FIRST.key) is human.on(FIRST.key)
    assert unasked_as_no(filled).on(SECOND.key).answers.tolist() == filled.on(SECOND.key).answers.tolist()
    kept = len(human.on(SECOND.key).answers)
    assert filled.on(SECOND.key).answers[:kept].tolist() == human.on(SECOND.key).answers.tolist()


def test_scales_without_yes_are_never_filled():
    coherence = protocol.SUMMEVAL.questions[0]
    human = HumanRatings((ratings_of(coherence, [(0, 0, "3")]),), ("",), "ratings", "Wording.")
    assert not can_be_unasked(human)
    assert unasked_as_no(human).questions == human.questions
    assert can_be_unasked(human_of([]))
