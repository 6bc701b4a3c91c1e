"""The changes of a project since a revision."""

from collections.abc import Collection
from dataclasses import dataclass

from annotation.models import Project, ProjectChange
from annotation.models.changes import KEPT_CHANGES


@dataclass(frozen=True)
class Changes:
    """Primary keys of the rows to read again."""

    ratings: Collection[int]
    raters: Collection[int]
    batches: Collection[int]
    setups: Collection[int]


def changes_since(project: Project, earlier: int, revision: int) -> Changes | None:
    """Return what changed between two revisions, or None if that is not known.

    None if one between them does not say.
    """
    if not earlier <= revision <= earlier + KEPT_CHANGES:
        return None
    by_kind: dict[str, set[int]] = {kind: set() for kind in ProjectChange.Kind.values}
    rows = list(
        ProjectChange.objects.filter(
            project=project, revision__gt=earlier, revision__lte=revision
        ).values_list("kind", "changed_id")
    )
    if len(rows) != revision - earlier:
        return None
    for kind, changed_id in rows:
        by_kind[kind].add(changed_id)
    return Changes(
        ratings=by_kind[ProjectChange.Kind.RATING],
        raters=by_kind[ProjectChange.Kind.RATER],
        batches=by_kind[ProjectChange.Kind.BATCH],
        setups=by_kind[ProjectChange.Kind.SETUP],
    )
