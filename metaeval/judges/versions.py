"""Creating, finding and comparing judges and their versions. A version never changes."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from annotation.declared.settings import settings_as_json, value_as_text
from annotation.errors import DomainError, NotFound
from annotation.lookups import one_of
from annotation.models import Project
from annotation.permissions import Permission, require
from annotation.texts.word_diff import Piece, word_pieces
from scoring.contract.params import read_params, with_defaults
from scoring.dimensions.project_dimensions import with_words_of
from scoring.errors import InvalidRun
from scoring.evaluators import load_evaluator
from scoring.evaluators.catalogue import asking_evaluators
from scoring.models import Judge, JudgeVersion

LONGEST_NAME, LONGEST_NOTE = 60, 500  # characters


def judge_of(project: Project, judge_id: int) -> Judge:
    """Return the project's judge with this id. Raises NotFound."""
    judge = one_of(Judge.objects.filter(project=project), judge_id, "judge")
    judge.project = project
    return judge


def version_of(judge: Judge, number: int) -> JudgeVersion:
    """Return the judge's version with this number. Raises NotFound."""
    found = judge.versions.select_related("parent", "created_by").filter(number=number).first()
    if found is None:
        raise NotFound(f"{judge.name} has no version {number}.")
    found.judge = judge
    return found


def create_judge(
    project: Project, user: User, name: str, evaluator: str, given: Mapping[str, Any], note: str = ""
) -> JudgeVersion:
    """Create a judge and return its first version; `given` are parameters as strings or JSON values.

    Raises InvalidRun for an invalid parameter; DomainError for a name that is empty, too long or taken, or an
    evaluator that asks no language model; also as `require`.
    """
    require(user, project, Permission.MANAGE_RUNS)
    name = name.strip()
    if not 0 < len(name) <= LONGEST_NAME:
        raise DomainError(f"name: found {len(name)} characters, expected 1 to {LONGEST_NAME}")
    asking = asking_evaluators()
    if evaluator not in asking:
        raise DomainError(
            f"evaluator: found {evaluator!r}, expected one that asks a model: {', '.join(asking)}"
        )
    params, note = read_version(project, evaluator, given), checked_note(note)
    try:
        with transaction.atomic():
            judge = Judge.objects.create(project=project, name=name, evaluator=evaluator, created_by=user)
            return JudgeVersion.objects.create(
                judge=judge, number=1, params=params, note=note, created_by=user
            )
    except IntegrityError as error:
        raise DomainError(f"This project already has a judge called {name}. Choose another name.") from error


def add_version(parent: JudgeVersion, user: User, given: Mapping[str, Any], note: str = "") -> JudgeVersion:
    """Create the judge's next version from `parent`.

    Raises InvalidRun for an invalid parameter, DomainError if it equals an existing version.
    """
    judge = parent.judge
    require(user, judge.project, Permission.MANAGE_RUNS)
    params, note = read_version(judge.project, judge.evaluator, given), checked_note(note)
    with transaction.atomic():
        Judge.objects.select_for_update(of=("self",)).get(pk=judge.pk)
        there = list(judge.versions.all())
        for version in there:
            if not differences(completed(judge.evaluator, version.params), params):
                raise DomainError(f"Nothing differs from version {version.number}. Change a parameter.")
        return JudgeVersion.objects.create(
            judge=judge,
            number=1 + max(version.number for version in there),
            parent=parent,
            params=params,
            note=note,
            created_by=user,
        )


def read_version(project: Project, evaluator: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return all parameters as JSON values, with defaults and the project's descriptions of dimensions.

    Raises InvalidRun.
    """
    asked = load_evaluator(evaluator)
    try:
        return settings_as_json(read_params(asked, with_words_of(project, asked, given)))
    except ValueError as error:
        raise InvalidRun(str(error)) from error


def completed(evaluator: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return `params` with the defaults of parameters added since."""
    return with_defaults(load_evaluator(evaluator), params)


def checked_note(note: str) -> str:
    """Return the note without surrounding white space. Raises DomainError if it is too long."""
    note = note.strip()
    if len(note) > LONGEST_NOTE:
        raise DomainError(f"note: found {len(note)} characters, expected at most {LONGEST_NOTE}")
    return note


class Difference(NamedTuple):
    """A parameter that differs; empty text for a version that lacks it."""

    name: str
    before: str
    after: str
    pieces: tuple[Piece, ...]
    """Same and removed pieces form `before`, same and added ones `after`."""


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Difference]:
    """Return the parameters that differ, in the order of `after`, then those only in `before`."""
    found = []
    for name in dict.fromkeys([*after, *before]):
        if before.get(name) != after.get(name):
            old, new = (value_as_text(each[name]) if name in each else "" for each in (before, after))
            found.append(Difference(name, old, new, word_pieces(old, new)))
    return found
