"""What varies in a family, and the values it takes. Pure."""

import re

from scoring.params import ParamSpec

FEWEST, MOST = 2, 64
"""Members of a family."""

KINDS = {"sampling": "sampling", "seed": "seeds", "examples": "examples", "model": "models"}
"""Parameter -> kind of the family in which it varies; in others it is `parameter`."""

USUAL_VALUES = {"seed": "0, 1, 2", "examples": "1..4"}
"""What is proposed for parameters without a list of choices."""

_RANGE = re.compile(r"(\d+)\s*\.\.\s*(\d+)")


def kind_of(parameter: str) -> str:
    return KINDS.get(parameter, "parameter")


def usual_values(spec: ParamSpec) -> str:
    """What a form proposes for a parameter that varies; empty where nothing goes without saying."""
    if spec.choices:
        return ", ".join(map(str, spec.choices))
    return USUAL_VALUES.get(spec.name, "no, yes" if spec.type == "yes/no" else "")


def read_values(kind: str, text: str) -> tuple[str, ...]:
    """The values that `text` lists for a parameter of this kind (`ParamSpec.type`), as `read_params` takes
    them; of whole numbers `1..4` stands for 1, 2, 3, 4.

    They are separated by semicolons if there is one, or if the parameter is itself a list; else by commas.
    Raises ValueError for fewer than two values, more than 64, and one that occurs twice.

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
                raise ValueError(f"{part} stands for {last - first + 1:,} values, expected at most {MOST}")
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
    """The numbers that all labels are; None if one is none.

    >>> as_numbers(["1", "2", "8"])
    [1.0, 2.0, 8.0]
    """
    if all(re.fullmatch(r"-?\d+(\.\d+)?", label) for label in labels):
        return [float(label) for label in labels]
    return None
