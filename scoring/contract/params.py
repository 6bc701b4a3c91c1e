"""The parameters of evaluators: read, completed with defaults, and in words."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from annotation.declared.settings import (
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
