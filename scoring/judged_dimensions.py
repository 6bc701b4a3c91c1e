"""The dimensions that a project's judges can be asked about, and the words in which they are asked."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from annotation.models import Project
from annotation.permissions import Permission, require
from scoring.contract import GENERAL, Evaluator
from scoring.errors import InvalidDimension
from scoring.judge.dimensions import (
    Dimension,
    read_descriptions,
    ready_dimensions,
    single_line,
    write_descriptions,
)
from scoring.models import JudgedDimension
from scoring.params import declared_params

NOT_IN_NAMES = "=;,"
"""Characters that separate names from what is said of them where parameters are written."""
WORDS = {"dimensions", "sees", "descriptions"}
"""Parameters of an evaluator that takes a judge's words."""


class Source(StrEnum):
    """Where a dimension's words come from; an earlier one goes before a later one."""

    PROJECT = "project"
    READY = "ready"
    QUESTION = "question"


@dataclass(frozen=True)
class Known:
    """A dimension that can be judged without saying more of it in a run."""

    dimension: Dimension
    source: Source
    questions: tuple[str, ...]
    """Titles of the project's questions that measure it: their labels are compared with its scores."""
    own: JudgedDimension | None = None

    @property
    def replaces_ready(self) -> bool:
        return self.own is not None and self.dimension.name in ready_dimensions()


def known_dimensions(project: Project) -> list[Known]:
    """The project's own dimensions, then the ready ones, then what questions measure that is neither."""
    questions = [each.protocol for each in project.questionnaire.questions.all()]
    found: dict[str, tuple[Dimension, Source, JudgedDimension | None]] = {
        each.name: (Dimension(each.name, each.sees, single_line(each.description)), Source.PROJECT, each)
        for each in JudgedDimension.objects.filter(project=project)
    }
    for name, ready in ready_dimensions().items():
        found.setdefault(name, (ready, Source.READY, None))
    for asked in questions:
        sees = "article" if asked.needs_article else "summary"
        worded = Dimension(asked.dimension, sees, single_line(asked.wording))
        found.setdefault(asked.dimension, (worded, Source.QUESTION, None))
    return [
        Known(dimension, source, tuple(each.title for each in questions if each.dimension == name), own)
        for name, (dimension, source, own) in found.items()
    ]


def add_dimension(project: Project, user: User, *, name: str, description: str, sees: str) -> JudgedDimension:
    """A dimension of the project's own; it goes before a ready one of the same name.

    `sees` is a value of JudgedDimension.Sees. Raises InvalidDimension, with the fields that are wrong, and
    what `require` raises.
    """
    require(user, project, Permission.MANAGE_PROJECT)
    dimension = JudgedDimension(project=project)
    _put(dimension, user, single_line(name), single_line(description), sees)
    return dimension


def change_dimension(
    dimension: JudgedDimension, user: User, *, name: str, description: str, sees: str
) -> JudgedDimension:
    """New words from the next run on; runs that are there keep theirs. Raises as `add_dimension` does."""
    require(user, dimension.project, Permission.MANAGE_PROJECT)
    _put(dimension, user, single_line(name), single_line(description), sees)
    return dimension


def remove_dimension(dimension: JudgedDimension, user: User) -> None:
    """Runs that are there keep their words. Raises what `require` raises."""
    require(user, dimension.project, Permission.MANAGE_PROJECT)
    dimension.delete()


def with_words_of(project: Project, evaluator: type[Evaluator], given: Mapping[str, Any]) -> dict[str, Any]:
    """`given` parameters with what the project says of the run's dimensions, where they are silent.

    So the words stand in the run's parameters and in its fingerprint. Ready dimensions need none. Parameters
    that cannot be read stay as they are, for `read_params` to refuse.
    """
    completed = dict(given)
    if not {each.name for each in declared_params(evaluator.Params)} >= WORDS:
        return completed
    known = {each.dimension.name: each for each in known_dimensions(project)}
    asked = _listed(given.get("dimensions")) or [name for name, each in known.items() if each.questions]
    words = {
        name: known[name].dimension
        for name in asked
        if name in known and known[name].source is not Source.READY
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
    """As `scoring.params` reads a list of texts; none where that would be refused."""
    parts = found.split(",") if isinstance(found, str) else found
    if not isinstance(parts, list | tuple) or not all(isinstance(each, str) for each in parts):
        return []
    return [each.strip() for each in parts if each.strip()]


def _put(dimension: JudgedDimension, user: User, name: str, description: str, sees: str) -> None:
    others = JudgedDimension.objects.filter(project=dimension.project).exclude(pk=dimension.pk)
    wrong = _wrong(name, description, sees, set(others.values_list("name", flat=True)))
    if wrong:
        raise InvalidDimension(wrong)
    dimension.name, dimension.description, dimension.sees = name, description, sees
    dimension.changed_by = user
    try:
        with transaction.atomic():
            dimension.save()
    except IntegrityError as error:  # somebody else was quicker
        raise InvalidDimension({"name": _taken(name)}) from error


def _wrong(name: str, description: str, sees: str, taken: Collection[str]) -> dict[str, str]:
    wrong = {}
    if problem := _wrong_name(name, taken):
        wrong["name"] = problem
    longest = JudgedDimension._meta.get_field("description").max_length or 0
    if not description:
        wrong["description"] = "Say what is asked, as a question that a good summary answers with yes."
    elif len(description) > longest:
        wrong["description"] = f"Found {len(description):,} characters, expected at most {longest:,}."
    if sees not in JudgedDimension.Sees.values:
        wrong["sees"] = f"Found {sees!r}, expected one of {', '.join(JudgedDimension.Sees.values)}."
    return wrong


def _wrong_name(name: str, taken: Collection[str]) -> str | None:
    longest = JudgedDimension._meta.get_field("name").max_length or 0
    found = [each for each in NOT_IN_NAMES if each in name]
    if not name:
        return "Give the dimension a name, such as focus."
    if len(name) > longest:
        return f"Found {len(name)} characters, expected at most {longest}."
    if found:
        return f"Found {found[0]!r}, expected a name without any of {' '.join(NOT_IN_NAMES)}"
    if name.casefold() == GENERAL:
        return f"{GENERAL!r} is the name of scores that speak of no dimension in particular; choose another."
    if name.casefold() in {each.casefold() for each in taken}:
        return _taken(name)
    return None


def _taken(name: str) -> str:
    return f"The project has a dimension called {name!r}; change that one, or choose another name."
