"""The gold set: summaries with agreed answers, used to teach and qualify raters."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from annotation import protocol
from annotation.audit.actions import Action
from annotation.audit.log import record
from annotation.errors import DomainError, InvalidAnswers, NotFound
from annotation.models import (
    Assignment,
    GoldAnswer,
    GoldAnswerChange,
    GoldRating,
    Question,
    Rerating,
    Summary,
)
from annotation.open_places import recount_places, wanted_ratings

LONGEST_EXPLANATION = 2000  # characters
SHOWS_GOLD = Q(round__isnull=False) | Q(is_check=True)
"""Assignments of gold rounds and hidden checks. Their raters have seen the gold answers, or will."""


@dataclass(frozen=True)
class AgreedAnswer:
    value: str
    explanation: str


def set_gold_answers(
    summary: Summary, agreed: Mapping[str, AgreedAnswer], user: User | None = None
) -> GoldRating:
    """Do what `store_gold_answers` does, and record it in the audit log."""
    with transaction.atomic():
        record(Action.GOLD_STORED, summary.project, f"summary {summary.pk}")
        return store_gold_answers(summary, agreed, user)


def store_gold_answers(
    summary: Summary, agreed: Mapping[str, AgreedAnswer], user: User | None = None
) -> GoldRating:
    """Add `summary` to the gold set with these answers by question key, or change its gold answers.

    It is no longer assigned in production, but a rater who has it open may finish. Finished rounds keep
    their decisions, and changed answers are kept with `user`. Raises InvalidAnswers unless the answers are
    complete, valid and explained, and DomainError if the article has no text.
    """
    with transaction.atomic():
        locked = (
            Summary.objects.select_for_update(of=("self",))
            .select_related("article", "project__questionnaire")
            .get(pk=summary.pk)
        )
        if not locked.article.text:
            raise DomainError(
                "This summary's article has no text. Import the article before you make the summary gold."
            )
        if locked.withdrawn_at is not None:
            raise DomainError("This summary is withdrawn. Restore it before you make it gold.")
        _check(locked.project.questionnaire.protocol, agreed)
        gold, created = GoldRating.objects.get_or_create(summary=locked)
        if not created:
            _keep_changes(gold, agreed, user)
        gold.answers.exclude(question__key__in=list(agreed)).delete()
        questions = Question.objects.filter(questionnaire=locked.project.questionnaire_id, key__in=agreed)
        for question in questions:
            answer = agreed[question.key]
            GoldAnswer.objects.update_or_create(
                gold=gold,
                question=question,
                defaults={"value": answer.value, "explanation": answer.explanation.strip()},
            )
        Summary.objects.filter(pk=locked.pk).update(ratings_wanted=0, open_places=0)
        Rerating.objects.current().filter(summary=locked).update(ended_at=timezone.now())
        locked.project.bump_revision()
        return gold


def gold_answers_of(gold: GoldRating) -> dict[str, AgreedAnswer]:
    """Return the agreed answers by question key."""
    answers = gold.answers.select_related("question")
    return {each.question.key: AgreedAnswer(each.value, each.explanation) for each in answers}


def _check(questionnaire: protocol.Questionnaire, agreed: Mapping[str, AgreedAnswer]) -> None:
    wrong = {}
    for key, answer in agreed.items():
        if not answer.explanation.strip():
            wrong[key] = "Explain this answer. Raters learn from it after their round."
        elif len(answer.explanation) > LONGEST_EXPLANATION:
            wrong[key] = f"Found {len(answer.explanation)} characters. The limit is {LONGEST_EXPLANATION}."
    sheet = {key: answer.value for key, answer in agreed.items()}
    for violation in protocol.violations(questionnaire, sheet):
        wrong[violation.question] = violation.message
    for question in protocol.open_questions(questionnaire, sheet):
        wrong.setdefault(question.key, "Enter the agreed answer.")
    if wrong:
        raise InvalidAnswers(wrong)


def _keep_changes(gold: GoldRating, agreed: Mapping[str, AgreedAnswer], user: User | None) -> None:
    before = dict(gold.answers.values_list("question__key", "value"))
    after = {key: answer.value for key, answer in agreed.items()}
    questions = Question.objects.filter(questionnaire=gold.summary.project.questionnaire_id)
    now = timezone.now()
    GoldAnswerChange.objects.bulk_create(
        GoldAnswerChange(
            gold=gold,
            question=question,
            before=before.get(question.key, ""),
            after=after.get(question.key, ""),
            changed_at=now,
            changed_by=user,
        )
        for question in questions
        if before.get(question.key) != after.get(question.key)
    )


def used_in_rounds(summary: Summary) -> int:
    """Count the gold rounds and hidden checks with `summary`. Their raters have seen its answers, or will."""
    return Assignment.objects.filter(SHOWS_GOLD, summary=summary).count()


def remove_from_gold_set(summary: Summary, *, to_be_rated: bool) -> None:
    """Remove `summary` from the gold set. With `to_be_rated`, have it rated in production.

    A summary that a round has used is retired: new rounds leave it out, and past rounds keep its answers.
    Raises NotFound if it is not gold, and DomainError for `to_be_rated` if raters have seen its answers.
    """
    with transaction.atomic():
        locked = (
            Summary.objects.select_for_update(of=("self",))
            .select_related("article", "system", "project")
            .get(pk=summary.pk)
        )
        gold = GoldRating.objects.filter(summary=locked, retired_at__isnull=True).first()
        if gold is None:
            raise NotFound("This summary is not in the gold set.")
        used = used_in_rounds(locked)
        if used and to_be_rated:
            raise DomainError(
                "Raters have seen this summary's gold answers, so it cannot be rated in production."
            )
        if used:
            gold.retired_at = timezone.now()
            gold.save(update_fields=["retired_at"])
        else:
            gold.delete()
        if to_be_rated:
            wanted = wanted_ratings(locked.project, locked.article.external_id, locked.system.name)
            Summary.objects.filter(pk=locked.pk).update(ratings_wanted=wanted)
            recount_places([locked.pk])
        record(
            Action.GOLD_REMOVED, locked.project, f"summary {locked.pk}", details={"to_be_rated": to_be_rated}
        )
        locked.project.bump_revision()


def restore_to_gold_set(summary: Summary) -> None:
    """Return a retired `summary` to the gold set. Raises NotFound if it is not retired."""
    retired = GoldRating.objects.filter(summary=summary, retired_at__isnull=False)
    with transaction.atomic():
        if not retired.update(retired_at=None):
            raise NotFound("This summary was not retired from the gold set.")
        record(Action.GOLD_RESTORED, summary.project, f"summary {summary.pk}")
        summary.project.bump_revision()
