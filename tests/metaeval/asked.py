"""The rows of the meta-evaluation, as tests ask for them."""

from collections.abc import Sequence
from dataclasses import fields

from annotation.models import Project
from metaeval.choices import MetaevalChoices
from metaeval.metaeval_report import metaeval_rows
from metaeval.method import NONE, Method

METHOD = {field.name for field in fields(Method)}


def rows_of(project: Project, **asked: object) -> list[dict[str, object]]:
    """The rows by the names of `Method` and `MetaevalChoices`, what is not named as on the page."""
    method = {name: value for name, value in asked.items() if name in METHOD}
    chosen = {name: value for name, value in asked.items() if name not in METHOD}
    return metaeval_rows(project, MetaevalChoices(**chosen), Method(**method))


def values_of(project: Project, *, only: Sequence[str] = (), **asked: object) -> list[dict[str, object]]:
    """The same without intervals and tests."""
    return rows_of(project, only=tuple(only), **{"interval": NONE, "test": NONE, **asked})
