"""Converting labels to marks, and marks to scores."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.prompts.marks import MARKS

LABELS = st.floats(0, 1)


def test_label_is_written_as_the_nearest_mark(subtests):
    cases = [
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
    ]
    for marks, label, written in cases:
        with subtests.test(marks=marks, label=label, written=written):
            assert MARKS[marks].written(label) == written


@given(LABELS)
def test_mark_is_within_half_a_step_of_its_label(label):
    assert MARKS["1-5"].worth[MARKS["1-5"].written(label)] == pytest.approx(label, abs=0.125)


@given(LABELS, LABELS)
def test_marks_rise_with_labels(one, two):
    low, high = sorted((one, two))
    for name in ("1-5", "decimals"):
        assert MARKS[name].written(low) <= MARKS[name].written(high)


def test_marks_have_values_from_0_to_1_in_even_steps(subtests):
    for name in MARKS:
        with subtests.test(name=name):
            worth = list(MARKS[name].worth.values())
            assert (worth[0], worth[-1]) == (0, 1)
            steps = [two - one for one, two in pairwise(worth)]
            assert steps == pytest.approx([steps[0]] * len(steps))


@pytest.mark.parametrize("name", ["1-5", "yes_no"])
def test_value_read_from_a_reply_equals_the_marks_value(name):
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
def test_schema_has_only_one_mark(name, score):
    schema = json.loads(MARKS[name].schema)
    assert schema["properties"] == {"score": score}
    assert schema["required"] == ["score"]
    assert schema["additionalProperties"] is False
