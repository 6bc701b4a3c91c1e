"""Texts that are safe to open in a spreadsheet."""

import re

STARTS_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?")


def plain_cell(text: str) -> str:
    """Return `text`, with an apostrophe before it if a spreadsheet would run it as a formula.

    A text that begins with apostrophes before such a character gets one more, so that `original_text` can
    undo it.
    """
    return f"'{text}" if _FORMULA.match(text) else text


def answer_cell(value: str) -> str:
    """Return an answer as `plain_cell` does, but a number such as -1 unchanged."""
    return value if _NUMBER.fullmatch(value) else plain_cell(value)


def original_text(cell: str) -> str:
    """Return the text of which `plain_cell` or `answer_cell` made the cell."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell
