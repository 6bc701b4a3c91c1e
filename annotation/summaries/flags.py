"""Raters' flags of articles: listing them, resolving them with a note, and opening them again."""

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from annotation.audit.actions import Action
from annotation.audit.log import record
from annotation.errors import DomainError, InvalidFields
from annotation.lookups import one_of
from annotation.models import ArticleFlag, Project
from annotation.permissions import Permission, require

LONGEST_NOTE = 2000  # characters


def flags_in(project: Project) -> QuerySet[ArticleFlag]:
    """Return the project's flags, open ones first, then newest first."""
    return (
        ArticleFlag.objects.filter(assignment__rater__project=project)
        .select_related("assignment__rater", "assignment__summary__article", "resolved_by")
        .defer("assignment__summary__text", "assignment__summary__article__text")
        .order_by(F("resolved_at").desc(nulls_first=True), "-created_at")
    )


def resolve_flag(project: Project, user: User, flag_id: int, note: str) -> ArticleFlag:
    """Resolve a flag, saying what was done. Resolving it again replaces the note.

    Raises NotAllowed or NotFound unless `user` manages the project, and InvalidFields without a note or with
    one that is too long.
    """
    require(user, project, Permission.MANAGE_PROJECT)
    note = note.strip()
    if not note:
        raise InvalidFields({"note": "Say what was done, for whoever reads the flag later."})
    if len(note) > LONGEST_NOTE:
        raise InvalidFields({"note": f"Found {len(note)} characters. The limit is {LONGEST_NOTE}."})
    flag = one_of(flags_in(project), flag_id, "flag")
    flag.resolved_at, flag.resolved_by, flag.note = timezone.now(), user, note
    with transaction.atomic():
        flag.save(update_fields=["resolved_at", "resolved_by", "note"])
        record(Action.FLAG_RESOLVED, project, f"flag {flag.pk}", reason=note)
    return flag


def reopen_flag(project: Project, user: User, flag_id: int) -> ArticleFlag:
    """Open a resolved flag again. Its note is kept.

    Raises NotAllowed or NotFound as `resolve_flag`, and DomainError if it is open.
    """
    require(user, project, Permission.MANAGE_PROJECT)
    flag = one_of(flags_in(project), flag_id, "flag")
    if flag.resolved_at is None:
        raise DomainError("This flag is already open.")
    flag.resolved_at, flag.resolved_by = None, None
    with transaction.atomic():
        flag.save(update_fields=["resolved_at", "resolved_by"])
        record(Action.FLAG_REOPENED, project, f"flag {flag.pk}")
    return flag
