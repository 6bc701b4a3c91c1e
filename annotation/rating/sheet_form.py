"""Reading the fields of the rating page. `submitting` checks the answers."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.http import QueryDict
from django.utils.translation import gettext

from annotation.errors import DomainError
from annotation.lookups import read_number
from annotation.rating.desk import GivenAnswer
from annotation.rating.shown_item import ShownAnswer, ShownItem

ANSWER = "answer-"  # + question key
COMMENT = "comment-"


@dataclass(frozen=True)
class StageSheet:
    stage: int
    given: dict[str, GivenAnswer]
    keeps_contradictions: bool
    """True if the rater was asked about contradictory answers and submits again."""


def read_sheet(data: QueryDict) -> StageSheet:
    """Return the submitted stage. Raises DomainError if the form does not name one."""
    stage = read_number(data.get("stage", ""))
    if stage is None:
        raise DomainError(
            gettext("The form does not say which stage it answers. Reload the page and submit it again.")
        )
    keys = [name.split("-", 1)[1] for name in data if name.startswith((ANSWER, COMMENT))]
    return StageSheet(stage, {key: read_answer(data, key) for key in keys}, "contradictions" in data)


def read_answer(data: QueryDict, key: str) -> GivenAnswer:
    """Return the answer to one question, with its comment."""
    return GivenAnswer(data.get(ANSWER + key, ""), data.get(COMMENT + key, "").strip())


@dataclass(frozen=True)
class QuestionRow:
    """A question of the open stage on the page. `saved` says whether the server has this answer."""

    number: int
    asked: ShownAnswer
    answer: GivenAnswer
    saved: bool
    error: str


def question_rows(
    item: ShownItem, given: Mapping[str, GivenAnswer] | None = None, errors: Mapping[str, str] | None = None
) -> list[QuestionRow]:
    """Return the open questions with the draft, or with the answers that were refused."""
    rows = []
    for number, asked in enumerate(item.asked, start=len(item.locked) + 1):
        key = asked.question.key
        answer = asked.answer if given is None else given.get(key, GivenAnswer(""))
        saved = answer == asked.answer and bool(answer.value or answer.comment)
        rows.append(QuestionRow(number, asked, answer, saved, (errors or {}).get(key, "")))
    return rows
