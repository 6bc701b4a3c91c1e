"""What evaluators there are, read from their declarations: for command, API and docs/evaluators.md."""

import inspect
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from scoring.asking_evaluator import AskingEvaluator
from scoring.contract import Evaluator, Need
from scoring.evaluators import EVALUATORS, FAMILIES, load_evaluator
from scoring.model_evaluator import ModelEvaluator
from scoring.params import ParamSpec, declared_params, value_as_text

_NEED_WORDS = {
    Need.ARTICLE: "article",
    Need.REFERENCES: "references",
    Need.LABELLED_POOL: "labelled pool",
    Need.CORPUS: "all summaries of the run",
    Need.SCORES: "scores of other evaluators",
}


def asking_evaluators() -> list[str]:
    """Names of the evaluators that ask a language model."""
    return [name for name in EVALUATORS if issubclass(load_evaluator(name), AskingEvaluator)]


def describe(names: Iterable[str] | None = None) -> list[dict[str, Any]]:
    """One JSON object per evaluator, by default all in the table's order. Raises UnknownEvaluator.

    Keys: name, family, title, summary, version, source, formula, weaknesses, cost, weights (null: none),
    needs, needs_if (a list of {parameter, value, needs}), dimensions (null: from parameters or the pool),
    higher_is_better, languages (null: any), deterministic, queue, queue_if (a list of {parameter, value,
    queue}), batch_size, parameters (name, type, doc, required, default, choices, low, high, is_weights,
    is_setup, group).
    """
    return [_describe(load_evaluator(name)) for name in (EVALUATORS if names is None else names)]


def as_markdown(names: Iterable[str] | None = None) -> str:
    """The text of docs/evaluators.md, or of some of its sections. Raises UnknownEvaluator."""
    sections = "\n".join(_section(each) for each in describe(names))
    return _contents() + sections if names is None else sections


def _contents() -> str:
    lines = [
        "# Evaluators",
        "",
        "Made from the evaluators' declarations by `manage.py evaluators`; do not edit.",
        "",
        "Where a model's limit cuts a text, the share of it that was read stands beside the score. A special "
        "token that is written out in a text, such as `</s>` or `[SEP]`, is read as text, by whatever "
        "evaluator: in the authors' programs it ends or separates texts. Models that write questions alone "
        "read it as their prompts mean it.",
        "",
    ]
    for family, names in FAMILIES.items():
        links = ", ".join(f"[{load_evaluator(name).title}](#{_anchor(name)})" for name in names)
        lines.append(f"- {family}: {links}")
    return "\n".join([*lines, "", ""])


def _anchor(name: str) -> str:
    """Where the section's heading is, as Git hosts and others make it from its words."""
    heading = f"{load_evaluator(name).title} {name}".lower()
    return re.sub(r"[^\w -]", "", heading).replace(" ", "-")


def _describe(evaluator: type[Evaluator]) -> dict[str, Any]:
    return {
        "name": evaluator.name,
        "family": next(family for family, names in FAMILIES.items() if evaluator.name in names),
        "title": evaluator.title,
        "summary": inspect.cleandoc(evaluator.__doc__ or ""),
        "version": evaluator.version,
        "source": evaluator.source,
        "formula": evaluator.formula,
        "weaknesses": evaluator.weaknesses,
        "cost": evaluator.cost,
        "weights": evaluator.weights if issubclass(evaluator, ModelEvaluator) else None,
        "needs": _sorted(evaluator.needs),
        "needs_if": _needs_if(evaluator),
        "dimensions": list(evaluator.dimensions) or None,
        "higher_is_better": evaluator.higher_is_better,
        "languages": None if evaluator.languages is None else sorted(evaluator.languages),
        "deterministic": evaluator.deterministic,
        "queue": evaluator.queue,
        "queue_if": _queue_if(evaluator),
        "batch_size": evaluator.batch_size,
        "parameters": [
            {key: list(value) if isinstance(value, tuple) else value for key, value in vars(each).items()}
            for each in declared_params(evaluator.Params)
        ],
    }


def _sorted(needs: Iterable[Need]) -> list[str]:
    return [need.value for need in Need if need in set(needs)]


def _needs_if(evaluator: type[Evaluator]) -> list[dict[str, Any]]:
    """Where one choice of a parameter, the others at their defaults, changes what is needed."""
    found = ((name, choice, evaluator.needs_for(params)) for name, choice, params in _choices(evaluator))
    return [
        {"parameter": name, "value": choice, "needs": _sorted(needs)}
        for name, choice, needs in found
        if needs != evaluator.needs
    ]


def _queue_if(evaluator: type[Evaluator]) -> list[dict[str, Any]]:
    """Where one choice of a parameter, the others at their defaults, changes who scores."""
    found = ((name, choice, evaluator.queue_for(params)) for name, choice, params in _choices(evaluator))
    return [
        {"parameter": name, "value": choice, "queue": queue}
        for name, choice, queue in found
        if queue != evaluator.queue
    ]


def _choices(evaluator: type[Evaluator]) -> Iterator[tuple[str, Any, Any]]:
    """Each choice of each parameter, and parameters that are at their defaults but for it."""
    specs = declared_params(evaluator.Params)
    if any(spec.required and spec.type != "text" for spec in specs):
        return
    defaults = evaluator.Params(**{spec.name: spec.name for spec in specs if spec.required})
    for spec in specs:
        for choice in spec.choices or ():
            with suppress(ValueError):  # this choice wants another parameter changed with it
                yield spec.name, choice, replace(defaults, **{spec.name: choice})


def _section(described: dict[str, Any]) -> str:
    lines = [f"## {described['title']} (`{described['name']}`)", "", described["summary"], ""]
    lines += [f"- {key}: {value}" for key, value in _facts(described)]
    if described["parameters"]:
        lines += ["", "| parameter | default | values | meaning |", "| --- | --- | --- | --- |"]
        lines += [_parameter_row(ParamSpec(**each)) for each in described["parameters"]]
    else:
        lines += ["- Parameters: none"]
    return "\n".join([*lines, ""])


def _facts(described: dict[str, Any]) -> Iterable[tuple[str, str]]:
    if described["formula"]:
        yield "Formula", described["formula"]
    needs = _in_words(described["needs"])
    needs += "".join(
        f"; {_in_words(each['needs'])} with {each['parameter']}={value_as_text(each['value'])}"
        for each in described["needs_if"]
    )
    yield "Needs beside the summary", needs
    yield (
        "Dimensions",
        ", ".join(described["dimensions"] or ["those of its parameters or of the labelled pool"]),
    )
    yield "Languages", ", ".join(described["languages"] or ["any"])
    yield "Higher is better", "yes" if described["higher_is_better"] else "no"
    yield "Same scores every time", "yes" if described["deterministic"] else "not guaranteed"
    yield "Known weaknesses", described["weaknesses"]
    yield "Cost", described["cost"]
    if described["weights"]:
        yield "Weights", described["weights"]
    yield (
        "Worker queue",
        described["queue"]
        + "".join(
            f"; {each['queue']} with {each['parameter']}={value_as_text(each['value'])}"
            for each in described["queue_if"]
        ),
    )
    yield "Summaries in a batch", str(described["batch_size"])
    yield "Version", str(described["version"])
    yield "Source", described["source"]


def _in_words(needs: list[str]) -> str:
    return ", ".join(_NEED_WORDS[Need(each)] for each in needs) or "nothing"


def _parameter_row(spec: ParamSpec) -> str:
    default = "required" if spec.required else f"`{value_as_text(spec.default)}`"
    if default == "``":
        default = "empty"
    values = spec.type
    if spec.choices:
        values = ", ".join(f"`{value_as_text(each)}`" for each in spec.choices)
    elif spec.low is not None or spec.high is not None:
        values += f", {_bound(spec.low, 'from')} {_bound(spec.high, 'to')}".rstrip()
    return f"| `{spec.name}` | {default} | {values} | {spec.doc} |"


def _bound(bound: float | None, word: str) -> str:
    return "" if bound is None else f"{word} {bound:g}"
