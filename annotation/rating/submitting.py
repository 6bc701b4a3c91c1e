"""A rater's actions on an assignment: save a draft, submit a stage, flag the article, correct an answer."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from annotation import protocol
from annotation.contradictions.rules import contradictions
from annotation.database.joined_rows import database_value, insert, prepared_cursor, update
from annotation.errors import (
    AssignmentGone,
    CampaignClosed,
    ContradictoryAnswers,
    InvalidAnswers,
    NotAllowed,
    StageClosed,
)
from annotation.events.recording import rater_data, record_event
from annotation.gold.checks import settle_check
from annotation.gold.qualified_languages import current_language
from annotation.gold.rounds import decide_when_finished
from annotation.guidelines.following import require_confirmed
from annotation.models import Answer, ArticleFlag, Assignment, Changed, Event, ProjectChange, Rater, Rating
from annotation.rating.assigning import claim_next, lock_active_rater, own_assignment, why_gone
from annotation.rating.desk import (
    LONGEST_COMMENT,
    Desk,
    GivenAnswer,
    Submission,
    current_answers,
    desk_at,
    draft_of,
)

ATTEMPTS = 3  # at a stage that something else changes at the same time
LOCKED = gettext_noop("These answers are locked because the next stage has been shown.")
FINISHED = gettext_noop("This rating is finished, so these answers were not saved.")


def submit_at(
    desk: Desk,
    stage: int,
    given: Mapping[str, GivenAnswer],
    now: datetime | None = None,
    *,
    keeps_contradictions: bool = False,
    takes_next: bool = False,
) -> Desk:
    """Store the answers of one stage, and open the next stage or finish the rating. Return the desk after it.

    Submitting the same answers again succeeds and changes nothing. A re-opened rating counts with its earlier
    answers until the last stage is submitted. Then an answer that differs from the earlier one is a new
    revision, and earlier answers to questions that are no longer asked are kept and do not count. With
    `takes_next`, the transaction that finishes a production rating also takes the next summary.

    Raises StageClosed if the stage or the rating is locked with other answers or the stage is not open yet,
    InvalidAnswers if a question is unanswered or answered off its scale, ContradictoryAnswers in production
    if the project wants that noticed and the rater has not said that they mean it (`keeps_contradictions`),
    AssignmentGone if the lease was lost, NotAllowed if the rater may not rate, and GuidelinesUnconfirmed if
    new guidelines were published since the stage was opened.
    """
    now = now or timezone.now()
    for _ in range(ATTEMPTS):
        if _is_stored(desk, stage, given):
            return desk
        step = _step_of(desk, stage, given, now, keeps_contradictions=keeps_contradictions)
        was_reopened = desk.assignment.state == Assignment.State.REOPENED
        counted_today = desk.is_counted_today
        with transaction.atomic():
            advanced = _advance(step)
            if advanced is not None:
                rating = _store(step, was_reopened=was_reopened)
                if not step.waiting:
                    desk.rated_today += int(rating.round_id is None and not counted_today)
                    _finish(step, rating, takes_next=takes_next and not advanced.holds_more)
                return desk
        desk = desk.again()
    raise StageClosed(
        gettext("Something else changed this summary while your answers were sent. Submit them again.")
    )


def _is_stored(desk: Desk, stage: int, given: Mapping[str, GivenAnswer]) -> bool:
    """Return whether the stage holds these answers already. Raises StageClosed and AssignmentGone."""
    assignment = desk.assignment
    is_done = assignment.state == Assignment.State.DONE
    if not is_done and assignment.state not in Assignment.HELD:
        raise AssignmentGone(why_gone(assignment))
    if is_done or stage < assignment.stage:
        stored = desk.given
        if all(key in stored and stored[key] == answer for key, answer in given.items()):
            return True
        raise StageClosed(gettext(FINISHED if is_done else LOCKED))
    if stage > assignment.stage:
        raise StageClosed(gettext("This stage is not open yet."))
    return False


@dataclass(frozen=True)
class _Step:
    """A stage's answers, checked against the desk as it was read, and what they lead to."""

    desk: Desk
    now: datetime
    waiting: Sequence[protocol.Question]
    """The questions that are asked next; none if the rating is finished."""
    submissions: Sequence[Submission]
    """The stages whose answers are stored now: none until a re-opened rating is answered to its end."""
    resubmitted: Sequence[dict[str, Any]] = ()


def _step_of(
    desk: Desk,
    stage: int,
    given: Mapping[str, GivenAnswer],
    now: datetime,
    *,
    keeps_contradictions: bool,
) -> _Step:
    assignment = desk.assignment
    guidelines = desk.require_guidelines().version_for(assignment.summary.article.language)
    sheet = _checked_sheet(desk.questionnaire, stage, desk.given, given)
    is_noticed = desk.rater.project.contradiction_notice and assignment.round_id is None
    if is_noticed and not keeps_contradictions:
        _point_out_contradictions(desk.questionnaire, sheet, given)
    followed = guidelines.pk if guidelines else None
    submission = Submission(stage, given, followed, assignment.stage_opened_at, now)
    waiting = protocol.open_questions(desk.questionnaire, sheet)
    if assignment.state == Assignment.State.OPEN:
        return _Step(desk, now, waiting, [submission])
    if waiting:
        return _Step(desk, now, waiting, [], [*assignment.resubmitted, submission.as_json])
    return _Step(desk, now, waiting, [*map(Submission.of_json, assignment.resubmitted), submission])


ADVANCE = """
UPDATE annotation_assignment SET {changes}
WHERE id = (
    SELECT assignment.id FROM annotation_assignment assignment
    JOIN annotation_rater rater ON rater.id = assignment.rater_id
    JOIN annotation_project project ON project.id = rater.project_id
    WHERE assignment.id = %s AND assignment.state = %s AND assignment.stage = %s
        AND rater.status IN ('training', 'qualified')
        AND project.archived_at IS NULL AND project.closed_at IS NULL
        AND (SELECT count(number) FROM annotation_guidelinesversion WHERE project_id = project.id) = %s
    {lock})
RETURNING EXISTS (
    SELECT 1 FROM annotation_assignment other
    WHERE other.rater_id = annotation_assignment.rater_id AND other.id <> annotation_assignment.id
        AND other.state IN ('open', 'reopened') AND other.round_id IS NULL)
"""


@dataclass(frozen=True)
class _Advanced:
    holds_more: bool
    """True if the rater holds other summaries in production."""


def _advance(step: _Step) -> _Advanced | None:
    """Move the assignment on and lock its rater. Return None if the desk is no longer as it was read."""
    desk, assignment = step.desk, step.desk.assignment
    changes: dict[str, Any] = {
        "draft": draft_of(step.waiting, desk.answers),
        "resubmitted": list(step.resubmitted),
    }
    if step.waiting:
        lease_end = step.now + timedelta(minutes=desk.rater.project.lease_minutes)
        changes["stage"] = step.waiting[0].stage
        changes["stage_opened_at"] = step.now
        changes["leased_until"] = max(assignment.leased_until, lease_end)
    else:
        changes["state"] = Assignment.State.DONE
    values: list[Any] = [database_value(Assignment, name, value) for name, value in changes.items()]
    statement = ADVANCE.format(
        changes=", ".join(f"{name} = %s" for name in changes),
        lock="FOR NO KEY UPDATE OF rater, assignment" if connection.features.has_select_for_update else "",
    )
    with prepared_cursor() as cursor:
        was: list[Any] = [assignment.pk, assignment.state, assignment.stage, desk.published]
        cursor.execute(statement, [*values, *was])
        moved = cursor.fetchone()
    if moved is None:
        return None
    for name, value in changes.items():
        setattr(assignment, name, value)
    return _Advanced(bool(moved[0]))


def _store(step: _Step, *, was_reopened: bool) -> Rating:
    """Store the answers of the step and the times of their stages, and finish the rating if nothing waits."""
    desk, assignment = step.desk, step.desk.assignment
    rating = desk.rating or Rating(
        summary=assignment.summary,
        rater=desk.rater,
        assignment=assignment,
        round=assignment.round,
        is_check=assignment.is_check,
        created_at=step.now,
    )
    rating.stage_times = [*rating.stage_times, *(submission.time for submission in step.submissions)]
    if not step.waiting:
        rating.completed_at = step.now
    if desk.rating is None:
        insert([rating])
        desk.rating = rating
    elif step.submissions:
        update(rating, "stage_times", "completed_at")
    if was_reopened and step.submissions:
        rating.answers.current().update(is_current=False)
        for answer in desk.answers.values():
            answer.is_current = False
    _store_answers(step, rating)
    return rating


def _store_answers(step: _Step, rating: Rating) -> None:
    """Store the answers of submitted stages. The same answer to a re-opened rating counts again."""
    questions = {question.key: question for question in rating.rater.project.questionnaire.questions.all()}
    earlier = step.desk.answers
    again, new = [], []
    for submission in step.submissions:
        revealed = any(answer.question.stage > submission.stage for answer in earlier.values())
        for key, answer in submission.given.items():
            value, comment, followed = answer.value, answer.comment.strip(), submission.guidelines_id
            before = earlier.get(key)
            if before and (before.value, before.comment, before.guidelines_id) == (value, comment, followed):
                before.is_current = True
                again.append(before.pk)
                continue
            new.append(
                Answer(
                    rating=rating,
                    question=questions[key],
                    value=value,
                    comment=comment,
                    revision=before.revision + 1 if before else 1,
                    after_reveal=revealed,
                    guidelines_id=followed,
                    created_at=submission.submitted_at,
                )
            )
    if again:
        Answer.objects.filter(pk__in=again).update(is_current=True)
    if new:
        insert(new)
    earlier.update((answer.question.key, answer) for answer in new)


def _finish(step: _Step, rating: Rating, *, takes_next: bool) -> None:
    """Settle a finished rating, take the next summary if it `takes_next`, and announce the rating."""
    desk, rater, round_ = step.desk, step.desk.rater, step.desk.assignment.round
    if round_ is not None:
        decide_when_finished(round_, step.now)
        return
    desk.last_rating, desk.last_is_gold = rating, desk.is_gold
    desk.has_reopened = False
    if rating.is_check:
        settle_check(rater, rating, desk.assignment.summary.article.language, step.now)
        takes_next = takes_next and rater.status == Rater.Status.QUALIFIED and rating.gold_shown_at is None
    if takes_next:
        chosen = current_language(rater)
        taken = claim_next(rater, [chosen] if chosen else rater.languages, step.now)
        if taken is not None:
            is_new = taken.created_at == step.now
            desk.next = desk.at_new(taken) if is_new else desk_at(rater, taken.pk)
    if not rating.is_check:
        if rater.project.wants_event(Event.Kind.RATING_FINISHED):
            record_event(rater.project, Event.Kind.RATING_FINISHED, _event_data(rating))
        _announce(rating)


def _event_data(rating: Rating) -> dict[str, object]:
    summary, rater = rating.summary, rating.rater
    return {
        "rating": rating.pk,
        "summary": {
            "id": summary.pk,
            "article": summary.article.external_id,
            "system": summary.system.name,
            "language": summary.article.language,
        },
        "rater": rater_data(rater),
    }


def _announce(rating: Rating) -> None:
    """Let readers read the rating anew. Raises CampaignClosed if the campaign was closed meanwhile."""
    if rating.rater.project.bump_revision(Changed(ProjectChange.Kind.RATING, rating.pk)):
        raise CampaignClosed


def latest_answers(rating: Rating) -> dict[str, Answer]:
    """Return question key -> its latest answer, also where a re-opened rating ended before its question."""
    rows = rating.answers.select_related("question").order_by("revision")
    return {answer.question.key: answer for answer in rows}


def _checked_sheet(
    questionnaire: protocol.Questionnaire,
    stage: int,
    stored: Mapping[str, GivenAnswer],
    given: Mapping[str, GivenAnswer],
) -> dict[str, str]:
    wrong = {}
    asked = {question.key for question in questionnaire.stage(stage)}
    for question in questionnaire.stage(stage):
        if question.key not in given or not given[question.key].value:
            wrong[question.key] = gettext("Answer this question.")
    for key, answer in given.items():
        if key not in asked:
            wrong[key] = gettext("This question is not part of the open stage.")
        if answer.comment_error:
            wrong[key] = answer.comment_error
    if wrong:
        raise InvalidAnswers(wrong)
    sheet = {key: answer.value for key, answer in {**stored, **given}.items()}
    _refuse_violations(questionnaire, sheet)
    return sheet


def _refuse_violations(questionnaire: protocol.Questionnaire, sheet: protocol.Sheet) -> None:
    violations = protocol.violations(questionnaire, sheet)
    if violations:
        raise InvalidAnswers({violation.question: violation.message for violation in violations})


def _point_out_contradictions(
    questionnaire: protocol.Questionnaire, sheet: protocol.Sheet, given: Mapping[str, GivenAnswer]
) -> None:
    """Raise ContradictoryAnswers if an answer that is just `given` contradicts another one."""
    reasons = {
        key: gettext(found.reason)
        for found in contradictions(questionnaire, sheet)
        for key in found.questions
        if not given.keys().isdisjoint(found.questions)
    }
    if reasons:
        raise ContradictoryAnswers(reasons)


def save_draft(rater: Rater, assignment_id: int, stage: int, given: Mapping[str, GivenAnswer]) -> None:
    """Save unsubmitted answers of the open stage, also for other devices.

    Answers that are stored already stay as they are. Raises StageClosed, AssignmentGone and NotAllowed as
    `submit_at`, and InvalidAnswers.
    """
    begun = {key: answer for key, answer in given.items() if answer.value or answer.comment}
    with transaction.atomic():
        rater = lock_active_rater(rater)
        assignment = own_assignment(rater, assignment_id)
        is_open = assignment.state in Assignment.HELD and stage == assignment.stage
        if not is_open and _is_stored(desk_at(rater, assignment_id), stage, begun):
            return
        questions = {question.key: question for question in rater.project.questionnaire.protocol.stage(stage)}
        wrong = {}
        for key, answer in given.items():
            if key not in questions:
                wrong[key] = gettext("This question is not part of the open stage.")
            elif answer.value and not questions[key].scale.admits(answer.value):
                wrong[key] = f"found {answer.value!r}, expected {questions[key].scale.expected}"
            elif answer.comment_error:
                wrong[key] = answer.comment_error
        if wrong:
            raise InvalidAnswers(wrong)
        assignment.draft = {key: asdict(answer) for key, answer in begun.items()}
        assignment.save(update_fields=["draft"])


def flag_article(rater: Rater, assignment_id: int, reason: str) -> ArticleFlag | None:
    """Flag the article with a reason, or remove the flag with an empty one. Another reason opens it again.

    Raises NotAllowed before the article has been shown.
    """
    with transaction.atomic():
        rater = lock_active_rater(rater)
        assignment = own_assignment(rater, assignment_id)
        if not rater.project.questionnaire.protocol.shows_article(assignment.stage):
            raise NotAllowed(gettext("An article can be flagged once it has been shown."))
        reason = reason.strip()[:LONGEST_COMMENT]
        if not reason:
            ArticleFlag.objects.filter(assignment=assignment).delete()
            return None
        flag, created = ArticleFlag.objects.get_or_create(assignment=assignment, defaults={"reason": reason})
        if not created and flag.reason != reason:
            flag.reason, flag.resolved_at, flag.resolved_by = reason, None, None
            flag.save(update_fields=["reason", "resolved_at", "resolved_by"])
        return flag


def correct_answer(
    rater: Rater, rating_id: int, question_key: str, answer: GivenAnswer, now: datetime | None = None
) -> Answer:
    """Add a new revision of one answer of a finished rating. Earlier ones are kept.

    It is marked `after_reveal` if a later stage has been shown. Raises NotAllowed if the project forbids
    corrections or is closed, for voided ratings, in gold rounds and once the gold answers of a check were
    shown, AssignmentGone for others' ratings, GuidelinesUnconfirmed, and InvalidAnswers if the sheet would no
    longer be complete and valid.
    """
    now = now or timezone.now()
    with transaction.atomic():
        rater = lock_active_rater(rater)
        rating = (
            Rating.objects.select_for_update(of=("self",))
            .select_related("summary__article", "assignment")
            .filter(pk=rating_id, rater=rater)
            .first()
        )
        if rating is None or rating.completed_at is None:
            raise AssignmentGone(gettext("You have no such finished rating."))
        if rating.voided_at is not None:
            raise NotAllowed(gettext("The project's manager voided this rating, so it stays as it is."))
        if rating.is_reopened:
            raise NotAllowed(gettext("You have re-opened this rating, so finish it instead."))
        if rating.round_id is not None or not rater.project.allow_corrections:
            raise NotAllowed(gettext("This rating cannot be corrected."))
        if rating.gold_shown_at is not None:
            raise NotAllowed(
                gettext("You have seen the expected answers, so this rating cannot be corrected.")
            )
        guidelines = require_confirmed(rater).version_for(rating.summary.article.language)
        questionnaire = rater.project.questionnaire.protocol
        latest = latest_answers(rating)
        stored = current_answers(latest)
        if question_key not in stored:
            raise InvalidAnswers({question_key: gettext("This question was not asked in this rating.")})
        if answer.comment_error:
            raise InvalidAnswers({question_key: answer.comment_error})
        sheet = {key: given.value for key, given in stored.items()} | {question_key: answer.value}
        _refuse_violations(questionnaire, sheet)
        if protocol.open_questions(questionnaire, sheet):
            raise InvalidAnswers(
                {question_key: gettext("This answer would require questions that were not asked.")}
            )
        previous = latest[question_key]
        if (previous.value, previous.comment) == (answer.value, answer.comment.strip()):
            return previous
        reached = max(questionnaire.question(key).stage for key in latest)
        Answer.objects.filter(pk=previous.pk).update(is_current=False)
        correction = Answer.objects.create(
            rating=rating,
            question=previous.question,
            value=answer.value,
            comment=answer.comment.strip(),
            revision=previous.revision + 1,
            after_reveal=reached > questionnaire.question(question_key).stage,
            guidelines=guidelines,
            created_at=now,
        )
        _announce(rating)
        return correction
