"""A chart with its drawing and its numbers, for the page and for files."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from django.utils.safestring import SafeString, mark_safe

FileRows = list[dict[str, object]]


@dataclass(frozen=True)
class Chart:
    kinds: ClassVar = ("svg", "png", "pdf", "csv")
    """File extensions."""

    name: str
    """A slug, for addresses."""
    about: Sequence[str]
    """Its subject, for the file name."""
    draw: Callable[[], str]
    """An SVG by `metaeval.charts`, which escapes all names itself; it stands alone."""
    rows: Callable[[], FileRows]
    """The numbers in the chart, as rows of a file."""
    caption: str = ""
    draw_linked: Callable[[], str] | None = None
    """The drawing for its page, with links."""

    @cached_property
    def svg(self) -> SafeString:
        return mark_safe(self.draw())  # noqa: S308 - charts escape all names

    @cached_property
    def linked(self) -> SafeString:
        return mark_safe(self.draw_linked()) if self.draw_linked else self.svg  # noqa: S308 - likewise
