"""The dimensions that a project's judges can score, and their descriptions."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from annotation.declared.settings import settings_of
from annotation.models import Project
from annotation.permissions import Permission, require
from scoring.contract.evaluator import GENERAL, Evaluator
from scoring.errors import InvalidDimension
from scoring.models import JudgedDimension
from scoring.prompts.dimensions import (
    Dimension,
    read_descriptions,
    ready_dimensions,
    single_line,
    write_descriptions,
)

NOT_IN_NAMES = "=;,"
"""Characters that separate names and descriptions in written parameters."""
WORDS = {"dimensions", "sees", "descriptions"}
"""Parameters of an evaluator that takes descriptions of dimensions."""


class DimensionSource(StrEnum):
    """The source of a dimension's description; earlier members override later ones."""

    PROJECT = "project"
    READY = "ready"
    QUESTION = "question"


@dataclass(frozen=True)
class KnownDimension:
    """A dimension that a run can name without describing it."""

    dimension: Dimension
    source: DimensionSource
    questions: tuple[str, ...]
    """Titles of the project's questions that measure it."""
    own: JudgedDimension | None = None

    @property
    def replaces_ready(self) -> bool:
        return self.own is not None and self.dimension.name in ready_dimensions()


def known_dimensions(project: Project) -> list[KnownDimension]:
    """Return the custom dimensions, the built-in ones, then those that only questions measure."""
    questions = [each.protocol for each in project.questionnaire.questions.all()]
    found: dict[str, KnownDimension] = {}

    def add(dimension: Dimension, source: DimensionSource, own: JudgedDimension | None = None) -> None:
        titles = tuple(each.title for each in questions if each.dimension == dimension.name)
        found.setdefault(dimension.name, KnownDimension(dimension, source, titles, own))

    for own in JudgedDimension.objects.filter(project=project):
        described = Dimension(own.name, own.sees, single_line(own.description))
        add(described, DimensionSource.PROJECT, own)
    for ready in ready_dimensions().values():
        add(ready, DimensionSource.READY)
    for asked in questions:
        sees = "article" if asked.needs_article else "summary"
        add(Dimension(asked.dimension, sees, single_line(asked.wording)), DimensionSource.QUESTION)
    return list(found.values())


def add_dimension(project: Project, user: User, *, name: str, description: str, sees: str) -> JudgedDimension:
    """Add a custom dimension, which overrides a built-in one of the same name.

    `sees` is a JudgedDimension.Sees. Raises InvalidDimension with the invalid fields, and as `require`.
    """
    dimension = JudgedDimension(project=project)
    return change_dimension(dimension, user, name=name, description=description, sees=sees)


def change_dimension(
    dimension: JudgedDimension, user: User, *, name: str, description: str, sees: str
) -> JudgedDimension:
    """Change a dimension for new runs. Raises as `add_dimension`."""
    require(user, dimension.project, Permission.MANAGE_PROJECT)
    name, description = single_line(name), single_line(description)
    others = JudgedDimension.objects.filter(project=dimension.project).exclude(pk=dimension.pk)
    wrong = _wrong(name, description, sees, set(others.values_list("name", flat=True)))
    if wrong:
        raise InvalidDimension(wrong)
    dimension.name, dimension.description, dimension.sees = name, description, sees
    dimension.changed_by = user
    try:
        with transaction.atomic():
            dimension.save()
    except IntegrityError as error:  # added by somebody else meanwhile
        raise InvalidDimension({"name": _taken(name)}) from error
    return dimension


def remove_dimension(dimension: JudgedDimension, user: User) -> None:
    """Delete a custom dimension. Existing runs keep its description. Raises as `require`."""
    require(user, dimension.project, Permission.MANAGE_PROJECT)
    dimension.delete()


def with_words_of(project: Project, evaluator: type[Evaluator], given: Mapping[str, Any]) -> dict[str, Any]:
    """Complete `given` parameters with the project's descriptions of the run's dimensions.

    They thereby become part of the run's fingerprint. Built-in dimensions need none. Invalid parameters are
    left as they are, for `read_params` to refuse.
    """
    completed = dict(given)
    if not {each.name for each in settings_of(evaluator.Params)} >= WORDS:
        return completed
    known = {each.dimension.name: each for each in known_dimensions(project)}
    asked = _listed(given.get("dimensions")) or [name for name, each in known.items() if each.questions]
    words = {
        name: known[name].dimension
        for name in asked
        if name in known and known[name].source is not DimensionSource.READY
    }
    entries = _listed(given.get("sees"))
    seen = {entry.rpartition("=")[0] for entry in entries}
    added = [f"{name}={each.sees}" for name, each in words.items() if name not in seen]
    if added:
        completed["sees"] = [*entries, *added]
    if given.get("prompt") == "described":
        completed |= _with_descriptions(given, words)
    return completed


def _with_descriptions(given: Mapping[str, Any], words: Mapping[str, Dimension]) -> dict[str, str]:
    try:
        said = read_descriptions(given.get("descriptions") or "")
    except (ValueError, TypeError):
        return {}
    described = {name: each.description for name, each in words.items()}
    return {"descriptions": write_descriptions(described | said)} if described.keys() - said.keys() else {}


def _listed(found: Any) -> list[str]:
    """Return a list of texts as `scoring.contract.params` reads it; empty if it is invalid."""
    parts = found.split(",") if isinstance(found, str) else found
    if not isinstance(parts, list | tuple) or not all(isinstance(each, str) for each in parts):
        return []
    return [each.strip() for each in parts if each.strip()]


def _wrong(name: str, description: str, sees: str, taken: Collection[str]) -> dict[str, str]:
    wrong = {}
    if problem := _wrong_name(name, taken):
        wrong["name"] = problem
    longest = JudgedDimension._meta.get_field("description").max_length or 0
    if not description:
        wrong["description"] = "Enter a question that a good summary answers with yes."
    elif len(description) > longest:
        wrong["description"] = f"Found {len(description):,} characters, expected at most {longest:,}."
    if sees not in JudgedDimension.Sees.values:
        wrong["sees"] = f"Found {sees!r}, expected one of {', '.join(JudgedDimension.Sees.values)}."
    return wrong


def _wrong_name(name: str, taken: Collection[str]) -> str | None:
    longest = JudgedDimension._meta.get_field("name").max_length or 0
    found = [each for each in NOT_IN_NAMES if each in name]
    if not name:
        return "Enter a name, such as focus."
    if len(name) > longest:
        return f"Found {len(name)} characters, expected at most {longest}."
    if found:
        return f"Found {found[0]!r}, expected a name without any of {' '.join(NOT_IN_NAMES)}"
    if name.casefold() == GENERAL:
        return f"{GENERAL!r} is reserved for scores of no particular dimension. Choose another name."
    if name.casefold() in {each.casefold() for each in taken}:
        return _taken(name)
    return None


def _taken(name: str) -> str:
    return f"The project has a dimension called {name!r}. Edit it or choose another name."
