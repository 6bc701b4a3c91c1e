import pytest

from annotation import protocol
from annotation.importers.records import AnswerRecord
from annotation.importers.sheets import SheetReader, value_on_scale
from annotation.protocol import ONE_TO_FIVE, SEAHORSE, SUMMEVAL, YES_NO_UNSURE, Scale, ScaleKind

INTERVAL = Scale(ScaleKind.INTERVAL)
ALL = ("comprehensibility", "repetition", "grammar", "attribution", "main_ideas", "conciseness")


def answers(**given):
    return {name: AnswerRecord(value, "", 1, name) for name, value in given.items()}


def read(questionnaire, *, complete=False, **given):
    values, faults = SheetReader(questionnaire).read(answers(**given), complete=complete)
    return dict(values), {fault.question: fault.expected for fault in faults}


@pytest.mark.parametrize(
    ("scale", "found", "value"),
    [
        (YES_NO_UNSURE, "yes", "yes"),
        (YES_NO_UNSURE, "YES", "yes"),
        (YES_NO_UNSURE, "1", "yes"),
        (YES_NO_UNSURE, "0.0", "no"),
        (YES_NO_UNSURE, "0.5", None),
        (YES_NO_UNSURE, "maybe", None),
        (ONE_TO_FIVE, "4", "4"),
        (ONE_TO_FIVE, "4.0", "4"),
        (ONE_TO_FIVE, "4.5", None),
        (ONE_TO_FIVE, "6", None),
        (ONE_TO_FIVE, "0", None),
        (INTERVAL, "2.6666666666666665", "2.6666666666666665"),
        (INTERVAL, "-1e3", "-1000"),
        (INTERVAL, "0.33333333333333333333333333333333333333", "0.3333333333333333"),
        (INTERVAL, "nan", None),
        (INTERVAL, "inf", None),
        (INTERVAL, "much", None),
        (INTERVAL, "", None),
        (Scale(ScaleKind.INTERVAL, low=0, high=1), "1.01", None),
    ],
)
def test_a_value_is_brought_to_the_scale_or_refused(scale, found, value):
    assert value_on_scale(scale, found) == value


def test_a_sheet_is_put_into_the_order_of_the_questionnaire():
    values, faults = SheetReader(SUMMEVAL).read(answers(relevance="5", coherence="1"), complete=False)
    assert values == (("coherence", "1"), ("relevance", "5"))
    assert not faults


def test_questions_are_known_by_dimension_and_in_any_case():
    reader = SheetReader(SEAHORSE)
    assert reader.question("Main Ideas") == SEAHORSE.question("main_ideas")
    assert reader.question("quality") is None


def test_every_sheet_of_the_protocol_is_judged_as_the_protocol_does():
    """All 4,096 sheets of six questions with yes, no, unsure or nothing."""
    reader = SheetReader(SEAHORSE)
    for number in range(4**6):
        sheet = {}
        for place, key in enumerate(ALL):
            value = ("yes", "no", "unsure", None)[number // 4**place % 4]
            if value is not None:
                sheet[key] = value
        _, faults = reader.read(answers(**sheet), complete=True)
        assert bool(faults) != protocol.is_complete(SEAHORSE, sheet), sheet
        _, loose = reader.read(answers(**sheet), complete=False)
        assert bool(loose) == bool(protocol.violations(SEAHORSE, sheet)), sheet


def test_a_missing_answer_is_told_with_why_it_was_asked():
    _, faults = read(SEAHORSE, complete=True, comprehensibility="yes")
    assert faults["repetition"] == "an answer: it is asked because Comprehensible is not no"
    _, faults = read(SEAHORSE, complete=True)
    assert faults["comprehensibility"] == "an answer: this question is always asked"


def test_an_answer_after_the_end_is_told():
    _, faults = read(SEAHORSE, comprehensibility="no", grammar="yes")
    assert faults == {
        "grammar": "must stay unanswered: Comprehensible was answered 'no', which ends the rating"
    }


def test_an_unknown_question_is_told_with_those_there_are():
    _, faults = read(SUMMEVAL, quality="1")
    assert faults == {"quality": "one of coherence, consistency, fluency, relevance"}


def test_two_names_of_one_question_are_told():
    _, faults = read(SEAHORSE, comprehensibility="yes", Comprehensibility="no")
    assert "one answer, not also that to comprehensibility" in faults["Comprehensibility"]
