"""Paging from one summary of a list to the next. The list is kept in the address."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse

from annotation.lookups import read_number

LONGEST_TRAIL = 100  # summaries


@dataclass(frozen=True)
class SummaryTrail:
    """Ids of listed summaries in order, and the address of the list. Both may be empty."""

    ids: tuple[int, ...] = ()
    back: str = ""

    @classmethod
    def of(cls, ids: Sequence[int], back: str) -> Self:
        return cls(tuple(ids[:LONGEST_TRAIL]), back)

    @classmethod
    def read(cls, query: QueryDict, slug: str) -> Self:
        """Read a trail from the address, without impossible ids and lists outside the project."""
        given = query.get("among", "").split("-")[:LONGEST_TRAIL]
        ids = tuple(pk for pk in map(read_number, given) if pk is not None)
        back = query.get("back", "")
        inside = back.startswith(reverse("progress", args=[slug]))
        return cls(ids, back if inside else "")

    @property
    def query(self) -> str:
        """The query string for the addresses of the summaries."""
        if not self.ids:
            return ""
        return f"?{urlencode({'among': '-'.join(map(str, self.ids)), 'back': self.back})}"

    def position(self, summary_id: int) -> "TrailPosition | None":
        """Return the summary's position in the trail, or None."""
        if summary_id not in self.ids:
            return None
        at = self.ids.index(summary_id)
        return TrailPosition(
            number=at + 1,
            of=len(self.ids),
            previous=self.ids[at - 1] if at else None,
            next=self.ids[at + 1] if at + 1 < len(self.ids) else None,
        )


@dataclass(frozen=True)
class TrailPosition:
    number: int
    of: int
    previous: int | None
    next: int | None
