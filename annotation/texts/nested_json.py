"""JSON from outside, with a limit on nesting: Python reads deeper values than it can store or show."""

import json
from collections.abc import Iterable
from typing import Any

MOST_LEVELS = 100  # of nested objects and lists
TOO_DEEP = f"JSON nested too deeply, over {MOST_LEVELS} levels"


def read_json(text: str | bytes) -> Any:
    """Return the value of a JSON text. Raises ValueError for anything else, and for more than MOST_LEVELS."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    check_levels(value)
    return value


def check_levels(value: object) -> None:
    """Raise ValueError if lists and objects are nested too deeply."""
    level = [value]
    for _ in range(MOST_LEVELS + 1):
        level = [member for each in level if isinstance(each, list | dict) for member in _members_of(each)]
        if not level:
            return
    raise ValueError(TOO_DEEP)


def _members_of(value: list[object] | dict[str, object]) -> Iterable[object]:
    return value.values() if isinstance(value, dict) else value
