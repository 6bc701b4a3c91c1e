"""Texts that show nothing: empty, of white space, or of characters without a shape of their own."""

import re

_UNSEEN = re.compile(
    r"[\s\x00-\x1f\x7f-\x9f"  # white space and control characters
    r"\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    r"\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    r"\u2800]*"  # a Braille cell without dots
)
"""Zero-width spaces and the like are Unicode's Default_Ignorable_Code_Point (DerivedCoreProperties.txt)."""


def is_blank(text: str) -> bool:
    """Return whether the text has no visible character."""
    return _UNSEEN.fullmatch(text) is not None
