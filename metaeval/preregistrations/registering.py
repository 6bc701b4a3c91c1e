"""Registering a claim about two evaluators before the result is known, and withdrawing it."""

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.audit.actions import Action
from annotation.audit.log import record
from annotation.errors import DomainError, NotFound
from annotation.lookups import one_of
from annotation.models import Project, Rating
from annotation.permissions import Permission, require
from metaeval.models import Preregistration
from metaeval.snapshot.arrays import ALL
from metaeval.snapshot.snapshot import snapshot_of
from metaeval.stats.check_choice import check_choice
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from scoring.models import Setup

LONGEST_NOTE = 500  # characters
MOST = 50
"""Preregistrations of a project: each makes the correction stricter for all."""


@dataclass(frozen=True)
class Statement:
    """A claim about two setups, given by their primary keys."""

    claim: str
    first: int
    second: int
    question: str
    """Key."""
    level: str
    coefficient: str
    margin: float = 0.0
    """The loss that still counts as good, above 0 and below 1; 0 for the claim of being better."""
    language: str = ALL
    group: str = ""
    note: str = ""


def preregister(project: Project, user: User, statement: Statement) -> Preregistration:
    """Store the statement with its time and the number of ratings so far.

    Raises NotAllowed or NotFound unless `user` may preregister in the project and the setups and the question
    are its own, and DomainError for a statement that is incomplete or was registered before, and once the
    campaign is closed.
    """
    require(user, project, Permission.PREREGISTER)
    _refuse_invalid(project, statement)
    with transaction.atomic():
        locked = Project.objects.select_for_update(of=("self",)).get(pk=project.pk)
        if locked.closed_at is not None:
            raise DomainError(
                "The campaign is closed: its results are known. Reopen it to collect new ratings."
            )
        first, second = (
            one_of(Setup.objects.filter(project=project), each, "evaluator")
            for each in (statement.first, statement.second)
        )
        stated = {
            "claim": statement.claim,
            "first": first,
            "second": second,
            "question_key": statement.question,
            "level": statement.level,
            "coefficient": statement.coefficient,
            "margin": statement.margin,
            "language": statement.language,
            "group": statement.group,
        }
        standing = Preregistration.objects.filter(project=project, withdrawn_at__isnull=True)
        if standing.filter(**stated).exists():
            raise DomainError("This is registered already.")
        if Preregistration.objects.filter(project=project).count() >= MOST:
            raise DomainError(f"A project has at most {MOST} preregistrations.")
        registered = Preregistration.objects.create(
            project=project,
            **stated,
            first_name=first.label,
            second_name=second.label,
            note=statement.note.strip(),
            registered_at=timezone.now(),
            registered_by=user,
            ratings_before=_ratings_so_far(project),
        )
        record(Action.COMPARISON_PREREGISTERED, project, registered, reason=registered.note)
        locked.bump_revision()
    return registered


def withdraw_preregistration(
    project: Project, user: User, preregistration_id: int, reason: str
) -> Preregistration:
    """Withdraw the preregistration with this primary key. It stays on record, with the reason.

    Raises NotAllowed or NotFound unless `user` may preregister in the project and it is the project's, and
    DomainError without a reason.
    """
    require(user, project, Permission.PREREGISTER)
    reason = reason.strip()
    if not reason:
        raise DomainError("Say why you withdraw it. The reason stays on record.")
    _refuse_long(reason)
    with transaction.atomic():
        locked = Project.objects.select_for_update(of=("self",)).get(pk=project.pk)
        registered = one_of(
            Preregistration.objects.filter(project=project), preregistration_id, "preregistration"
        )
        if registered.withdrawn_at is None:
            registered.withdrawn_at, registered.withdrawn_by = timezone.now(), user
            registered.withdrawn_because = reason
            registered.was_unseen = _ratings_so_far(project) == 0
            registered.save()
            record(Action.PREREGISTRATION_WITHDRAWN, project, registered, reason=reason)
            locked.bump_revision()
    return registered


def _refuse_invalid(project: Project, statement: Statement) -> None:
    check_choice("claim", statement.claim, Preregistration.Claim.values)
    check_choice("level", statement.level, tuple(LEVELS))
    check_choice("coefficient", statement.coefficient, tuple(COEFFICIENTS))
    snapshot = snapshot_of(project)
    check_choice("language", statement.language, (ALL, *snapshot.summaries.language_names))
    check_choice("group", statement.group, snapshot.human.group_choices)
    if statement.first == statement.second:
        raise DomainError("second: the same evaluator as the first")
    if not project.questionnaire.questions.filter(key=statement.question).exists():
        raise NotFound("This project has no such question.")
    if statement.claim == Preregistration.Claim.BETTER:
        if statement.margin:
            raise DomainError("margin: a claim of being better has none")
    elif not 0 < statement.margin < 1:
        raise DomainError(f"margin: found {statement.margin:g}, expected more than 0 and less than 1")
    _refuse_long(statement.note)


def _refuse_long(note: str) -> None:
    if len(note.strip()) > LONGEST_NOTE:
        raise DomainError(f"note: found {len(note.strip())} characters, expected at most {LONGEST_NOTE}")


def _ratings_so_far(project: Project) -> int:
    return Rating.objects.countable().filter(summary__project=project).count()
