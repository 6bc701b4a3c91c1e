"""Texts that are safe to open in a spreadsheet."""

import re
from collections.abc import Iterable

STARTS_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?")


def plain_cell(text: str) -> str:
    """Return `text`, with an apostrophe before it if a spreadsheet would run it as a formula.

    A number such as -1 is unchanged. A text that begins with apostrophes before such a character gets one
    more, so that `original_text` can undo it.
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def plain_row(cells: Iterable[object]) -> list[object]:
    """Return a row for a file that people open in a spreadsheet: each text as `plain_cell` makes it."""
    return [plain_cell(each) if isinstance(each, str) else each for each in cells]


def original_text(cell: str) -> str:
    """Return the text that `plain_cell` turned into `cell`."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell
