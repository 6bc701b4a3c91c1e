"""Texts that are safe to open in a spreadsheet."""

STARTS_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def plain_cell(text: str) -> str:
    """Return `text`, with an apostrophe before it if a spreadsheet would run it as a formula."""
    return f"'{text}" if text.startswith(STARTS_FORMULA) else text
