"""Names of setups as in papers: the evaluator, then the parameters that differ from their defaults."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from annotation.declared.settings import Setting, settings_of, value_as_text

LONGEST_NAME = 120  # characters
LONGEST_MODEL = 60  # characters
LONGEST_VALUE = 30  # characters of a value that a name says


def parameter_phrases(
    params: Any, said: Collection[str] = (), setups: Mapping[str, str] | None = None
) -> list[str]:
    """Return each parameter that differs from its default, in words, except those already `said`.

    `setups` maps the names of setups in parameters to their labels.
    """
    return [
        parameter_phrase(each, getattr(params, each.name), setups or {})
        for each in settings_of(type(params))
        if each.name not in said and (each.required or getattr(params, each.name) != each.default)
    ]


def parameter_phrase(declared: Setting, value: Any, setups: Mapping[str, str]) -> str:
    """Return a parameter's value as part of a name: "stemmed", "layer 9", "at localhost"."""
    label = declared.label if declared.label[:2].isupper() else declared.label[0].lower() + declared.label[1:]
    if isinstance(value, bool):
        return (declared.phrase or label) if value else f"no {label}"
    words = _in_words(declared, value, setups)
    if not words:
        return f"no {label}"
    if len(words) > LONGEST_VALUE and not (declared.choices or declared.is_setup or declared.is_weights):
        return f"own {label}"
    if declared.choices:
        return (declared.phrase or "{}").format(words)
    return (declared.phrase or f"{label} {{}}").replace("{}", words)


def model_name(model: str) -> str:
    """Return a model without its owner or folder: "roberta-large" for "FacebookAI/roberta-large".

    Very long names lose their middle.
    """
    name = model.rstrip("/").rpartition("/")[2]
    return name if len(name) <= LONGEST_MODEL else f"{name[:30]}…{name[-29:]}"


def joined(parts: Sequence[str]) -> str:
    """Join the parts of a name. If it would be too long, count the last parts instead of naming them."""
    for kept in range(len(parts), 0, -1):
        left = len(parts) - kept
        more = [f"{left} more setting{'s' * (left > 1)}"] if left else []
        name = ", ".join([*parts[:kept], *more])
        if len(name) <= LONGEST_NAME:
            return name
    return parts[0][: LONGEST_NAME - 1] + "…"


def _in_words(declared: Setting, value: Any, setups: Mapping[str, str]) -> str:
    if declared.is_setup:
        return " + ".join(setups.get(name, name) for name in ([value] if isinstance(value, str) else value))
    if declared.choices:
        return declared.choices[value]
    if declared.name == "base_url":
        return urlsplit(value).netloc
    if declared.type == "list":
        return ", ".join(value)
    return model_name(value) if declared.is_weights else value_as_text(value)
