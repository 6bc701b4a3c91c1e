"""Names of setups on pages, as in papers and unique in the project."""

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

from annotation.declared.settings import settings_of, value_as_json
from annotation.models import Project
from scoring.contract.evaluator import Evaluator
from scoring.contract.fingerprints import identity
from scoring.contract.params import LONGEST_NAME, joined, parameter_phrase
from scoring.models import Setup


def label_for(project: Project, evaluator: Evaluator) -> str:
    """Return the evaluator's short name, with its differences from a setup that already has it."""
    name = joined(evaluator.name_parts())
    namesake = Setup.objects.filter(project=project, label=name).first()
    if namesake is None:
        return name
    return unused(project, joined([name, *_differences(evaluator, namesake.provenance)]))


def unused(project: Project, label: str) -> str:
    """Return the label, numbered if a setup of the project already has it."""
    taken = set(Setup.objects.filter(project=project).values_list("label", flat=True))
    numbered = (f"{label[: LONGEST_NAME - 6]} · {number}" for number in count(2))
    return label if label not in taken else next(each for each in numbered if each not in taken)


def _differences(evaluator: Evaluator, other: Mapping[str, Any]) -> Iterator[str]:
    """Yield in words how this evaluator differs from the one whose `identity` is `other`."""
    own: Any = identity(evaluator)
    params = other.get("params", {})
    setups = {member.name: member.label for member in evaluator.members}
    unused = evaluator.unused_params(evaluator.params)
    for each in settings_of(type(evaluator.params)):
        value = getattr(evaluator.params, each.name)
        if each.name in unused:
            continue
        if value_as_json(value) != params.get(each.name, value_as_json(each.default)):
            yield parameter_phrase(each, value, setups)
    if own["version"] != other.get("version"):
        yield f"version {own['version']}"
    if own["pool"] != other.get("pool"):
        yield f"labels {own['pool']['sha256'][:6]}"
    if own.get("corpus") != other.get("corpus"):
        yield f"texts {evaluator.corpus_digest[:6]}"
