"""The language codes that Touchstone stores."""

import re

LONGEST = 12  # characters, as in the database
CODE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")


def is_language_code(code: str) -> bool:
    """Return whether `code` has the form of de or pt-BR, in at most LONGEST characters."""
    return len(code) <= LONGEST and CODE.fullmatch(code) is not None
