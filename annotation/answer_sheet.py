"""The rating page's form: its fields, read into answers. The checks are the domain's."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.http import QueryDict

from annotation.actions.rating import GivenAnswer
from annotation.errors import DomainError
from annotation.reveal import AskedQuestion, ShownItem

ANSWER = "answer-"  # + question key
COMMENT = "comment-"


@dataclass(frozen=True)
class StageSheet:
    stage: int
    given: dict[str, GivenAnswer]


def read_sheet(data: QueryDict) -> StageSheet:
    """The stage that was sent; raises DomainError if it does not say which."""
    stage = data.get("stage", "")
    if not stage.isdecimal():
        raise DomainError("The form did not say which stage it answers. Reload the page and send it again.")
    keys = [name.split("-", 1)[1] for name in data if name.startswith((ANSWER, COMMENT))]
    return StageSheet(int(stage), {key: read_answer(data, key) for key in keys})


def read_answer(data: QueryDict, key: str) -> GivenAnswer:
    """The answer to one question, with its comment."""
    return GivenAnswer(data.get(ANSWER + key, ""), data.get(COMMENT + key, "").strip())


@dataclass(frozen=True)
class QuestionRow:
    """A question of the open stage as the page draws it. `saved`: the server holds this answer."""

    number: int
    asked: AskedQuestion
    answer: GivenAnswer
    saved: bool
    error: str


def question_rows(
    item: ShownItem, given: Mapping[str, GivenAnswer] | None = None, errors: Mapping[str, str] | None = None
) -> list[QuestionRow]:
    """The open questions with the draft, or with what was just sent and refused."""
    rows = []
    for number, asked in enumerate(item.asked, start=len(item.locked) + 1):
        key = asked.question.key
        answer = asked.draft if given is None else given.get(key, GivenAnswer(""))
        saved = answer == asked.draft and bool(answer.value or answer.comment)
        rows.append(QuestionRow(number, asked, answer, saved, (errors or {}).get(key, "")))
    return rows
