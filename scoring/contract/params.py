"""The parameters of evaluators: read, completed with defaults, in words, and in the names of setups."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from annotation.declared.settings import (
    Setting,
    read_settings,
    settings_of,
    value_as_json,
    value_as_text,
    value_in_words,
)


def read_params(evaluator_class: Any, given: Mapping[str, Any]) -> Any:
    """Return `evaluator_class.Params` from text (`--set key=value`) or JSON values.

    Raises SettingsRefused, a ValueError.
    """
    return read_settings(evaluator_class.Params, given, of=evaluator_class.name, noun="parameter")


def with_defaults(evaluator_class: Any, stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return stored parameters, completed with the defaults of those declared later."""
    later = {
        each.name: value_as_json(each.default)
        for each in settings_of(evaluator_class.Params)
        if not each.required
    }
    return {**later, **stored}


class ShownParam(NamedTuple):
    """A stored parameter in words."""

    name: str
    label: str
    value: str
    help: str


def params_in_words(evaluator_class: Any, stored: Mapping[str, Any]) -> list[ShownParam]:
    """Return stored parameters in the order of declaration, then those no longer declared."""
    declared = {each.name: each for each in settings_of(evaluator_class.Params)}
    known = [
        ShownParam(name, each.label, value_in_words(each, stored[name]), each.help)
        for name, each in declared.items()
        if name in stored
    ]
    return known + undeclared_params({name: stored[name] for name in stored if name not in declared})


def undeclared_params(stored: Mapping[str, Any]) -> list[ShownParam]:
    """Return parameters by name only, such as those of an evaluator that was removed."""
    return [ShownParam(name, name, value_as_text(value), "") for name, value in stored.items()]


def value_label(evaluator_class: Any, name: str, text: str) -> str:
    """Return a parameter's value, given as text, in the words of its declared choices."""
    declared = next((each for each in settings_of(evaluator_class.Params) if each.name == name), None)
    words = {value_as_text(value): said for value, said in declared.choices.items()} if declared else {}
    return words.get(text, text)


def param_label(evaluator_class: Any, name: str) -> str:
    """Return a parameter's label, or its name if it is no longer declared."""
    return next((each.label for each in settings_of(evaluator_class.Params) if each.name == name), name)


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
