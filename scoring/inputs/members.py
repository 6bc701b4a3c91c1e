"""Setups whose scores another evaluator combines."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from annotation.declared.settings import settings_of
from annotation.models import Project
from scoring.contract.evaluator import EvaluatorError, Member
from scoring.contract.seen import Seen, by_dimension
from scoring.evaluators import EVALUATORS, load_evaluator
from scoring.models import Run, SeenArticle, Setup

NAME_LENGTH = 12
"""Digits of a fingerprint that name a setup in parameters."""
SHORTEST_PREFIX = 6


def with_members_named(project: Project, params: Any) -> Any:
    """Return the parameters with every setup, given by label or fingerprint, named by its fingerprint.

    Several setups are sorted, each once, since their order makes no difference. Raises ValueError, naming the
    parameter, for a setup that is unknown, ambiguous, without scores or in progress.
    """
    named: dict[str, Any] = {}
    for spec in settings_of(type(params)):
        if spec.is_setup:
            value = getattr(params, spec.name)
            setups = [_setup(project, spec.name, each) for each in _as_texts(value)]
            found = sorted({setup.fingerprint[:NAME_LENGTH] for setup in setups})
            named[spec.name] = found[0] if isinstance(value, str) else tuple(found)
    return dataclasses.replace(params, **named)


def members_of(project: Project, params: Any) -> list[Member]:
    """Return the setups that these parameters name. Raises EvaluatorError if one was deleted."""
    names = [
        name
        for spec in settings_of(type(params))
        if spec.is_setup
        for name in _as_texts(getattr(params, spec.name))
    ]
    return [_member(project, name) for name in names]


def _as_texts(value: str | Sequence[str]) -> Sequence[str]:
    return (value,) if isinstance(value, str) else value


def _setup(project: Project, parameter: str, text: str) -> Setup:
    setups = Setup.objects.filter(project=project)
    found = list(setups.filter(label=text)[:2])
    if not found and len(text) >= SHORTEST_PREFIX:
        found = list(setups.filter(fingerprint__startswith=text.lower())[:2])
    where = f"parameter {parameter!r}: found {text!r}"
    if not found:
        labels = ", ".join(setups.values_list("label", flat=True)) or "none; run one first"
        raise ValueError(
            f"{where}, expected an evaluator that has scored this project, by its name or at least "
            f"{SHORTEST_PREFIX} digits of its fingerprint (if its name has a comma). Available: {labels}"
        )
    if len(found) > 1:
        raise ValueError(f"{where}, which matches several evaluators. Give more digits of the fingerprint")
    [setup] = found
    busy = setup.runs.of_scores().filter(status__in=Run.UNFINISHED).first()
    if busy is not None:
        raise ValueError(f"{where}, whose run {busy.pk} is in progress. Wait until it ends")
    if not setup.scores.computed().exists():
        raise ValueError(f"{where}, which has no score yet")
    return setup


def _member(project: Project, name: str) -> Member:
    setup = Setup.objects.filter(project=project, fingerprint__startswith=name).first()
    if setup is None:
        raise EvaluatorError(f"the evaluator {name}, whose scores are needed, was deleted", permanent=True)
    articles = SeenArticle.objects.filter(setup=setup).values_list("dimension", "article__external_id")
    texts = setup.seen_texts.values_list("dimension", "text_digest")
    dimensions = setup.scores.computed().order_by("dimension").values_list("dimension", flat=True).distinct()
    return Member(
        name=name,
        label=setup.label,
        dimensions=tuple(dimensions),
        fingerprint=setup.fingerprint,
        higher_is_better=setup.evaluator not in EVALUATORS
        or load_evaluator(setup.evaluator).higher_is_better,
        seen=Seen(by_dimension(articles), by_dimension(texts)),
        is_out_of_fold=_is_out_of_fold(setup),
    )


def _is_out_of_fold(setup: Setup) -> bool:
    itself = setup.evaluator in EVALUATORS and load_evaluator(setup.evaluator).is_out_of_fold
    return itself or any(each.get("out_of_fold") for each in setup.provenance.get("members", ()))
