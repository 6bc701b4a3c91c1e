"""The languages in which a rater is qualified, and the one in which they work now."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Q
from django.utils import timezone
from django.utils.translation import gettext

from annotation.audit.actions import Action
from annotation.audit.log import record
from annotation.errors import DomainError, NotAllowed
from annotation.models import Project, Qualification, QualificationRound, Rater, Summary
from annotation.open_places import open_to, recount_places
from annotation.permissions import Permission, require


def qualified_languages(rater: Rater) -> list[str]:
    """Return the rater's languages in which they are qualified."""
    qualified = set(rater.qualifications.values_list("language", flat=True))
    return [language for language in rater.languages if language in qualified]


def current_language(rater: Rater) -> str:
    """Return the language in which the rater works now; empty if they have several and chose none."""
    if rater.chosen_language in rater.languages:
        return rater.chosen_language
    return rater.languages[0] if len(rater.languages) == 1 else ""


def work_languages(rater: Rater) -> list[str]:
    """Return the languages from which the rater gets production summaries now."""
    qualified = qualified_languages(rater)
    current = current_language(rater)
    return [language for language in qualified if current in ("", language)]


def choose_language(rater: Rater, language: str) -> None:
    """Let the rater work in `language`. A summary begun in another one waits until its lease ends.

    Raises DomainError unless it is one of the rater's languages.
    """
    if language not in rater.languages:
        message = gettext("%(language)s is not one of your languages. The project's manager can add it.")
        raise DomainError(message % {"language": repr(language)})
    Rater.objects.filter(pk=rater.pk).update(chosen_language=language)
    rater.chosen_language = language


class LanguageState(StrEnum):
    QUALIFIED = "qualified"
    ROUND_OPEN = "round open"
    ROUND_NEEDED = "round needed"
    NO_GOLD = "no gold summaries"


@dataclass(frozen=True)
class RaterLanguage:
    """One language of a rater, as they choose among them. `waiting` counts summaries that they may rate."""

    language: str
    state: LanguageState
    is_current: bool
    waiting: int


def rater_languages(rater: Rater) -> list[RaterLanguage]:
    """Return the rater's languages with what each needs before they can rate in it."""
    qualified = set(qualified_languages(rater))
    open_rounds = set(rater.rounds.filter(decided_at__isnull=True).values_list("language", flat=True))
    in_these = Q(article__language__in=rater.languages)
    gold = set(
        Summary.objects.in_new_rounds(rater.project)
        .filter(in_these)
        .order_by()
        .values_list("article__language", flat=True)
        .distinct()
    )
    waiting = dict(
        open_to(rater, qualified).order_by().values_list("article__language").annotate(Count("pk"))
    )
    current = current_language(rater)

    def state(language: str) -> LanguageState:
        if language in qualified:
            return LanguageState.QUALIFIED
        if language in open_rounds:
            return LanguageState.ROUND_OPEN
        return LanguageState.ROUND_NEEDED if language in gold else LanguageState.NO_GOLD

    return [
        RaterLanguage(language, state(language), language == current, waiting.get(language, 0))
        for language in rater.languages
    ]


def qualify_by_round(passed: QualificationRound, now: datetime) -> None:
    """Qualify the round's rater in its language."""
    _qualify(passed.rater, passed.language, now, {"round": passed})


def qualify_rater(rater: Rater, user: User, language: str) -> Qualification:
    """Qualify a rater in one of their languages without a passed round. Repeating it changes nothing.

    Raises NotAllowed and NotFound unless `user` manages the project's people, and DomainError for a language
    that the rater does not have.
    """
    require(user, rater.project, Permission.MANAGE_PEOPLE)
    with transaction.atomic():
        rater = _locked(rater)
        if language not in rater.languages:
            raise DomainError(f"{rater.pseudonym} does not rate in {language!r}. Add the language first.")
        if rater.status == Rater.Status.REMOVED:
            raise NotAllowed(f"{rater.pseudonym} is removed. Reinstate them first.")
        qualification, is_new = _qualify(rater, language, timezone.now(), {"decided_by": user})
        if is_new:
            record(Action.RATER_QUALIFIED, rater.project, rater, details={"language": language})
        return qualification


def withdraw_qualification(rater: Rater, user: User, language: str) -> None:
    """End a rater's qualification in a language, so that they need another round. Past ratings still count.

    A summary that they have open in this language goes back. Raises NotAllowed and NotFound as
    `qualify_rater`, and DomainError if the rater is not qualified in it.
    """
    require(user, rater.project, Permission.MANAGE_PEOPLE)
    with transaction.atomic():
        rater = _locked(rater)
        deleted, _ = rater.qualifications.filter(language=language).delete()
        if not deleted:
            raise DomainError(f"{rater.pseudonym} is not qualified in {language!r}.")
        held = rater.assignments.held().filter(round__isnull=True, summary__article__language=language)
        summaries = list(held.values_list("summary", flat=True))
        held.release()
        recount_places(summaries)
        renew_status(rater)
        record(Action.QUALIFICATION_WITHDRAWN, rater.project, rater, details={"language": language})


def qualified_raters(project: Project) -> dict[int, set[str]]:
    """Return rater id -> the languages in which they are qualified, for raters who are in any."""
    found: dict[int, set[str]] = {}
    rows = Qualification.objects.filter(rater__project=project).values_list("rater", "language")
    for rater_id, language in rows:
        found.setdefault(rater_id, set()).add(language)
    return found


def _locked(rater: Rater) -> Rater:
    return Rater.objects.select_for_update(of=("self",)).select_related("project").get(pk=rater.pk)


def _qualify(
    rater: Rater, language: str, now: datetime, how: dict[str, QualificationRound | User]
) -> tuple[Qualification, bool]:
    """Return the qualification and whether it is new."""
    qualification, is_new = Qualification.objects.get_or_create(
        rater=rater, language=language, defaults={"since": now, **how}
    )
    renew_status(rater)
    return qualification, is_new


def renew_status(rater: Rater) -> None:
    """Set the status, or the one that returns after a suspension or removal, by the rater's languages."""
    status = Rater.Status.QUALIFIED if qualified_languages(rater) else Rater.Status.TRAINING
    either = [Rater.Status.TRAINING, Rater.Status.QUALIFIED]
    mine = Rater.objects.filter(pk=rater.pk)
    mine.filter(status__in=either).update(status=status)
    mine.filter(status_before__in=either).exclude(status__in=either).update(status_before=status)
