"""Labels as marks, and marks as scores."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.judge.asked_marks import MARKS

LABELS = st.floats(0, 1)


@pytest.mark.parametrize(
    ("marks", "label", "written"),
    [
        ("decimals", 0, "0.00"),
        ("decimals", 1 / 3, "0.33"),
        ("decimals", 1, "1.00"),
        ("1-5", 0, "1"),
        ("1-5", 0.124, "1"),
        ("1-5", 0.125, "2"),
        ("1-5", 0.375, "3"),
        ("1-5", 0.5, "3"),
        ("1-5", 1, "5"),
        ("yes_no", 0.49, "No"),
        ("yes_no", 0.5, None),
        ("yes_no", 0.51, "Yes"),
    ],
)
def test_a_label_is_written_as_the_nearest_mark_halfway_as_the_higher_or_as_none(marks, label, written):
    assert MARKS[marks].written(label) == written


@given(LABELS)
def test_a_mark_is_worth_what_the_label_was_but_for_half_a_step(label):
    assert MARKS["1-5"].worth[MARKS["1-5"].written(label)] == pytest.approx(label, abs=0.125)


@given(LABELS, LABELS)
def test_a_higher_label_is_no_lower_mark(one, two):
    low, high = sorted((one, two))
    for name in ("1-5", "decimals"):
        assert MARKS[name].written(low) <= MARKS[name].written(high)


@pytest.mark.parametrize("name", MARKS)
def test_marks_go_from_0_to_1_in_even_steps(name):
    worth = list(MARKS[name].worth.values())
    assert (worth[0], worth[-1]) == (0, 1)
    steps = [two - one for one, two in pairwise(worth)]
    assert steps == pytest.approx([steps[0]] * len(steps))


@pytest.mark.parametrize("name", ["1-5", "yes_no"])
def test_what_is_read_is_worth_the_same_as_the_mark(name):
    marks = MARKS[name]
    for place, worth in enumerate(marks.worth.values()):
        assert marks.value(marks.scale.low + place) == worth


@pytest.mark.parametrize(
    ("name", "score"),
    [
        ("decimals", {"type": "number"}),
        ("1-5", {"type": "integer", "enum": [1, 2, 3, 4, 5]}),
        ("yes_no", {"type": "string", "enum": ["No", "Yes"]}),
    ],
)
def test_the_schema_holds_one_mark_and_nothing_else(name, score):
    schema = json.loads(MARKS[name].schema)
    assert schema["properties"] == {"score": score}
    assert schema["required"] == ["score"]
    assert schema["additionalProperties"] is False
