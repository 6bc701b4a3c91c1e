"""Which setups of a project an evaluator of evaluators is made of."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from annotation.models import Project
from scoring.contract import EvaluatorError, Member
from scoring.evaluators import EVALUATORS, load_evaluator
from scoring.models import EvaluatorSetup, Run
from scoring.params import declared_params

NAME_LENGTH = 12
"""Digits of a setup's fingerprint that name it in parameters."""
SHORTEST_PREFIX = 6


def with_members_named(project: Project, params: Any) -> Any:
    """The parameters with each setup that they name, by label or fingerprint, named by its fingerprint.

    Several are put in order, each once: who is named first makes no difference. Raises ValueError, naming the
    parameter, for a setup that is not there, is not the only one, has no score or is being computed.
    """
    named: dict[str, Any] = {}
    for spec in declared_params(type(params)):
        if spec.is_setup:
            value = getattr(params, spec.name)
            texts = (value,) if isinstance(value, str) else value
            found = sorted({_setup(project, spec.name, each).fingerprint[:NAME_LENGTH] for each in texts})
            named[spec.name] = found[0] if isinstance(value, str) else tuple(found)
    return dataclasses.replace(params, **named)


def members_of(project: Project, params: Any) -> list[Member]:
    """The setups that these parameters name by their fingerprints. Raises EvaluatorError if one is gone."""
    names = [
        name
        for spec in declared_params(type(params))
        if spec.is_setup
        for name in _as_texts(getattr(params, spec.name))
    ]
    return [_member(project, name) for name in names]


def _as_texts(value: str | Sequence[str]) -> Sequence[str]:
    return (value,) if isinstance(value, str) else value


def _setup(project: Project, parameter: str, text: str) -> EvaluatorSetup:
    setups = EvaluatorSetup.objects.filter(project=project)
    found = list(setups.filter(label=text)[:2])
    if not found and len(text) >= SHORTEST_PREFIX:
        found = list(setups.filter(fingerprint__startswith=text.lower())[:2])
    where = f"parameter {parameter!r}: found {text!r}"
    if not found:
        labels = ", ".join(setups.values_list("label", flat=True)) or "none: start a run of one first"
        raise ValueError(
            f"{where}, expected an evaluator that has scored this project, by its name or the first "
            f"{SHORTEST_PREFIX} or more digits of its fingerprint (where its name has a comma). There are: "
            f"{labels}"
        )
    if len(found) > 1:
        raise ValueError(f"{where}, which names several evaluators; give more digits of the fingerprint")
    [setup] = found
    busy = setup.runs.filter(status__in=Run.UNFINISHED).first()
    if busy is not None:
        raise ValueError(f"{where}, which is being computed. Wait until run {busy.pk} has ended")
    if not setup.scores.computed().exists():
        raise ValueError(f"{where}, which has no score yet")
    return setup


def _member(project: Project, name: str) -> Member:
    setup = EvaluatorSetup.objects.filter(project=project, fingerprint__startswith=name).first()
    if setup is None:
        raise EvaluatorError(f"the evaluator {name}, whose scores are needed, was deleted", permanent=True)
    dimensions = setup.scores.computed().order_by("dimension").values_list("dimension", flat=True).distinct()
    return Member(
        name=name,
        label=setup.label,
        dimensions=tuple(dimensions),
        fingerprint=setup.fingerprint,
        higher_is_better=setup.evaluator not in EVALUATORS
        or load_evaluator(setup.evaluator).higher_is_better,
        seen_articles=frozenset(setup.seen_articles.values_list("external_id", flat=True)),
        is_out_of_fold=_is_out_of_fold(setup),
    )


def _is_out_of_fold(setup: EvaluatorSetup) -> bool:
    itself = setup.evaluator in EVALUATORS and load_evaluator(setup.evaluator).is_out_of_fold
    return itself or any(each.get("out_of_fold") for each in setup.provenance.get("members", ()))
