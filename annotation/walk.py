"""Going from one summary of a list to the next: the list is kept in the address and nowhere else."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse

LONGEST_WALK = 100  # summaries
LARGEST_ID = 2**63 - 1


@dataclass(frozen=True)
class Walk:
    """Summaries in the order in which they were listed, and the address of the list; both may be empty."""

    ids: tuple[int, ...] = ()
    back: str = ""

    @classmethod
    def along(cls, ids: Sequence[int], back: str) -> Self:
        return cls(tuple(ids[:LONGEST_WALK]), back)

    @classmethod
    def read(cls, query: QueryDict, slug: str) -> Self:
        """What the address says. Ids that cannot be any, and lists outside of the project, are left out."""
        given = query.get("among", "").split("-")[:LONGEST_WALK]
        ids = (int(each) for each in given if each.isascii() and each.isdecimal() and len(each) < 20)
        back = query.get("back", "")
        inside = back.startswith(reverse("progress", args=[slug]))
        return cls(tuple(each for each in ids if each <= LARGEST_ID), back if inside else "")

    @property
    def query(self) -> str:
        """To be put behind the address of each of its summaries."""
        if not self.ids:
            return ""
        return f"?{urlencode({'among': '-'.join(map(str, self.ids)), 'back': self.back})}"

    def place(self, summary_id: int) -> "Place | None":
        """Where the summary is on the walk; None if it is not."""
        if summary_id not in self.ids:
            return None
        at = self.ids.index(summary_id)
        return Place(
            number=at + 1,
            of=len(self.ids),
            previous=self.ids[at - 1] if at else None,
            next=self.ids[at + 1] if at + 1 < len(self.ids) else None,
        )


@dataclass(frozen=True)
class Place:
    number: int
    of: int
    previous: int | None
    next: int | None
