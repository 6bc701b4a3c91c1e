"""Texts that are safe to open in a spreadsheet."""

STARTS_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def plain_cell(text: str) -> str:
    """`text`, with an apostrophe in front where a spreadsheet would run it as a formula."""
    return f"'{text}" if text.startswith(STARTS_FORMULA) else text
