"""Deciding answers on which raters disagree, and withdrawing decisions.

A decision is visible to managers and researchers only, and labels use it where a reader chooses so.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation import protocol
from annotation.audit.actions import Action
from annotation.audit.log import record
from annotation.errors import DomainError, InvalidAnswers, NotFound
from annotation.lookups import one_of
from annotation.models import Adjudication, Changed, GoldAnswer, Project, ProjectChange, Rating, Summary
from annotation.models.adjudications import AdjudicationQuerySet
from annotation.permissions import Permission, require

LONGEST_DECISION_NOTE = 2000  # characters


@dataclass(frozen=True)
class DecidedAnswer:
    value: str
    note: str = ""


def decide_answers(
    project: Project, user: User, summary_id: int, decided: Mapping[str, DecidedAnswer]
) -> list[Adjudication]:
    """Decide answers about a summary by question key. Return the new decisions, which replace different ones.

    Raises NotAllowed or NotFound unless `user` may adjudicate and the summary is the project's, DomainError
    if no rating of it counts, and InvalidAnswers for unknown questions, answers off their scale and notes
    that are too long. Then nothing is decided.
    """
    require(user, project, Permission.ADJUDICATE)
    _check(project.questionnaire.protocol, decided)
    with transaction.atomic():
        summary = _locked(project, summary_id)
        if not Rating.objects.countable().filter(summary=summary).exists():
            raise DomainError("No rating of this summary counts, so there is nothing to decide yet.")
        now = timezone.now()
        current = {each.question.key: each for each in decisions_on(summary).current()}
        questions = {each.key: each for each in project.questionnaire.questions.all()}
        made = []
        for key, answer in decided.items():
            note = answer.note.strip()
            before = current.get(key)
            if before is not None and (before.value, before.note) == (answer.value, note):
                continue
            if before is not None:
                Adjudication.objects.filter(pk=before.pk).update(ended_at=now, ended_by=user)
            made.append(
                Adjudication.objects.create(
                    summary=summary,
                    question=questions[key],
                    value=answer.value,
                    note=note,
                    decided_by=user,
                    decided_at=now,
                )
            )
        if made:
            keys = sorted(each.question.key for each in made)
            record(Action.ANSWERS_DECIDED, project, f"summary {summary.pk}", details={"questions": keys})
            project.bump_revision(Changed(ProjectChange.Kind.DECISION, summary.pk))
        return made


def withdraw_decision(project: Project, user: User, summary_id: int, question_key: str) -> None:
    """Withdraw the decision on one question, and keep it as history.

    Raises NotAllowed as `decide_answers`, and NotFound without such a decision.
    """
    require(user, project, Permission.ADJUDICATE)
    with transaction.atomic():
        summary = _locked(project, summary_id)
        ended = (
            Adjudication.objects.current()
            .filter(summary=summary, question__key=question_key)
            .update(ended_at=timezone.now(), ended_by=user)
        )
        if not ended:
            raise NotFound("There is no decision on this question. It may have been withdrawn.")
        details = {"questions": [question_key]}
        record(Action.DECISION_WITHDRAWN, project, f"summary {summary.pk}", details=details)
        project.bump_revision(Changed(ProjectChange.Kind.DECISION, summary.pk))


def decisions_on(summary: Summary) -> AdjudicationQuerySet:
    """Return all decisions about a summary, oldest first, withdrawn ones included."""
    made = Adjudication.objects.filter(summary=summary)
    return made.select_related("question", "decided_by", "ended_by")


def settled_answers(project: Project) -> Iterator[tuple[int, str, str]]:
    """Yield (summary id, question key, answer) of each decision and each gold answer.

    A decision takes precedence. Answers of retired gold are left out.
    """
    decided = set()
    of_project = Adjudication.objects.current().filter(summary__project=project).order_by("pk")
    for summary_id, key, value in of_project.values_list("summary", "question__key", "value"):
        decided.add((summary_id, key))
        yield summary_id, key, value
    gold = GoldAnswer.objects.filter(gold__summary__project=project, gold__retired_at__isnull=True)
    for summary_id, key, value in gold.order_by("pk").values_list("gold__summary", "question__key", "value"):
        if (summary_id, key) not in decided:
            yield summary_id, key, value


def _check(questionnaire: protocol.Questionnaire, decided: Mapping[str, DecidedAnswer]) -> None:
    scales = {question.key: question.scale for question in questionnaire.questions}
    wrong = {}
    for key, answer in decided.items():
        if key not in scales:
            wrong[key] = f"This project has no question {key!r}."
        elif not scales[key].admits(answer.value):
            wrong[key] = f"Found {answer.value!r}, expected {scales[key].expected}."
        elif len(answer.note) > LONGEST_DECISION_NOTE:
            wrong[key] = f"The note has {len(answer.note)} characters. The limit is {LONGEST_DECISION_NOTE}."
    if wrong:
        raise InvalidAnswers(wrong)


def _locked(project: Project, summary_id: int) -> Summary:
    """Return the summary, locked, so that decisions about it do not overlap."""
    rows = Summary.objects.select_for_update(of=("self",), no_key=True)
    return one_of(rows.filter(project=project), summary_id, "summary")
