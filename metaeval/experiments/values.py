"""The setting that varies in an experiment, and its values."""

import re

from annotation.declared.settings import Setting

FEWEST, MOST = 2, 64
"""Limits of the number of members."""

KINDS = {"sampling": "sampling", "seed": "seeds", "examples": "examples", "model": "models"}
"""Parameter that varies -> kind of the experiment; `parameter` for all others."""

USUAL_VALUES = {"seed": "0, 1, 2", "examples": "1..4"}
"""Defaults for parameters without a list of choices."""

_RANGE = re.compile(r"(\d+)\s*\.\.\s*(\d+)")


def kind_of(parameter: str) -> str:
    return KINDS.get(parameter, "parameter")


def usual_values(spec: Setting) -> str:
    """Return the default values of a parameter that varies; empty if there are none."""
    if spec.choices:
        return ", ".join(map(str, spec.choices))
    return USUAL_VALUES.get(spec.name, "no, yes" if spec.type == "yes/no" else "")


def read_values(kind: str, text: str) -> tuple[str, ...]:
    """Return the values in `text`, as `read_params` takes them; `kind` is a `Setting.type`.

    Semicolons separate values if there is one or if the parameter is a list, else commas. For integers `1..4`
    means 1, 2, 3, 4. Raises ValueError for fewer than two or more than 64 values, and for duplicates.

    >>> read_values("integer", "1..3, 8")
    ('1', '2', '3', '8')
    """
    separator = ";" if ";" in text or kind == "list" else ","
    values: list[str] = []
    for part in (each.strip() for each in text.split(separator)):
        ends = _RANGE.fullmatch(part) if kind == "integer" else None
        if ends:
            first, last = int(ends[1]), int(ends[2])
            if last - first >= MOST:
                raise ValueError(f"{part} means {last - first + 1:,} values, expected at most {MOST}")
            values += map(str, range(first, last + 1))
        elif part:
            values.append(part)
    twice = sorted({value for value in values if values.count(value) > 1})
    if twice:
        raise ValueError(f"{', '.join(twice)}: given twice, expected each value once")
    if not FEWEST <= len(values) <= MOST:
        between = "" if separator == "," else ", separated by semicolons"
        raise ValueError(
            f"found {len(values)} value{'s' * (len(values) != 1)}, expected {FEWEST} to {MOST}{between}"
        )
    return tuple(values)


def as_numbers(labels: list[str]) -> list[float] | None:
    """Return the labels as numbers; None if one is not a number.

    >>> as_numbers(["1", "2", "8"])
    [1.0, 2.0, 8.0]
    """
    if all(re.fullmatch(r"-?\d+(\.\d+)?", label) for label in labels):
        return [float(label) for label in labels]
    return None
