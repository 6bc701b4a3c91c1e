import itertools
from dataclasses import replace

import pytest

from annotation import protocol
from annotation.protocol import (
    ONE_TO_FIVE,
    SEAHORSE,
    SUMMEVAL,
    YES_NO_UNSURE,
    Question,
    Questionnaire,
    Scale,
    ScaleKind,
    is_complete,
    open_questions,
    violations,
)

KEYS = [question.key for question in SEAHORSE.questions]
EVERY_SHEET = [
    {key: value for key, value in zip(KEYS, values, strict=True) if value}
    for values in itertools.product(["yes", "no", "unsure", ""], repeat=6)
]


def seahorse_rule_allows(sheet: dict[str, str]) -> bool:
    """Return whether the paper allows the sheet: stages in order, and Q1 = No ends the rating."""
    q1, rest = sheet.get("comprehensibility"), set(sheet) - {"comprehensibility"}
    if q1 is None or q1 == "no":
        return not rest
    against_article = rest & {"attribution", "main_ideas", "conciseness"}
    return not against_article or {"repetition", "grammar"} <= rest


def test_all_4096_sheets_follow_the_papers_rule():
    assert len(EVERY_SHEET) == 4096
    for sheet in EVERY_SHEET:
        assert (violations(SEAHORSE, sheet) == []) == seahorse_rule_allows(sheet), sheet


def test_a_sheet_is_complete_with_q1_no_alone_or_with_all_six_answers():
    complete = [sheet for sheet in EVERY_SHEET if is_complete(SEAHORSE, sheet)]
    assert len(complete) == 1 + 2 * 3**5
    assert all(sheet == {"comprehensibility": "no"} or len(sheet) == 6 for sheet in complete)


def test_open_questions_are_unanswered_and_of_one_stage():
    for sheet in EVERY_SHEET:
        if violations(SEAHORSE, sheet):
            continue
        waiting = open_questions(SEAHORSE, sheet)
        assert len({question.stage for question in waiting}) <= 1
        assert not {question.key for question in waiting} & set(sheet)


def test_answering_all_open_questions_completes_the_sheet():
    for first in ("yes", "no", "unsure"):
        sheet: dict[str, str] = {}
        while waiting := open_questions(SEAHORSE, sheet):
            sheet |= {question.key: first for question in waiting}
        assert is_complete(SEAHORSE, sheet)


def test_the_article_is_shown_from_the_third_stage_on():
    assert [SEAHORSE.shows_article(stage) for stage in (1, 2, 3)] == [False, False, True]


def test_summeval_asks_all_four_dimensions_at_once_with_the_article():
    assert [question.key for question in open_questions(SUMMEVAL, {})] == [
        "coherence",
        "consistency",
        "fluency",
        "relevance",
    ]
    assert SUMMEVAL.shows_article(1)
    assert is_complete(SUMMEVAL, {"coherence": "1", "consistency": "5", "fluency": "3", "relevance": "2"})


def test_a_likert_answer_off_the_scale_is_a_violation_that_names_the_scale(subtests):
    for value in ["0", "6", "3.5", "yes", "", " 3"]:
        with subtests.test(value=value):
            found = violations(SUMMEVAL, {"coherence": value})
            assert [(violation.question, "1, 2, 3, 4, 5" in violation.message) for violation in found] == [
                ("coherence", True)
            ]


def test_an_unknown_question_is_a_violation():
    assert [violation.question for violation in violations(SEAHORSE, {"beauty": "yes"})] == ["beauty"]


def test_unsure_contributes_no_number_to_a_label():
    assert [YES_NO_UNSURE.number(value) for value in ("yes", "no", "unsure")] == [1.0, 0.0, None]
    assert ONE_TO_FIVE.number("4") == 4.0


def test_an_interval_scale_admits_finite_numbers_in_its_range(subtests):
    cases = [("0.25", True), ("1", True), ("1.01", False), ("nan", False), ("inf", False), ("x", False)]
    for value, admitted in cases:
        with subtests.test(value=value, admitted=admitted):
            assert Scale(ScaleKind.INTERVAL, low=0, high=1).admits(value) is admitted


def test_an_unbounded_interval_scale_still_refuses_infinity_and_nan():
    scale = Scale(ScaleKind.INTERVAL)
    assert scale.admits("-3.2")
    assert not scale.admits("inf")
    assert not scale.admits("nan")
    assert not scale.admits("-1e61")


def question(key: str, stage: int) -> Question:
    return Question(key, key, key, key, stage=stage, scale=YES_NO_UNSURE)


@pytest.mark.parametrize(
    ("stages", "questions"),
    [
        (("one",), (question("a", 1), question("a", 1))),
        (("one", "two"), (question("a", 1),)),
        (("one", "two"), (question("a", 2), question("b", 1))),
        (("one",), (question("a", 2),)),
    ],
)
def test_a_malformed_questionnaire_is_refused(stages, questions):
    with pytest.raises(ValueError, match="questionnaire 'odd'"):
        Questionnaire("odd", "Odd", stages, questions)


@pytest.mark.parametrize("low_high", [(1, 1), (5, 1), (1.5, 3), (None, 3)])
def test_a_malformed_ordinal_scale_is_refused(low_high):
    with pytest.raises(ValueError, match="ordinal scale"):
        Scale(ScaleKind.ORDINAL, low=low_high[0], high=low_high[1])


def test_built_in_questionnaires_are_found_by_key():
    assert list(protocol.BUILT_IN) == ["seahorse", "summeval", "frank-errors", "yes-no"]
    assert all(questionnaire.key == key for key, questionnaire in protocol.BUILT_IN.items())


def changed(**fields) -> Questionnaire:
    """Return SummEval with its first question changed."""
    first, *others = SUMMEVAL.questions
    return replace(SUMMEVAL, questions=(replace(first, **fields), *others))


def test_a_change_that_raters_can_read_changes_the_fingerprint(subtests):
    cases = [
        changed(wording="Does it read well? (1 worst, 5 best)"),
        changed(title="Flow"),
        changed(scale=Scale(ScaleKind.ORDINAL, low=1, high=7)),
        changed(scale=Scale(ScaleKind.NOMINAL, ("yes", "no"), {"yes": 1.0, "no": 0.0})),
        changed(scale=Scale(ScaleKind.NOMINAL, ("yes", "no"), {"yes": 1.0, "no": -1.0})),
        replace(SUMMEVAL, questions=SUMMEVAL.questions[::-1]),
        replace(SUMMEVAL, stage_titles=("Read both",)),
    ]
    for other in cases:
        with subtests.test(other=other):
            everyone = [SUMMEVAL, SEAHORSE, other]
            assert len({protocol.wording_fingerprint(each) for each in everyone}) == 3


def test_the_same_wording_has_the_same_fingerprint_in_every_project():
    of_floats = replace(
        SUMMEVAL,
        questions=tuple(
            replace(q, scale=Scale(ScaleKind.ORDINAL, low=1.0, high=5.0)) for q in SUMMEVAL.questions
        ),
    )
    assert protocol.wording_fingerprint(replace(of_floats, key="copy")) == protocol.wording_fingerprint(
        SUMMEVAL
    )
    assert len(protocol.wording_fingerprint(SEAHORSE)) == 8
