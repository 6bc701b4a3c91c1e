"""A rater's actions on an assignment: save a draft, submit a stage, flag the article, correct an answer."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Self

from django.db import transaction
from django.utils import timezone

from annotation import protocol
from annotation.contradictions.rules import contradictions
from annotation.errors import AssignmentGone, ContradictoryAnswers, InvalidAnswers, NotAllowed, StageClosed
from annotation.gold.checks import settle_check
from annotation.gold.rounds import decide_when_finished
from annotation.guidelines.following import require_confirmed
from annotation.models import (
    Answer,
    ArticleFlag,
    Assignment,
    Changed,
    Project,
    ProjectChange,
    Question,
    Rater,
    Rating,
)
from annotation.rating.assigning import lock_active_rater, own_assignment, why_gone

LONGEST_COMMENT = 2000  # characters
LOCKED = "These answers are locked because the next stage has been shown."
FINISHED = "This rating is finished, so these answers were not saved."


@dataclass(frozen=True)
class GivenAnswer:
    value: str
    comment: str = ""

    @property
    def comment_error(self) -> str:
        """Return why the comment cannot be stored; empty if it can."""
        if len(self.comment) <= LONGEST_COMMENT:
            return ""
        return f"The comment has {len(self.comment)} characters. The limit is {LONGEST_COMMENT}."


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


def submit_stage(
    rater: Rater,
    assignment_id: int,
    stage: int,
    given: Mapping[str, GivenAnswer],
    now: datetime | None = None,
    *,
    keeps_contradictions: bool = False,
) -> Assignment:
    """Store the answers of one stage, and open the next stage or finish the rating.

    Submitting the same answers again succeeds and changes nothing. A re-opened rating counts with its earlier
    answers until the last stage is submitted. Then an answer that differs from the earlier one is a new
    revision, and earlier answers to questions that are no longer asked are kept and do not count.

    Raises StageClosed if the stage or the rating is locked with other answers or the stage is not open yet,
    InvalidAnswers if a question is unanswered or answered off its scale, ContradictoryAnswers in production
    if the project wants that noticed and the rater has not said that they mean it (`keeps_contradictions`),
    AssignmentGone if the lease was lost, NotAllowed if the rater may not rate, and GuidelinesUnconfirmed if
    new guidelines were published since the stage was opened.
    """
    now = now or timezone.now()
    with transaction.atomic():
        rater = lock_active_rater(rater)
        assignment = own_assignment(rater, assignment_id)
        questionnaire = rater.project.questionnaire.protocol
        is_done = assignment.state == Assignment.State.DONE
        if not is_done and assignment.state not in Assignment.HELD:
            raise AssignmentGone(why_gone(assignment))
        rating = Rating.objects.filter(assignment=assignment).first()
        latest = latest_answers(rating)
        stored = _given_so_far(assignment, latest)
        if is_done or stage < assignment.stage:
            if all(key in stored and stored[key] == answer for key, answer in given.items()):
                return assignment
            raise StageClosed(FINISHED if is_done else LOCKED)
        if stage > assignment.stage:
            raise StageClosed("This stage is not open yet.")
        guidelines = require_confirmed(rater).version_for(assignment.summary.article.language)
        followed = guidelines.pk if guidelines else None
        submission = Submission(stage, given, followed, assignment.stage_opened_at, now)
        sheet = _checked_sheet(questionnaire, stage, stored, given)
        is_noticed = rater.project.contradiction_notice and assignment.round_id is None
        if is_noticed and not keeps_contradictions:
            _point_out_contradictions(questionnaire, sheet, given)
        if rating is None:
            rating = Rating.objects.create(
                summary=assignment.summary,
                rater=rater,
                assignment=assignment,
                round_id=assignment.round_id,
                is_check=assignment.is_check,
                created_at=now,
            )
        waiting = protocol.open_questions(questionnaire, sheet)
        if assignment.state == Assignment.State.OPEN:
            _store(rating, rater.project, [submission], latest)
        elif waiting:
            assignment.resubmitted = [*assignment.resubmitted, submission.as_json]
        else:
            rating.answers.current().update(is_current=False)
            again = [*map(Submission.of_json, assignment.resubmitted), submission]
            _store(rating, rater.project, again, latest)
            assignment.resubmitted = []
        assignment.draft = draft_of(waiting, latest)
        if waiting:
            assignment.stage = waiting[0].stage
            assignment.stage_opened_at = now
            assignment.leased_until = max(
                assignment.leased_until, now + timedelta(minutes=rater.project.lease_minutes)
            )
            rating.save(update_fields=["stage_times"])
            assignment.save()
            return assignment
        rating.completed_at = now
        rating.save(update_fields=["stage_times", "completed_at"])
        assignment.state = Assignment.State.DONE
        assignment.save()
        if assignment.round is not None:
            decide_when_finished(assignment.round, now)
        elif rating.is_check:
            settle_check(rater, rating, assignment.summary.article.language, now)
        else:
            rater.project.bump_revision(Changed(ProjectChange.Kind.RATING, rating.pk))
        return assignment


def given_so_far(assignment: Assignment) -> dict[str, GivenAnswer]:
    """Return the submitted answers by question key; of a re-opened rating those that were submitted again."""
    return _given_so_far(assignment, latest_answers(Rating.objects.filter(assignment=assignment).first()))


def _given_so_far(assignment: Assignment, latest: Mapping[str, Answer]) -> dict[str, GivenAnswer]:
    if assignment.state != Assignment.State.REOPENED:
        return _current(latest)
    return {
        key: answer
        for stored in assignment.resubmitted
        for key, answer in Submission.of_json(stored).given.items()
    }


def _current(latest: Mapping[str, Answer]) -> dict[str, GivenAnswer]:
    return {key: given_answer(answer) for key, answer in latest.items() if answer.is_current}


def latest_answers(rating: Rating | None) -> dict[str, Answer]:
    """Return question key -> its latest answer, also where a re-opened rating ended before its question."""
    if rating is None:
        return {}
    rows = rating.answers.select_related("question").order_by("revision")
    return {answer.question.key: answer for answer in rows}


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
            wrong[question.key] = "Answer this question."
    for key, answer in given.items():
        if key not in asked:
            wrong[key] = "This question is not part of the open stage."
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
        key: found.reason
        for found in contradictions(questionnaire, sheet)
        for key in found.questions
        if not given.keys().isdisjoint(found.questions)
    }
    if reasons:
        raise ContradictoryAnswers(reasons)


def _store(
    rating: Rating, project: Project, submissions: Sequence[Submission], earlier: Mapping[str, Answer]
) -> None:
    """Store the answers of submitted stages, and add their times to the unsaved rating.

    `earlier` holds the latest answers of a re-opened rating.
    """
    ids = dict(Question.objects.filter(questionnaire=project.questionnaire_id).values_list("key", "pk"))
    again, new = [], []
    for submission in submissions:
        revealed = any(answer.question.stage > submission.stage for answer in earlier.values())
        for key, answer in submission.given.items():
            value, comment, followed = answer.value, answer.comment.strip(), submission.guidelines_id
            before = earlier.get(key)
            if before and (before.value, before.comment, before.guidelines_id) == (value, comment, followed):
                again.append(before.pk)
                continue
            new.append(
                Answer(
                    rating=rating,
                    question_id=ids[key],
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
    Answer.objects.bulk_create(new)
    rating.stage_times = [*rating.stage_times, *(submission.time for submission in submissions)]


def save_draft(rater: Rater, assignment_id: int, stage: int, given: Mapping[str, GivenAnswer]) -> None:
    """Save unsubmitted answers of the open stage, also for other devices.

    Raises StageClosed unless `stage` is open, and InvalidAnswers.
    """
    with transaction.atomic():
        rater = lock_active_rater(rater)
        assignment = own_assignment(rater, assignment_id)
        if assignment.state not in Assignment.HELD or stage != assignment.stage:
            raise StageClosed("This stage is not open.")
        questions = {question.key: question for question in rater.project.questionnaire.protocol.stage(stage)}
        wrong = {}
        for key, answer in given.items():
            if key not in questions:
                wrong[key] = "This question is not part of the open stage."
            elif answer.value and not questions[key].scale.admits(answer.value):
                wrong[key] = f"found {answer.value!r}, expected {questions[key].scale.expected}"
            elif answer.comment_error:
                wrong[key] = answer.comment_error
        if wrong:
            raise InvalidAnswers(wrong)
        assignment.draft = {
            key: {"value": answer.value, "comment": answer.comment}
            for key, answer in given.items()
            if answer.value or answer.comment
        }
        assignment.save(update_fields=["draft"])


def flag_article(rater: Rater, assignment_id: int, reason: str) -> ArticleFlag | None:
    """Flag the article with a reason, or remove the flag with an empty one. Another reason opens it again.

    Raises NotAllowed before the article has been shown.
    """
    with transaction.atomic():
        rater = lock_active_rater(rater)
        assignment = own_assignment(rater, assignment_id)
        if not rater.project.questionnaire.protocol.shows_article(assignment.stage):
            raise NotAllowed("An article can be flagged once it has been shown.")
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
    corrections, for voided ratings, in gold rounds and once the gold answers of a check were shown,
    AssignmentGone for others' ratings, GuidelinesUnconfirmed, and InvalidAnswers if the sheet would no longer
    be complete and valid.
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
            raise AssignmentGone("You have no such finished rating.")
        if rating.voided_at is not None:
            raise NotAllowed("The project's manager voided this rating, so it stays as it is.")
        if rating.is_reopened:
            raise NotAllowed("You have re-opened this rating, so finish it instead.")
        if rating.round_id is not None or not rater.project.allow_corrections:
            raise NotAllowed("This rating cannot be corrected.")
        if rating.gold_shown_at is not None:
            raise NotAllowed("You have seen the expected answers, so this rating cannot be corrected.")
        guidelines = require_confirmed(rater).version_for(rating.summary.article.language)
        questionnaire = rater.project.questionnaire.protocol
        latest = latest_answers(rating)
        stored = _current(latest)
        if question_key not in stored:
            raise InvalidAnswers({question_key: "This question was not asked in this rating."})
        if answer.comment_error:
            raise InvalidAnswers({question_key: answer.comment_error})
        sheet = {key: given.value for key, given in stored.items()} | {question_key: answer.value}
        _refuse_violations(questionnaire, sheet)
        if protocol.open_questions(questionnaire, sheet):
            raise InvalidAnswers({question_key: "This answer would require questions that were not asked."})
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
        rater.project.bump_revision(Changed(ProjectChange.Kind.RATING, rating.pk))
        return correction
