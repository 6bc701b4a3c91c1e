"""Articles, summaries, systems, raters and sheets known to an import, stored or new."""

import hashlib
from dataclasses import dataclass

from annotation.imports.reading.sheets import Values
from annotation.models import Rater


@dataclass(slots=True, kw_only=True)
class Known:
    """A row that the project or the file has. `pk` is None until it is stored."""

    pk: int | None = None
    stored_before: bool = False
    counted: bool = False

    @property
    def stored_pk(self) -> int:
        """The id. Rows are stored before others refer to them."""
        assert self.pk is not None, self
        return self.pk


@dataclass(slots=True)
class ArticleState(Known):
    external_id: str
    language: str
    dataset: str
    split: str
    title: str
    digest: bytes
    """`exact_digest` of the text."""


@dataclass(slots=True)
class SummaryState(Known):
    digest: bytes


@dataclass(slots=True)
class SystemState(Known):
    is_reference: bool


@dataclass(slots=True)
class RaterState(Known):
    group: str
    languages: set[str]
    status: str = Rater.Status.QUALIFIED
    has_login: bool = False


@dataclass(frozen=True, slots=True)
class Sheet:
    """Answers with comments or explanations, as (question key, text) pairs."""

    values: Values
    comments: tuple[tuple[str, str], ...] = ()


def exact_digest(text: str) -> bytes:
    """Return a digest that texts are compared by, to save memory: 16 bytes, or none for no text."""
    return hashlib.blake2b(text.encode(), digest_size=16).digest() if text else b""
