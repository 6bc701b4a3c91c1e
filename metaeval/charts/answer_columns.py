"""A column for each answer: how often it was given."""

from collections.abc import Sequence
from textwrap import wrap
from xml.etree import ElementTree as ET

from metaeval.charts.parts import (
    LETTER,
    TITLE_LINE,
    Axis,
    Range,
    axis_title,
    column,
    drawing,
    extra_height,
    line,
    text_at,
)
from metaeval.stats.arrays import Ints


def answer_columns(counts: Ints, names: Sequence[str], *, title: str) -> str:
    """Return a chart of how often each answer was given.

    `counts` are (answers,), one answer or more, named by `names`.
    """
    width, foot = 460, 210
    slot = (width - 20) / len(names)
    name_lines = [wrap(name, max(1, int(slot / LETTER))) for name in names]
    below = TITLE_LINE * (max(map(len, name_lines)) - 1)
    svg = drawing(
        "histogram answers",
        width,
        foot + below + extra_height(title),
        title=title,
        description="; ".join(
            f"{name}: {count:,}" for name, count in zip(names, counts.tolist(), strict=True)
        ),
    )
    up = Axis(Range(0, max(int(counts.max()), 1)), foot - 44, 24)
    reach = min(slot * 0.35, 36)
    total = int(counts.sum())
    for place, (name, count) in enumerate(zip(names, counts.tolist(), strict=True)):
        middle = 10 + slot * (place + 0.5)
        top = up.at(count)
        column(svg, middle - reach, middle + reach, top, up.start, f"{name}: {count:,} of {total:,} answers")
        if total:
            text_at(svg, "tick middle", middle, top - 7, f"{count / total:.0%}")
        for number, words in enumerate(name_lines[place]):
            text_at(svg, "tick middle", middle, up.start + 17 + TITLE_LINE * number, words)
    line(svg, "base", 10, up.start, width - 10, up.start)
    axis_title(svg, width / 2, foot + below - 6, title)
    return ET.tostring(svg, encoding="unicode")
