"""A rater's desk: who they are, what they rate and what they have answered, read by one statement."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from itertools import accumulate
from typing import Any, Self, TypeVar

from django.contrib.auth.models import User
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop, ngettext

from annotation import protocol
from annotation.database.joined_rows import ModelColumns, database_value, prepared_cursor
from annotation.database.kept import kept
from annotation.errors import AssignmentGone
from annotation.guidelines.following import CurrentGuidelines, require_confirmed
from annotation.lookups import LARGEST_ID
from annotation.models import (
    Answer,
    Article,
    Assignment,
    Project,
    QualificationRound,
    Questionnaire,
    Rater,
    Rating,
    Session,
    Summary,
)
from annotation.rating.assigning import require_active, why_gone

M = TypeVar("M", bound=models.Model)

LONGEST_COMMENT = 2000  # characters
NOT_ASSIGNED = gettext_noop("This summary is not assigned to you.")


@dataclass(frozen=True)
class GivenAnswer:
    value: str
    comment: str = ""

    @property
    def comment_error(self) -> str:
        """Return why the comment cannot be stored; empty if it can."""
        if len(self.comment) <= LONGEST_COMMENT:
            return ""
        message = ngettext(
            "The comment has %(length)s character. The limit is %(limit)s.",
            "The comment has %(length)s characters. The limit is %(limit)s.",
            len(self.comment),
        )
        return message % {"length": len(self.comment), "limit": LONGEST_COMMENT}


@dataclass(frozen=True)
class Submission:
    """The answers of one stage. Those of a re-opened rating wait as `as_json` until all stages are there."""

    stage: int
    given: Mapping[str, GivenAnswer]
    guidelines_id: int | None
    opened_at: datetime
    submitted_at: datetime

    @property
    def time(self) -> dict[str, Any]:
        """Return an item of a rating's `stage_times`."""
        return {
            "stage": self.stage,
            "opened_at": self.opened_at.isoformat(),
            "submitted_at": self.submitted_at.isoformat(),
        }

    @property
    def as_json(self) -> dict[str, Any]:
        given = {key: asdict(answer) for key, answer in self.given.items()}
        return self.time | {"given": given, "guidelines": self.guidelines_id}

    @classmethod
    def of_json(cls, stored: dict[str, Any]) -> Self:
        return cls(
            stored["stage"],
            {key: GivenAnswer(**answer) for key, answer in stored["given"].items()},
            stored["guidelines"],
            datetime.fromisoformat(stored["opened_at"]),
            datetime.fromisoformat(stored["submitted_at"]),
        )


@dataclass(frozen=True)
class DailyGoal:
    """A rater's production ratings since midnight, server time, and the daily goal."""

    rated: int
    goal: int

    @property
    def is_reached(self) -> bool:
        return 0 < self.goal <= self.rated


def start_of_day(ago: int = 0) -> datetime:
    """Return the midnight, server time, that began today or the day so many days `ago`."""
    midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight - timedelta(days=ago)  # by the calendar, also where a day has 23 or 25 hours


@dataclass
class Desk:
    """One assignment of a rater, open or not, with all that its page and its submission need.

    The article's text is read when it is shown.
    """

    rater: Rater
    assignment: Assignment
    """The assignment, with its summary, article and round."""
    rating: Rating | None
    """The assignment's rating, begun or finished."""
    answers: dict[str, Answer]
    """Question key -> its latest answer, also where a re-opened rating ended before its question."""
    last_rating: Rating | None
    """The rating that the rater finished last here."""
    published: int
    """Versions of guidelines that the project has published."""
    rated_today: int
    flag: str
    is_gold: bool
    """True if the summary is in the gold set now."""
    last_is_gold: bool
    has_reopened: bool
    """True if the rater has re-opened a rating, which may be this one."""
    next: "Desk | None" = field(default=None, repr=False)
    """The desk of the assignment that follows this one, where it was taken with its last stage."""

    @property
    def questionnaire(self) -> protocol.Questionnaire:
        return self.rater.project.questionnaire.protocol

    @property
    def given(self) -> dict[str, GivenAnswer]:
        """Return the submitted answers by key; of a re-opened rating those that were submitted again."""
        if self.assignment.state == Assignment.State.REOPENED:
            return {
                key: answer
                for stored in self.assignment.resubmitted
                for key, answer in Submission.of_json(stored).given.items()
            }
        return current_answers(self.answers)

    @property
    def is_counted_today(self) -> bool:
        """Return whether `rated_today` has the desk's rating: it is re-opened and was finished today."""
        finished = self.rating.completed_at if self.rating else None
        is_reopened = self.assignment.state == Assignment.State.REOPENED
        return is_reopened and finished is not None and finished >= start_of_day()

    @property
    def day(self) -> DailyGoal:
        return DailyGoal(self.rated_today, self.rater.project.daily_goal)

    def require_guidelines(self) -> CurrentGuidelines:
        """Return the current guidelines. Raises GuidelinesUnconfirmed."""
        return require_confirmed(self.rater, self.published)

    def require_open(self) -> None:
        """Raise AssignmentGone unless the assignment is open, and GuidelinesUnconfirmed."""
        if self.assignment.state not in Assignment.HELD:
            raise AssignmentGone(why_gone(self.assignment))
        self.require_guidelines()

    def again(self) -> "Desk":
        """Return the desk as it is now. Raises as `desk_at`."""
        return desk_at(self.rater, self.assignment.pk)

    def at_new(self, assignment: Assignment) -> "Desk":
        """Return the desk for an assignment that was created after this one's rating was finished."""
        return replace(
            self,
            assignment=assignment,
            rating=None,
            answers={},
            flag="",
            is_gold=assignment.is_check,
            next=None,
        )


def current_answers(latest: Mapping[str, Answer]) -> dict[str, GivenAnswer]:
    return {key: given_answer(answer) for key, answer in latest.items() if answer.is_current}


def given_answer(answer: Answer) -> GivenAnswer:
    return GivenAnswer(answer.value, answer.comment)


def draft_of(
    questions: Iterable[protocol.Question], earlier: Mapping[str, Answer]
) -> dict[str, dict[str, str]]:
    """Return the earlier answers to these questions as an assignment's draft."""
    return {
        question.key: asdict(given_answer(earlier[question.key]))
        for question in questions
        if question.key in earlier
    }


RATER = ModelColumns(Rater, "rater")
PROJECT = ModelColumns(Project, "project")
ASSIGNMENT = ModelColumns(Assignment, "assignment")
SUMMARY = ModelColumns(Summary, "summary")
ARTICLE = ModelColumns(Article, "article", "language")
ROUND = ModelColumns(QualificationRound, "round")
RATING = ModelColumns(Rating, "rating")
LAST = ModelColumns(Rating, "last")
LAST_SUMMARY = ModelColumns(Summary, "last_summary", "withdrawn_at")
LAST_ROUND = ModelColumns(QualificationRound, "last_round", "decided_at")
ANSWER = ModelColumns(Answer, "answer")
PARTS = (RATER, PROJECT, ASSIGNMENT, SUMMARY, ARTICLE, ROUND, RATING, LAST, LAST_SUMMARY, LAST_ROUND, ANSWER)
*_STARTS, FURTHER = accumulate((part.width for part in PARTS), initial=0)
STARTS: dict[ModelColumns[Any], int] = dict(zip(PARTS, _STARTS, strict=True))
SCALARS = 6
READ = f"""
SELECT
    {", ".join(part.columns for part in PARTS)},
    (SELECT count(number) FROM annotation_guidelinesversion WHERE project_id = project.id),
    (SELECT count(*) FROM annotation_rating today
        WHERE today.rater_id = rater.id AND today.round_id IS NULL AND today.completed_at >= %(midnight)s),
    flag.reason,
    EXISTS (SELECT 1 FROM annotation_goldrating
        WHERE summary_id = summary.id AND retired_at IS NULL),
    EXISTS (SELECT 1 FROM annotation_goldrating
        WHERE summary_id = last.summary_id AND retired_at IS NULL),
    EXISTS (SELECT 1 FROM annotation_assignment again
        WHERE again.rater_id = rater.id AND again.state = 'reopened')
    {{further}}
FROM annotation_rater rater
JOIN annotation_project project ON project.id = rater.project_id
{{joined}}
LEFT JOIN annotation_assignment assignment
    ON assignment.rater_id = rater.id AND assignment.id = %(assignment)s
LEFT JOIN annotation_summary summary ON summary.id = assignment.summary_id
LEFT JOIN annotation_article article ON article.id = summary.article_id
LEFT JOIN annotation_qualificationround round ON round.id = assignment.round_id
LEFT JOIN annotation_articleflag flag ON flag.assignment_id = assignment.id
LEFT JOIN annotation_rating rating ON rating.assignment_id = assignment.id
LEFT JOIN annotation_answer answer ON answer.rating_id = rating.id
LEFT JOIN annotation_rating last ON last.id = (
    SELECT id FROM annotation_rating
    WHERE rater_id = rater.id AND completed_at IS NOT NULL AND assignment_id IS NOT NULL
    ORDER BY completed_at DESC, id DESC LIMIT 1)
LEFT JOIN annotation_summary last_summary ON last_summary.id = last.summary_id
LEFT JOIN annotation_qualificationround last_round ON last_round.id = last.round_id
WHERE {{where}}
ORDER BY answer.revision
"""  # noqa: S608 - names of columns
SESSION = ModelColumns(Session, "session")
PERSON = ModelColumns(User, "person")
OF_RATER = READ.format(further="", joined="", where="rater.id = %(rater)s")
IN_SESSION = READ.format(
    further=f", {SESSION.columns}, {PERSON.columns}",
    joined="""
JOIN auth_user person ON person.id = rater.user_id
JOIN annotation_session session ON session.user_id = person.id""",
    where="""
    project.slug = %(slug)s AND session.session_key = %(session)s AND session.expire_date > %(now)s""",
)


def desk_at(rater: Rater, assignment_id: int) -> Desk:
    """Return the rater's desk at this assignment.

    Raises NotAllowed if they are suspended or removed or the project is archived or closed, and
    AssignmentGone if it is not theirs.
    """
    return _desk_of(_rows(OF_RATER, assignment_id, rater=rater.pk))


@dataclass(frozen=True)
class FoundDesk:
    """A desk with the person and the session that led to it, both yet to be checked."""

    user: User
    session: Session
    _rows: Sequence[Sequence[Any]]

    @cached_property
    def project(self) -> Project:
        return _there(PROJECT, self._rows[0])

    @property
    def may_rate(self) -> bool:
        """Return whether the person's rater has the right to rate, suspended or not."""
        is_removed = _there(RATER, self._rows[0]).status == Rater.Status.REMOVED
        return not is_removed and self.project.archived_at is None

    def desk(self) -> Desk:
        """Return the desk. Raises as `desk_at`."""
        return _desk_of(self._rows)


def desk_in_session(session_key: str, slug: str, assignment_id: int) -> FoundDesk | None:
    """Return the desk of the session's user in a project; None without a session or a rater."""
    now = database_value(Session, "expire_date", timezone.now())
    rows = _rows(IN_SESSION, assignment_id, slug=slug, session=session_key, now=now)
    if not rows:
        return None
    session = SESSION.in_row(rows[0], FURTHER + SCALARS)
    return FoundDesk(PERSON.in_row(rows[0], FURTHER + SCALARS + SESSION.width), session, rows)


def _rows(statement: str, assignment_id: int, **values: Any) -> list[Sequence[Any]]:
    values |= {
        "assignment": min(assignment_id, LARGEST_ID),
        "midnight": database_value(Rating, "completed_at", start_of_day()),
    }
    with prepared_cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall()


def _desk_of(rows: Sequence[Sequence[Any]]) -> Desk:
    first = rows[0]
    found, project = _there(RATER, first), _there(PROJECT, first)
    found.project = project
    project.questionnaire = questionnaire_of(project.questionnaire_id)
    require_active(found)
    assignment = _if_any(ASSIGNMENT, first)
    if assignment is None:
        raise AssignmentGone(gettext(NOT_ASSIGNED))
    summary, round_ = _there(SUMMARY, first), _if_any(ROUND, first)
    summary.article = _there(ARTICLE, first)
    assignment.rater, assignment.summary, assignment.round = found, summary, round_
    rating, last = _if_any(RATING, first), _if_any(LAST, first)
    if rating is not None:
        rating.assignment, rating.rater, rating.summary, rating.round = assignment, found, summary, round_
    if last is not None:
        last.summary, last.round = _there(LAST_SUMMARY, first), _if_any(LAST_ROUND, first)
    questions = {question.pk: question for question in project.questionnaire.questions.all()}
    answers: dict[str, Answer] = {}
    for row in rows:
        answer = _if_any(ANSWER, row)
        if answer is not None:
            answer.question = questions[answer.question_id]
            answers[answer.question.key] = answer
    published, rated_today, flag, *truths = first[FURTHER : FURTHER + SCALARS]
    is_gold, last_is_gold, has_reopened = map(bool, truths)
    return Desk(
        rater=found,
        assignment=assignment,
        rating=rating,
        answers=answers,
        last_rating=last,
        published=published,
        rated_today=rated_today,
        flag=flag or "",
        is_gold=is_gold,
        last_is_gold=last_is_gold,
        has_reopened=has_reopened,
    )


def _there(part: ModelColumns[M], row: Sequence[Any]) -> M:
    return part.in_row(row, STARTS[part])


def _if_any(part: ModelColumns[M], row: Sequence[Any]) -> M | None:
    return part.if_any(row, STARTS[part])


@kept
def questionnaire_of(pk: int) -> Questionnaire:
    """Return a questionnaire with its questions, which never change."""
    return Questionnaire.objects.prefetch_related("questions").get(pk=pk)
