"""The part of an assignment that a rater may see at its stage. Rating pages are built from this alone.

It never holds the system's name, other raters' answers or scores. The article is None until its stage.
"""

from dataclasses import dataclass
from typing import Self

from annotation import protocol
from annotation.models import Article, Assignment
from annotation.rating.desk import Desk, GivenAnswer


@dataclass(frozen=True)
class ShownArticle:
    title: str
    text: str
    flag: str

    @classmethod
    def of(cls, article: Article, flag: str) -> Self:
        return cls(article.title, article.text, flag)

    @property
    def words(self) -> int:
        return len(self.text.split())


@dataclass(frozen=True)
class ShownAnswer:
    """A question with its draft or locked answer."""

    question: protocol.Question
    answer: GivenAnswer


@dataclass(frozen=True)
class ShownItem:
    assignment_id: int
    stage: int
    stage_titles: tuple[str, ...]
    language: str
    summary: str
    article: ShownArticle | None
    asked: tuple[ShownAnswer, ...]
    """The open questions, with drafts."""
    locked: tuple[ShownAnswer, ...]
    in_gold_round: bool
    is_reopened: bool


def shown_item(desk: Desk) -> ShownItem:
    """Return the desk's assignment as its rater may see it now."""
    questionnaire, assignment, stored = desk.questionnaire, desk.assignment, desk.given
    source = assignment.summary.article
    article = None
    if questionnaire.shows_article(assignment.stage):
        source.refresh_from_db(fields=["title", "text"])
        article = ShownArticle.of(source, desk.flag)
    return ShownItem(
        assignment_id=assignment.pk,
        stage=assignment.stage,
        stage_titles=questionnaire.stage_titles,
        language=source.language,
        summary=assignment.summary.text,
        article=article,
        asked=tuple(
            ShownAnswer(question, GivenAnswer(**assignment.draft.get(question.key, {"value": ""})))
            for question in questionnaire.stage(assignment.stage)
            if question.key not in stored
        ),
        locked=tuple(
            ShownAnswer(question, stored[question.key])
            for question in questionnaire.questions
            if question.key in stored
        ),
        in_gold_round=assignment.round_id is not None,
        is_reopened=assignment.state == Assignment.State.REOPENED,
    )
