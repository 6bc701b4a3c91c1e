"""Shortcuts to the rows of the comparison."""

from collections.abc import Sequence
from dataclasses import fields

from annotation.models import Project
from metaeval.comparison.report import comparison_table
from metaeval.live.choices import ComparisonChoices
from metaeval.snapshot.snapshot import snapshot_of
from metaeval.stats.method import NONE, Method

METHOD = {field.name for field in fields(Method)}


def rows_of(project: Project, **asked: object) -> list[dict[str, object]]:
    """Return the comparison's rows for these fields of `Method` and `ComparisonChoices`."""
    method = {name: value for name, value in asked.items() if name in METHOD}
    chosen = {name: value for name, value in asked.items() if name not in METHOD}
    is_live = snapshot_of(project).is_live
    return comparison_rows(project, ComparisonChoices(**chosen), Method(**method, is_live=is_live))


def values_of(project: Project, *, only: Sequence[str] = (), **asked: object) -> list[dict[str, object]]:
    """Return the same rows without intervals and tests."""
    return rows_of(project, only=tuple(only), **{"interval": NONE, "test": NONE, **asked})


def comparison_rows(project, choices, method):
    return comparison_table(snapshot_of(project), choices, method).rows()
