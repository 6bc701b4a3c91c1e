"""Typed parameters of evaluators: declared as dataclass fields, read from strings or JSON."""

import dataclasses
import difflib
import inspect
import json
import math
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass
from typing import Any

_BOOLEANS = {
    "yes": True,
    "true": True,
    "1": True,
    "on": True,
    "no": False,
    "false": False,
    "0": False,
    "off": False,
}


def param(
    default: Any = MISSING,
    *,
    doc: str,
    choices: Sequence[Any] | None = None,
    low: float | None = None,
    high: float | None = None,
    is_weights: bool = False,
    is_setup: bool = False,
    group: str = "",
) -> Any:
    """A field of a `Params` dataclass: bool, int, float, str or tuple[str, ...]; required without default.

    `doc` is shown to users. `choices` lists what is allowed; `low` and `high` bound a number, both inclusive.
    `is_weights` marks a text that names files of a model on the server, as `scoring.weights` finds them;
    `is_setup` a text or texts that name evaluators that have scored the same summaries. `group` is the
    heading under which a form shows it, where an evaluator has many.
    """
    metadata = {
        "doc": doc,
        "choices": None if choices is None else tuple(choices),
        "low": low,
        "high": high,
        "is_weights": is_weights,
        "is_setup": is_setup,
        "group": group,
    }
    return dataclasses.field(default=default, metadata=metadata)


@dataclass(frozen=True)
class ParamSpec:
    """One declared parameter, for forms, help texts and documents."""

    name: str
    type: str
    doc: str
    required: bool
    default: Any
    choices: tuple[Any, ...] | None
    low: float | None
    high: float | None
    is_weights: bool
    is_setup: bool
    group: str


def declared_params(params_class: type[Any]) -> tuple[ParamSpec, ...]:
    """All parameters of a `Params` dataclass: its own in the order of declaration, then those it inherits.

    An inherited one that a class declares anew is its own.
    """
    types_by_name = typing.get_type_hints(params_class)
    return tuple(
        ParamSpec(
            name=each.name,
            type=_KINDS[types_by_name[each.name]].name,
            doc=each.metadata["doc"],
            required=each.default is MISSING,
            default=None if each.default is MISSING else each.default,
            choices=each.metadata["choices"],
            low=each.metadata["low"],
            high=each.metadata["high"],
            is_weights=each.metadata["is_weights"],
            is_setup=each.metadata["is_setup"],
            group=each.metadata["group"],
        )
        for each in _fields(params_class)
    )


def read_params(evaluator_class: Any, given: Mapping[str, Any]) -> Any:
    """`evaluator_class.Params` from strings (`--set key=value`) or JSON values.

    Raises ValueError, naming the parameter, what was found and what is expected; for a name that does not
    exist, the near ones.
    """
    params_class = evaluator_class.Params
    fields = {each.name: each for each in _fields(params_class)}
    for name in given:
        if name not in fields:
            raise ValueError(_unknown(evaluator_class.name, name, tuple(fields)))
    missing = [name for name, each in fields.items() if each.default is MISSING and name not in given]
    if missing:
        raise ValueError(
            f"{evaluator_class.name} needs the parameter {missing[0]!r}: {fields[missing[0]].metadata['doc']}"
        )
    types_by_name = typing.get_type_hints(params_class)
    return params_class(
        **{name: _read(fields[name], types_by_name[name], value) for name, value in given.items()}
    )


def params_as_json(params: Any) -> dict[str, Any]:
    """What `read_params` reads back: name -> JSON value, all of them, in the order of `declared_params`."""
    return {each.name: _as_json(getattr(params, each.name)) for each in _fields(type(params))}


def with_defaults(evaluator_class: Any, stored: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters that `params_as_json` gave, with the defaults of those that came later."""
    fields = _fields(evaluator_class.Params)
    later = {each.name: _as_json(each.default) for each in fields if each.default is not MISSING}
    return {**later, **stored}


def value_as_text(value: Any) -> str:
    """A parameter's value as a person writes it after `--set key=`."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _as_json(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _fields(params_class: type[Any]) -> tuple[Field[Any], ...]:
    """A dataclass by itself puts first what it inherits, which people change least."""
    by_name = {each.name: each for each in dataclasses.fields(params_class)}
    own_first = dict.fromkeys(name for each in params_class.__mro__ for name in inspect.get_annotations(each))
    return tuple(by_name[name] for name in own_first if name in by_name)


def _read(declared: Field[Any], kind: Any, found: Any) -> Any:
    limits = declared.metadata
    expected = _KINDS[kind].expected
    if limits["choices"] is not None:
        expected = "one of " + ", ".join(map(value_as_text, limits["choices"]))
    elif limits["low"] is not None or limits["high"] is not None:
        expected += f" from {limits['low'] if limits['low'] is not None else 'any'}"
        expected += f" to {limits['high'] if limits['high'] is not None else 'any'}"
    try:
        value = _KINDS[kind].read(found)
    except (ValueError, TypeError):
        value = None
    refused = (
        value is None
        or (limits["choices"] is not None and value not in limits["choices"])
        or (limits["low"] is not None and value < limits["low"])
        or (limits["high"] is not None and value > limits["high"])
    )
    if refused:
        raise ValueError(f"parameter {declared.name!r}: found {_shown(found)}, expected {expected}")
    return value


def _shown(found: Any) -> str:
    return repr(found) if isinstance(found, str) else json.dumps(found, default=str)


def _unknown(evaluator: str, name: str, known: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(name, known)
    if near:
        return f"{evaluator} has no parameter {name!r}; did you mean {' or '.join(near)}?"
    if not known:
        return f"{evaluator} has no parameter {name!r}; it takes none"
    return f"{evaluator} has no parameter {name!r}; it has {', '.join(known)}"


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
    if isinstance(found, str):
        found = found.split(",")
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
