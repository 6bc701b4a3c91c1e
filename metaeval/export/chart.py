"""A chart of a page: its drawing and the numbers in it, under one name, for the page and for files."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from django.utils.safestring import SafeString, mark_safe

Rows = list[dict[str, object]]


@dataclass(frozen=True)
class Chart:
    kinds: ClassVar = ("svg", "png", "pdf", "csv")
    """Of files, by the end of their names."""

    name: str
    """In addresses: a slug."""
    about: Sequence[str]
    """What it is of, for the name of its file."""
    draw: Callable[[], str]
    """An SVG by `metaeval.charts`, which escapes all names itself; it stands alone."""
    rows: Callable[[], Rows]
    """What is drawn, as rows of a file."""
    caption: str = ""
    draw_linked: Callable[[], str] | None = None
    """The same for its page, where parts of it lead to other pages."""

    @cached_property
    def svg(self) -> SafeString:
        return mark_safe(self.draw())

    @cached_property
    def linked(self) -> SafeString:
        return mark_safe(self.draw_linked()) if self.draw_linked else self.svg
