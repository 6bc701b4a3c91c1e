"""How pages name an evaluator with its parameters."""

from collections.abc import Mapping
from itertools import count
from typing import Any
from urllib.parse import urlsplit

from annotation.models import Project
from scoring.contract import Evaluator
from scoring.models import EvaluatorSetup
from scoring.params import ParamSpec, declared_params, params_as_json, value_as_text, with_defaults

LONGEST_VALUE = 30  # characters


def label_for(project: Project, evaluator: Evaluator) -> str:
    """The evaluator's title and what differs from the defaults; numbered where it would occur twice."""
    params = params_as_json(evaluator.params)
    defaults = with_defaults(type(evaluator), {})
    labels = {member.name: member.label for member in evaluator.members}
    chosen = [
        _said(spec, params[spec.name], labels)
        for spec in declared_params(type(evaluator.params))
        if spec.required or params[spec.name] != defaults[spec.name]
    ]
    label = f"{evaluator.title} ({', '.join(chosen)})" if chosen else evaluator.title
    return unused(project, label if len(label) <= 100 else label[:99] + "…")


def unused(project: Project, label: str) -> str:
    """The label, numbered where a setup of the project has it already: people tell setups apart by it."""
    taken = set(EvaluatorSetup.objects.filter(project=project).values_list("label", flat=True))
    numbered = (f"{label} · {number}" for number in count(2))
    return label if label not in taken else next(each for each in numbered if each not in taken)


def _said(spec: ParamSpec, value: Any, labels: Mapping[str, str]) -> str:
    """The parameter with its value; of an endpoint its host and port, which tell one from another."""
    host = urlsplit(value).netloc if spec.name == "base_url" else ""
    return f"at {host}" if host else f"{spec.name} {_in_short(spec, value, labels)}"


def _in_short(spec: ParamSpec, value: Any, labels: Mapping[str, str]) -> str:
    """A value with its middle left out where it is long, and a model without its owner or folder.

    Other evaluators are named by their `labels`.
    """
    if spec.is_setup:
        names = [value] if isinstance(value, str) else value
        return " + ".join(labels.get(name, name) for name in names)
    text = value_as_text(value)
    if spec.is_weights:
        text = text.rstrip("/").rpartition("/")[2]
    return text if len(text) <= LONGEST_VALUE else f"{text[:18]}…{text[-11:]}"
