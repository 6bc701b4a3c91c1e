"""The articles, summaries, raters and sheets that an import knows of: of the project, or new in the file."""

import hashlib
from dataclasses import dataclass

from annotation.importers.sheets import Values

SummaryKey = tuple[str, str]
"""External id of the article, name of the system."""


@dataclass(slots=True)
class ArticleState:
    """`pk` is None until the article is stored."""

    external_id: str
    language: str
    dataset: str
    split: str
    title: str
    digest: bytes
    """Of the text (`text_digest`)."""
    pk: int | None = None
    stored_before: bool = False
    counted: bool = False


@dataclass(slots=True)
class SummaryState:
    digest: bytes
    pk: int | None = None
    stored_before: bool = False
    counted: bool = False


@dataclass(slots=True)
class SystemState:
    is_reference: bool
    pk: int | None = None
    counted: bool = False


@dataclass(slots=True)
class RaterState:
    group: str
    languages: set[str]
    has_login: bool = False
    removed: bool = False
    pk: int | None = None
    counted: bool = False


@dataclass(frozen=True, slots=True)
class Sheet:
    """Answers with their comments (or explanations), as pairs with the question's key."""

    values: Values
    comments: tuple[tuple[str, str], ...] = ()


def text_digest(text: str) -> bytes:
    """What a text is compared by, so that it need not be kept: 16 bytes, none for no text."""
    return hashlib.blake2b(text.encode(), digest_size=16).digest() if text else b""
