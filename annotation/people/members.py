"""Members and raters: adding, suspending, removing and reinstating them."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext

from annotation.audit.actions import Action
from annotation.audit.log import record
from annotation.errors import DomainError, InvalidFields, NotAllowed
from annotation.events.recording import record_suspension
from annotation.gold.checks import lift_suspensions
from annotation.gold.qualified_languages import renew_status
from annotation.models import (
    Assignment,
    AuditEntry,
    Changed,
    Membership,
    Project,
    ProjectChange,
    Rater,
    Rating,
    Role,
    Summary,
)
from annotation.open_places import recount_places, taken_places
from annotation.permissions import Permission, may_stop_rating, require
from annotation.texts.language_codes import is_language_code


def remove_member(membership: Membership) -> None:
    """End a manager's or researcher's part in the project. Raises NotAllowed for its last manager."""
    with transaction.atomic():
        managers = Membership.objects.select_for_update().filter(
            project=membership.project_id, role=Role.MANAGER
        )
        if membership.role == Role.MANAGER and len(managers) == 1:
            raise NotAllowed("A project needs a manager: invite another one first.")
        record(Action.MEMBER_REMOVED, membership.project, membership)
        membership.delete()


def add_rater(project: Project, user: User, languages: Sequence[str]) -> Rater:
    """Make `user` a qualifying rater, or add languages to an existing rater."""
    rater = Rater.objects.filter(project=project, user=user).first()
    if rater is not None:
        rater.languages = sorted({*rater.languages, *languages})
        rater.save(update_fields=["languages"])
        return rater
    taken = set(Rater.objects.filter(project=project).values_list("pseudonym", flat=True))
    number = len(taken) + 1
    while f"rater-{number}" in taken:
        number += 1
    return Rater.objects.create(
        project=project, user=user, pseudonym=f"rater-{number}", languages=sorted(set(languages))
    )


def create_rater(project: Project, manager: User, username: str, languages: Sequence[str]) -> Rater:
    """Return a rater with a new account that has no password, so that only API tokens or a link open it.

    Raises NotAllowed or NotFound unless `manager` manages the project's people, and InvalidFields for a
    username that is taken or invalid and for invalid language codes.
    """
    require(manager, project, Permission.MANAGE_PEOPLE)
    user = User(username=username)
    user.set_unusable_password()
    wrong: dict[str, str] = {}
    try:
        user.full_clean()
    except ValidationError as invalid:
        wrong = {name: " ".join(messages) for name, messages in invalid.message_dict.items()}
    codes = [code for code in languages if not is_language_code(code)]
    if codes or not languages:
        wrong["languages"] = (
            f"found {', '.join(codes) or 'none'}; expected language codes such as de or pt-BR"
        )
    if wrong:
        raise InvalidFields(wrong)
    with transaction.atomic():
        user.save()
        rater = add_rater(project, user, languages)
        record(Action.RATER_ADDED, project, rater, details={"languages": rater.languages})
    return rater


def suspend_rater(rater: Rater, reason: str = "") -> None:
    """Stop a rater from rating. Their ratings still count."""
    with transaction.atomic():
        _change_status(
            rater, Rater.Status.SUSPENDED, allowed_from=[Rater.Status.TRAINING, Rater.Status.QUALIFIED]
        )
        _release_open(rater)
        record(Action.RATER_SUSPENDED, rater.project, rater, reason=reason)
        record_suspension(rater, by_checks=False)


@dataclass(frozen=True)
class Removal:
    """The effect of removing a rater: `ratings` no longer count, and `summaries` need a rating again."""

    ratings: int
    summaries: int


def effect_of_removal(rater: Rater) -> Removal:
    ratings = Rating.objects.countable().filter(rater=rater)
    touched = Q(pk__in=ratings.values("summary")) | Q(
        pk__in=rater.assignments.filter(state=Assignment.State.OPEN, round__isnull=True).values("summary")
    )
    rateable = Summary.objects.filter(project=rater.project_id).rateable().filter(touched)
    return Removal(
        ratings=ratings.count(),
        summaries=rateable.filter(ratings_wanted__gte=taken_places()).count(),
    )


def stop_rating(rater: Rater) -> None:
    """Suspend a manager or researcher who rates, at their own wish, so that they may see others' answers.

    Raises NotAllowed for all others.
    """
    if rater.user is None or not may_stop_rating(rater.user, rater.project):
        raise NotAllowed(
            gettext("Only managers and researchers who rate can stop by themselves. Ask a manager.")
        )
    suspend_rater(rater, "Stopped rating at their own wish.")


def remove_rater(rater: Rater, reason: str = "") -> None:
    """Stop counting a rater's ratings and free their summaries. Nothing is deleted."""
    with transaction.atomic():
        status = Rater.objects.select_for_update().get(pk=rater.pk).status
        if status == Rater.Status.REMOVED:
            return
        Rater.objects.filter(pk=rater.pk).update(status=Rater.Status.REMOVED, status_before=status)
        _release_open(rater)
        _recount_rated(rater)
        record(Action.RATER_REMOVED, rater.project, rater, reason=reason)
        rater.project.bump_revision(Changed(ProjectChange.Kind.RATER, rater.pk))


def reinstate_rater(rater: Rater, reason: str = "") -> None:
    """Undo `remove_rater`, or end a suspension."""
    with transaction.atomic():
        locked = Rater.objects.select_for_update().get(pk=rater.pk)
        if locked.status not in (Rater.Status.REMOVED, Rater.Status.SUSPENDED):
            raise NotAllowed(
                f"{locked.pseudonym} is {locked.get_status_display()}, so there is nothing to reinstate."
            )
        locked.status = locked.status_before or Rater.Status.TRAINING
        locked.status_before = ""
        locked.save(update_fields=["status", "status_before"])
        renew_status(locked)
        lift_suspensions(locked)
        _recount_rated(rater)
        record(Action.RATER_REINSTATED, rater.project, rater, reason=reason)
        rater.project.bump_revision(Changed(ProjectChange.Kind.RATER, rater.pk))


def _change_status(rater: Rater, to: Rater.Status, allowed_from: list[Rater.Status]) -> None:
    before = Rater.objects.values_list("status", flat=True).get(pk=rater.pk)
    if not Rater.objects.filter(pk=rater.pk, status__in=allowed_from).update(status=to, status_before=before):
        raise NotAllowed(f"{rater.pseudonym} is {before}, so they cannot become {to.label}.")


def set_rater_languages(rater: Rater, languages: Sequence[str]) -> None:
    """Change the languages that a rater rates in. Open summaries in other languages return to the pool.

    Ratings stay as they are. Raises DomainError if there is no language.
    """
    if not languages:
        raise DomainError("A rater needs at least one language. To stop their work, suspend them.")
    with transaction.atomic():
        locked = Rater.objects.select_for_update().get(pk=rater.pk)
        before, locked.languages = locked.languages, sorted(set(languages))
        if before == locked.languages:
            return
        locked.save(update_fields=["languages"])
        _release_open(rater, other_than=locked.languages)
        renew_status(locked)
        details = {"languages": {"before": before, "after": locked.languages}}
        record(Action.RATER_LANGUAGES_CHANGED, rater.project, rater, details=details)


def reasons_of(project: Project) -> dict[str, AuditEntry]:
    """Return the latest suspension or removal of each rater that has one, by pseudonym."""
    changes = project.audit_entries.filter(action__in=[Action.RATER_SUSPENDED, Action.RATER_REMOVED])
    return {entry.object: entry for entry in changes.order_by("pk")}


def _release_open(rater: Rater, other_than: Sequence[str] = ()) -> None:
    """Return the rater's open summaries to the pool, but not those in the languages `other_than`."""
    held = rater.assignments.held().filter(round__isnull=True)
    held = held.exclude(summary__article__language__in=other_than)
    summaries = list(held.values_list("summary", flat=True))
    held.release()
    recount_places(summaries)


def _recount_rated(rater: Rater) -> None:
    recount_places(Rating.objects.filter(rater=rater, round__isnull=True).values_list("summary", flat=True))
