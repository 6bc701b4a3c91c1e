from annotation import protocol
from annotation.imports.reading.records import AnswerRecord
from annotation.imports.reading.sheets import SheetReader, value_on_scale
from annotation.protocol import ONE_TO_FIVE, SEAHORSE, SUMMEVAL, YES_NO_UNSURE, Scale, ScaleKind

INTERVAL = Scale(ScaleKind.INTERVAL)
ALL = ("comprehensibility", "repetition", "grammar", "attribution", "main_ideas", "conciseness")


def answers(**given):
    return {name: AnswerRecord(value, "", 1, name) for name, value in given.items()}


def read(questionnaire, *, complete=False, **given):
    values, faults = SheetReader(questionnaire).read(answers(**given), complete=complete)
    return dict(values), {fault.question: fault.expected for fault in faults}


def test_a_value_is_converted_to_the_scale_or_refused(subtests):
    cases = [
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
    ]
    for scale, found, value in cases:
        with subtests.test(scale=scale, found=found, value=value):
            assert value_on_scale(scale, found) == value


def test_answers_are_sorted_in_questionnaire_order():
    values, faults = SheetReader(SUMMEVAL).read(answers(relevance="5", coherence="1"), complete=False)
    assert values == (("coherence", "1"), ("relevance", "5"))
    assert not faults


def test_questions_are_found_by_dimension_in_any_case():
    reader = SheetReader(SEAHORSE)
    assert reader.question("Main Ideas") == SEAHORSE.question("main_ideas")
    assert reader.question("quality") is None


def test_every_sheet_is_checked_as_the_protocol_checks_it():
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


def test_a_missing_answer_is_reported_with_the_reason_it_was_asked():
    _, faults = read(SEAHORSE, complete=True, comprehensibility="yes")
    assert faults["repetition"] == "an answer: it is asked because Comprehensible is not no"
    _, faults = read(SEAHORSE, complete=True)
    assert faults["comprehensibility"] == "an answer: this question is always asked"


def test_an_answer_after_the_end_of_the_rating_is_reported():
    _, faults = read(SEAHORSE, comprehensibility="no", grammar="yes")
    assert faults == {
        "grammar": "must stay unanswered: Comprehensible was answered 'no', which ends the rating"
    }


def test_an_unknown_question_is_reported_with_the_known_ones():
    _, faults = read(SUMMEVAL, quality="1")
    assert faults == {"quality": "one of coherence, consistency, fluency, relevance"}


def test_two_names_for_one_question_are_reported():
    _, faults = read(SEAHORSE, comprehensibility="yes", Comprehensibility="no")
    assert "one answer, not also that to comprehensibility" in faults["Comprehensibility"]
