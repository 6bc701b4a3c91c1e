"""Settings declared once as fields of a frozen dataclass, and read from text or JSON.

The command line, the forms, the API and the documents are all made from these declarations.
"""

import dataclasses
import inspect
import json
import math
import re
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field
from typing import Any

from annotation.errors import suggestion

_BOOLEANS = dict.fromkeys(("yes", "true", "1", "on"), True)
_BOOLEANS |= dict.fromkeys(("no", "false", "0", "off"), False)


@dataclass(frozen=True)
class Setting:
    """One declared setting, for forms, help texts and documents."""

    name: str
    """The name on the command line and in the API."""
    type: str
    """One of "yes/no", "integer", "number", "text" and "list"."""
    required: bool
    default: Any
    label: str
    """The label on pages, one to three words."""
    help: str
    """One sentence of fewer than 15 words."""
    details: str = ""
    """Further help, only in the documentation."""
    choices: Mapping[Any, str] = field(default_factory=dict)
    """Allowed value -> the same in words; empty if any value is allowed."""
    low: float | None = None
    """The least number allowed."""
    high: float | None = None
    """The greatest number allowed."""
    usual: tuple[float, float] | None = None
    """The least and greatest number that usually work; others are allowed with a warning."""
    pattern: str = ""
    """Regular expression for the whole text. `expected` says the same in words."""
    expected: str = ""
    phrase: str = ""
    """The words for a value other than the default in names of setups; {} is the value."""
    group: str = ""
    """The heading above it in long forms."""
    is_weights: bool = False
    """True if it names model files on the server (see `scoring.weights`)."""
    is_setup: bool = False
    """True if it names setups that have scored the same summaries."""
    one_per_line: bool = False
    """True if texts of a list are on separate lines, not separated by commas."""

    @property
    def flag(self) -> str:
        """Its name on the command line: --create-questionnaire."""
        return "--" + self.name.replace("_", "-")


class SettingsRefused(ValueError):
    """Unknown settings or invalid values. `fields` maps names of settings to reasons."""

    def __init__(self, fields: Mapping[str, str], noun: str = "option") -> None:
        self.fields = dict(fields)
        super().__init__("; ".join(f"{noun} {name!r}: {reason}" for name, reason in fields.items()))


def setting(default: Any = MISSING, *, label: str, help: str, **more: Any) -> Any:
    """Declare a dataclass field of type bool, int, float, str or tuple[str, ...] as a setting.

    Without a default it is required. `more` are further fields of `Setting`.
    """
    return dataclasses.field(default=default, metadata={"label": label, "help": help, **more})


def settings_of(declaring: type[Any]) -> tuple[Setting, ...]:
    """Return the settings of a dataclass, its own before inherited ones.

    An inherited setting that a class redeclares is its own.
    """
    types_by_name = typing.get_type_hints(declaring)
    return tuple(
        Setting(
            name=each.name,
            type=_KINDS[types_by_name[each.name]].name,
            required=each.default is MISSING,
            default=None if each.default is MISSING else each.default,
            **each.metadata,
        )
        for each in _own_first(declaring)
    )


def read_settings(declaring: type[Any], given: Mapping[str, Any], *, of: str, noun: str = "option") -> Any:
    """Return an instance of the dataclass from text (`key=value`) or JSON values.

    Raises SettingsRefused with all errors. Messages call a setting a `noun` of `of`.
    """
    declared = {each.name: each for each in settings_of(declaring)}
    values: dict[str, Any] = {}
    refused: dict[str, str] = {}
    for name, found in given.items():
        if name not in declared:
            refused[name] = f"{of} has no such {noun}; {suggestion(name, declared, 'it has')}"
            continue
        try:
            values[name] = _read(declared[name], found)
        except ValueError as error:
            refused[name] = str(error)
    for name, each in declared.items():
        if each.required and name not in given:
            refused[name] = f"{of} requires it. {each.help}"
    if refused:
        raise SettingsRefused(refused, noun)
    return declaring(**values)


def settings_as_json(settings: Any) -> dict[str, Any]:
    """Return all settings as JSON values for `read_settings`, in the order of `settings_of`."""
    return {each.name: value_as_json(getattr(settings, each.name)) for each in settings_of(type(settings))}


def unusual_values(settings: Any) -> list[str]:
    """Return a warning for each number outside its usual range."""
    return [
        f"{each.label} {value:g} is unusual. Values from {each.usual[0]:g} to {each.usual[1]:g} usually work."
        for each in settings_of(type(settings))
        if each.usual and not each.usual[0] <= (value := getattr(settings, each.name)) <= each.usual[1]
    ]


def value_as_json(value: Any) -> Any:
    """Return a setting's value as it is stored: a tuple as a list."""
    return list(value) if isinstance(value, tuple) else value


def value_as_text(value: Any) -> str:
    """Return a setting's value as written on the command line."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)


def value_in_words(setting: Setting, value: Any) -> str:
    """Return a setting's value as pages show it; choices in their declared words."""
    return setting.choices.get(value, value_as_text(value)) if setting.choices else value_as_text(value)


def _own_first(declaring: type[Any]) -> tuple[Field[Any], ...]:
    """Return the fields of a dataclass, its own before inherited ones."""
    by_name = {each.name: each for each in dataclasses.fields(declaring)}
    names = dict.fromkeys(name for each in declaring.__mro__ for name in inspect.get_annotations(each))
    return tuple(by_name[name] for name in names if name in by_name)


def _read(declared: Setting, found: Any) -> Any:
    kind = next(each for each in _KINDS.values() if each.name == declared.type)
    if declared.type == "list" and isinstance(found, str):
        found = _split(declared, found)
    try:
        value = kind.read(found)
    except (ValueError, TypeError):
        value = None
    refused = (
        value is None
        or (declared.choices and value not in declared.choices)
        or (declared.low is not None and value < declared.low)
        or (declared.high is not None and value > declared.high)
        or (declared.pattern and not re.fullmatch(declared.pattern, value))
    )
    if refused:
        shown = repr(found) if isinstance(found, str) else json.dumps(found, default=str)
        raise ValueError(f"found {shown}, expected {_expected(declared, kind)}")
    for text in value if isinstance(value, tuple) else (value,):
        if isinstance(text, str) and not _is_storable(text):
            raise ValueError(f"found {text!r}, expected a text without NUL and halves of surrogate pairs")
    if isinstance(value, tuple) and (twice := [each for each in value if value.count(each) > 1]):
        raise ValueError(f"found {twice[0]!r} more than once, expected each text once")
    return value


def _is_storable(text: str) -> bool:
    """Return whether a database can hold the text. A command line's may have bytes that are not UTF-8."""
    return re.search("[\x00\ud800-\udfff]", text) is None


def _split(declared: Setting, text: str) -> list[str]:
    """Split a list. Semicolons also separate names of setups, which may contain commas."""
    if declared.one_per_line:
        return text.splitlines()
    return text.split(";" if declared.is_setup and ";" in text else ",")


def _expected(declared: Setting, kind: "_Kind") -> str:
    if declared.choices:
        return "one of " + ", ".join(map(value_as_text, declared.choices))
    if declared.one_per_line:
        return "texts, one per line"
    expected = declared.expected or kind.expected
    if declared.low is not None and declared.high is not None:
        return f"{expected} from {declared.low} to {declared.high}"
    if declared.low is not None:
        return f"{expected} of at least {declared.low}"
    return expected if declared.high is None else f"{expected} of at most {declared.high}"


def _bool(found: Any) -> bool | None:
    return found if isinstance(found, bool) else _BOOLEANS.get(str(found).strip().lower())


def _int(found: Any) -> int | None:
    if isinstance(found, str):
        return int(found)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def _float(found: Any) -> float | None:
    if isinstance(found, bool) or not isinstance(found, str | int | float):
        return None
    value = float(found)
    return value if math.isfinite(value) else None


def _str(found: Any) -> str | None:
    if isinstance(found, int) and not isinstance(found, bool):
        found = str(found)
    return found.strip() if isinstance(found, str) else None


def _strings(found: Any) -> tuple[str, ...] | None:
    if not isinstance(found, list | tuple) or not all(isinstance(each, str) for each in found):
        return None
    return tuple(each.strip() for each in found if each.strip())


@dataclass(frozen=True)
class _Kind:
    name: str
    expected: str
    read: Callable[[Any], Any]


_KINDS: dict[type[Any] | types.GenericAlias, _Kind] = {
    bool: _Kind("yes/no", "yes or no", _bool),
    int: _Kind("integer", "a whole number", _int),
    float: _Kind("number", "a number", _float),
    str: _Kind("text", "a text", _str),
    tuple[str, ...]: _Kind("list", "texts separated by commas", _strings),
}
