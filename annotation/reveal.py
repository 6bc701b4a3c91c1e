"""What a rater may see of an assignment at its stage. Pages and API are built from this and nothing else.

The system's name, other raters' answers, scores, and whether a summary is gold are not part of it at all;
the article's text is None until its stage.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from annotation import protocol
from annotation.actions.rating import GivenAnswer, current_answers
from annotation.models import Assignment, Rating


@dataclass(frozen=True)
class ShownArticle:
    title: str
    text: str
    flag: str

    @property
    def words(self) -> int:
        return len(self.text.split())


@dataclass(frozen=True)
class AskedQuestion:
    """A question of the open stage, with what the draft holds for it."""

    question: protocol.Question
    draft: GivenAnswer


@dataclass(frozen=True)
class LockedAnswer:
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
    asked: tuple[AskedQuestion, ...]
    locked: tuple[LockedAnswer, ...]
    in_gold_round: bool


def shown_item(assignment: Assignment) -> ShownItem:
    """`assignment` as its rater may see it now."""
    questionnaire = assignment.rater.project.questionnaire.protocol
    stored = current_answers(Rating.objects.filter(assignment=assignment).first())
    source = assignment.summary.article
    article = None
    if questionnaire.shows_article(assignment.stage):
        flag = getattr(assignment, "flag", None)
        article = ShownArticle(source.title, source.text, flag.reason if flag else "")
    return ShownItem(
        assignment_id=assignment.pk,
        stage=assignment.stage,
        stage_titles=questionnaire.stage_titles,
        language=source.language,
        summary=assignment.summary.text,
        article=article,
        asked=tuple(
            AskedQuestion(question, _draft(assignment.draft, question.key))
            for question in questionnaire.stage(assignment.stage)
            if question.key not in stored
        ),
        locked=tuple(
            LockedAnswer(question, stored[question.key])
            for question in questionnaire.questions
            if question.key in stored
        ),
        in_gold_round=assignment.round_id is not None,
    )


def _draft(draft: Mapping[str, Mapping[str, str]], key: str) -> GivenAnswer:
    kept = draft.get(key, {})
    return GivenAnswer(kept.get("value", ""), kept.get("comment", ""))
