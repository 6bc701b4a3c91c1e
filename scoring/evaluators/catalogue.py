"""Descriptions of all evaluators from their declarations: for command, API and docs/evaluators.md."""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from annotation.declared.settings import Setting, settings_of, value_as_text
from scoring.contract.evaluator import Evaluator, Need
from scoring.evaluators import EVALUATORS, FAMILIES, load_evaluator
from scoring.evaluators.bases.asking_evaluator import AskingEvaluator
from scoring.evaluators.bases.bfloat16 import MOVED
from scoring.evaluators.bases.model_evaluator import ModelEvaluator

_NEED_WORDS = {
    Need.ARTICLE: "article",
    Need.REFERENCES: "references",
    Need.LABELLED_POOL: "labelled pool",
    Need.CORPUS: "all summaries of the run",
    Need.SCORES: "scores of other evaluators",
}


def asking_evaluators() -> list[str]:
    """Return the names of evaluators that ask a language model."""
    return [name for name in EVALUATORS if issubclass(load_evaluator(name), AskingEvaluator)]


def describe(names: Iterable[str] | None = None) -> list[dict[str, Any]]:
    """Return one JSON object per evaluator, by default all in the table's order. Raises UnknownEvaluator.

    Keys: name, family, title, summary, version, source, formula, weaknesses, cost, weights (null: none),
    needs, needs_if (a list of {parameter, value, needs}), dimensions (null: from parameters or the pool),
    higher_is_better, languages (null: any), deterministic, queue, queue_if (a list of {parameter, value,
    queue}), batch_size, parameters (the fields of `Setting`; choices map values to words).
    """
    return [_describe(load_evaluator(name)) for name in (EVALUATORS if names is None else names)]


def as_markdown(names: Iterable[str] | None = None) -> str:
    """Return the text of docs/evaluators.md, or of some of its sections. Raises UnknownEvaluator."""
    sections = "\n".join(_section(each) for each in describe(names))
    return _contents() + sections if names is None else sections


def _contents() -> str:
    lines = [
        "# Evaluators",
        "",
        "Generated from the evaluators' declarations by `manage.py evaluators`; do not edit.",
        "",
        "If a model's limit cuts a text, the share that was read is shown beside the score. Special tokens "
        "in a text, such as `</s>` or `[SEP]`, are read as plain text, while in the authors' programs they "
        "end or separate texts. Only models that write questions read them as special tokens.",
        "",
    ]
    for family, names in FAMILIES.items():
        links = ", ".join(f"[{load_evaluator(name).title}](#{_anchor(name)})" for name in names)
        lines.append(f"- {family}: {links}")
    return "\n".join([*lines, "", ""])


def _anchor(name: str) -> str:
    """Return the anchor of the section's heading, as GitHub generates it."""
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
        "needs_if": _changes(evaluator, "needs", evaluator.needs_for),
        "dimensions": list(evaluator.dimensions) or None,
        "higher_is_better": evaluator.higher_is_better,
        "languages": None if evaluator.languages is None else sorted(evaluator.languages),
        "deterministic": evaluator.deterministic,
        "queue": evaluator.queue,
        "queue_if": _changes(evaluator, "queue", evaluator.queue_for),
        "batch_size": evaluator.batch_size,
        "parameters": [
            {key: list(value) if isinstance(value, tuple) else value for key, value in vars(each).items()}
            for each in settings_of(evaluator.Params)
        ],
    }


def _sorted(needs: Iterable[Need]) -> list[str]:
    return [need.value for need in Need if need in set(needs)]


def _changes(evaluator: type[Evaluator], key: str, of: Callable[[Any], Any]) -> list[dict[str, Any]]:
    """Return the choices of single parameters, others at their defaults, that change `of` the parameters."""
    usual = getattr(evaluator, key)
    return [
        {"parameter": name, "value": choice, key: _sorted(found) if key == "needs" else found}
        for name, choice, params in _choices(evaluator)
        if (found := of(params)) != usual
    ]


def _choices(evaluator: type[Evaluator]) -> Iterator[tuple[str, Any, Any]]:
    """Yield each choice of each parameter, with parameters that are otherwise at their defaults."""
    specs = settings_of(evaluator.Params)
    if any(spec.required and spec.type != "text" for spec in specs):
        return
    defaults = evaluator.Params(**{spec.name: spec.name for spec in specs if spec.required})
    for spec in specs:
        for choice in spec.choices or ():
            with suppress(ValueError):  # this choice requires a change of another parameter
                yield spec.name, choice, replace(defaults, **{spec.name: choice})


def _section(described: dict[str, Any]) -> str:
    lines = [f"## {described['title']} (`{described['name']}`)", "", described["summary"], ""]
    lines += [f"- {key}: {value}" for key, value in _facts(described)]
    if described["parameters"]:
        lines += ["", "| parameter | label | default | values | meaning |", "| --- | --- | --- | --- | --- |"]
        lines += [_parameter_row(each) for each in settings_of(load_evaluator(described["name"]).Params)]
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
    yield "Needs", needs
    yield ("Dimensions", ", ".join(described["dimensions"] or ["from its parameters or the labelled pool"]))
    yield "Languages", ", ".join(described["languages"] or ["any"])
    yield "Higher is better", "yes" if described["higher_is_better"] else "no"
    yield "Deterministic", "yes" if described["deterministic"] else "not guaranteed"
    yield "Weaknesses", described["weaknesses"]
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
    if described["name"] in MOVED:
        yield "bfloat16", str(MOVED[described["name"]])
    yield "Batch size", str(described["batch_size"])
    yield "Version", str(described["version"])
    yield "Source", described["source"]


def _in_words(needs: list[str]) -> str:
    return ", ".join(_NEED_WORDS[Need(each)] for each in needs) or "nothing"


def _parameter_row(spec: Setting) -> str:
    default = "required" if spec.required else f"`{value_as_text(spec.default)}`"
    if default == "``":
        default = "empty"
    values = spec.type
    if spec.choices:
        values = ", ".join(
            f"`{value}`" if value == words else f"`{value}` ({words})"
            for value, words in spec.choices.items()
        )
    elif spec.low is not None or spec.high is not None:
        values += f", {_bound(spec.low, 'from')} {_bound(spec.high, 'to')}".rstrip()
    return (
        f"| `{spec.name}` | {spec.label} | {default} | {values} | {spec.help} {spec.details}".rstrip() + " |"
    )


def _bound(bound: float | None, word: str) -> str:
    return "" if bound is None else f"{word} {bound:g}"
