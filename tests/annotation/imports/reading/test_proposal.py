import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.imports.reading.proposal import CannotPropose, Survey
from annotation.imports.reading.records import AnswerRecord
from annotation.imports.reading.sheets import value_on_scale
from annotation.protocol import Scale, ScaleKind


def survey(*values, name="quality"):
    found = Survey()
    for line, value in enumerate(values, start=2):
        found.add({name: AnswerRecord(value, "", line, name)})
    return found


def scale(*values):
    (question,) = survey(*values).propose(interval=False).questions
    return question.scale


def test_a_scale_is_inferred_from_the_answers(subtests):
    cases = [
        (["Yes", "no"], Scale(ScaleKind.NOMINAL, ("yes", "no"), {"yes": 1.0, "no": 0.0})),
        (["no", "no"], Scale(ScaleKind.NOMINAL, ("yes", "no"), {"yes": 1.0, "no": 0.0})),
        (["no", "unsure", "yes"], Scale(ScaleKind.NOMINAL, ("yes", "no", "unsure"), {"yes": 1.0, "no": 0.0})),
        (["false", "true"], Scale(ScaleKind.NOMINAL, ("true", "false"), {"true": 1.0, "false": 0.0})),
        (["intrinsic", "extrinsic"], Scale(ScaleKind.NOMINAL, ("extrinsic", "intrinsic"))),
        (["1", "5", "3"], Scale(ScaleKind.ORDINAL, low=1, high=5)),
        (["0", "10.0"], Scale(ScaleKind.ORDINAL, low=0, high=10)),
        (["0", "11"], Scale(ScaleKind.INTERVAL)),
        (["0.5", "1"], Scale(ScaleKind.INTERVAL)),
        (["0.5"], Scale(ScaleKind.INTERVAL)),
        (["1", "good"], Scale(ScaleKind.NOMINAL, ("1", "good"))),
    ]
    for values, expected in cases:
        with subtests.test(values=values, expected=expected):
            assert scale(*values) == expected


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (["3", "3"], "two different ones"),
        (["good"], "two different ones"),
        ([f"text {number}" for number in range(30)], "more than 20 different words up to line 22"),
        (["good", "x" * 33], "more than 32 characters in line 3"),
        (["1", "na", "2", "NA"], "'na' in line 3 among numbers"),
        (["1", "1e61", "2", "1e99"], "'1e61' in line 3, expected numbers"),
    ],
)
def test_answers_that_fit_no_scale_are_refused_with_the_reason(values, reason):
    with pytest.raises(CannotPropose, match=reason):
        survey(*values).propose(interval=False)


def test_an_interval_scale_needs_numbers():
    with pytest.raises(CannotPropose, match="'good' in line 3, expected numbers"):
        survey("1", "good", "bad").propose(interval=True)


def test_answers_that_may_yet_make_a_scale_are_not_refused():
    numbers, words = survey(*map(str, range(30))), survey(*(f"text {number}" for number in range(20)))
    for found in (numbers, words):
        found.refuse_free_text("quality", interval=False)
    with pytest.raises(CannotPropose, match="expected numbers"):
        words.refuse_free_text("quality", interval=True)
    words.add({"quality": AnswerRecord("one more", "", 99, "quality")})
    with pytest.raises(CannotPropose, match="more than 20 different words up to line 99"):
        words.refuse_free_text("quality", interval=False)


def test_a_name_without_latin_letters_is_refused():
    with pytest.raises(CannotPropose, match="make a key of"):
        survey("1", "2", name="качество").propose(interval=False)


def test_two_names_with_the_same_key_are_refused():
    found = survey("1", "2", name="Main ideas")
    found.add({"main_ideas": AnswerRecord("1", "", 1, "x")})
    with pytest.raises(CannotPropose, match="it has the key of Main ideas"):
        found.propose(interval=True)


def test_the_same_questions_make_the_same_questionnaire():
    assert survey("1", "2").propose(interval=True) == survey("2", "1").propose(interval=True)
    assert survey("1", "2").propose(interval=True).key != survey("1", "2").propose(interval=False).key


NUMBERS = st.integers(-20, 20).map(str) | st.floats(allow_nan=False, allow_infinity=False).map(repr)


@given(st.lists(NUMBERS | st.sampled_from(["yes", "no", "Unsure", "good"]), min_size=1, max_size=8))
def test_an_inferred_scale_accepts_every_answer_it_came_from(values):
    try:
        found = scale(*values)
    except CannotPropose:
        return
    assert all(value_on_scale(found, value) is not None for value in values)
