"""How often each answer was given."""

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from metaeval.charts.parts import Axis, Range, column, drawing, line, text_at
from metaeval.stats.arrays import Ints


def answer_columns(counts: Ints, names: Sequence[str], *, title: str) -> str:
    """How often each answer was given; `counts` are (answers,) with one answer or more, named by `names`."""
    width, height = 460, 210
    svg = drawing(
        "histogram",
        width,
        height,
        title=title,
        description="; ".join(
            f"{name}: {count:,}" for name, count in zip(names, counts.tolist(), strict=True)
        ),
    )
    up = Axis(Range(0, max(int(counts.max()), 1)), height - 44, 24)
    slot = (width - 20) / len(names)
    reach = min(slot * 0.35, 36)
    total = int(counts.sum())
    for place, (name, count) in enumerate(zip(names, counts.tolist(), strict=True)):
        middle = 10 + slot * (place + 0.5)
        top = up.at(count)
        column(svg, middle - reach, middle + reach, top, up.start, f"{name}: {count:,} of {total:,} answers")
        if total:
            text_at(svg, "tick middle", middle, top - 7, f"{count / total:.0%}")
        text_at(svg, "tick middle", middle, up.start + 17, name)
    line(svg, "base", 10, up.start, width - 10, up.start)
    text_at(svg, "axis middle", width / 2, height - 6, title)
    return ET.tostring(svg, encoding="unicode")
