"""Scores against human labels: a dot for each summary, a mark for each system."""

import math
from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import NamedTuple
from xml.etree import ElementTree as ET

import numpy as np

from metaeval.charts.dots import Dots, dots_of
from metaeval.charts.links import Links, link_dots, link_tiles
from metaeval.charts.parts import LETTER, Range, nice_range, plane, text_at, unit
from metaeval.charts.system_marks import system_mark
from metaeval.stats.arrays import Floats, Ints

DOT_SIZES = 5
MOST_LINKED_DOTS = 200
LEGEND_COLUMNS, LEGEND_LINE, LEGEND_EDGE, LEGEND_MARK = 3, 20, 14, 12


class SystemMean(NamedTuple):
    system: int
    label: float
    score: float
    n: int


def system_means(labels: Floats, scores: Floats, systems: Ints, n_systems: int) -> list[SystemMean]:
    """Return mean label and mean score of each system with summaries; arrays are (n,)."""
    known = systems >= 0
    n = np.bincount(systems[known], minlength=n_systems)
    label_sums = np.bincount(systems[known], weights=labels[known], minlength=n_systems)
    score_sums = np.bincount(systems[known], weights=scores[known], minlength=n_systems)
    return [
        SystemMean(each, float(label_sums[each] / n[each]), float(score_sums[each] / n[each]), int(n[each]))
        for each in np.flatnonzero(n).tolist()
    ]


def scatter(
    labels: Floats,
    scores: Floats,
    systems: Ints,
    *,
    system_names: Sequence[str],
    score_title: str,
    label_title: str,
    label_range: Range | None = None,
    left_out: str = "",
    links: Links | None = None,
    legend: bool = False,
) -> str:
    """Return a plot of scores (across) and human labels (up), with marks for systems' means.

    `labels`, `scores` and `systems` (places among `system_names`, -1 if unknown) are (n,), n of 1 or more.
    `label_range` is what labels can be; by default, what they are. `left_out` is a sentence on what was left
    out, for the description. With `links`, each tile of the grid with summaries leads to their list, and
    where summaries are few a dot of one summary leads to it. `legend` names the systems below, for a drawing
    that stands alone.
    """
    means = system_means(labels, scores, systems, len(system_names))
    svg, across, up = plane(
        "scatter",
        nice_range(scores),
        label_range or nice_range(labels),
        across_title=score_title,
        up_title=label_title,
        title=f"{score_title} against {label_title}",
        description=f"{len(labels):,} summaries with scores from {scores.min():.3g} to {scores.max():.3g} and"
        f" labels from {labels.min():.3g} to {labels.max():.3g}, and the means of {len(means)} systems."
        f" {left_out}".rstrip(),
    )
    if links:
        svg.set("role", "group")  # parts of an image cannot be reached
        link_tiles(svg, across, up, labels, scores, links)
    dots = dots_of(across.place(scores), up.place(labels))
    for size, path in _paths(dots):
        ET.SubElement(svg, "path", {"class": f"dots size-{size}", "d": path})
    if links and len(labels) <= MOST_LINKED_DOTS:
        link_dots(svg, dots, labels, scores, links)
    for mean in means:
        mark = system_mark(svg, mean.system, across.at(mean.score), up.at(mean.label), 7)
        ET.SubElement(mark, "title").text = (
            f"{system_names[mean.system]}: mean score {mean.score:.3f}, mean label {mean.label:.3f},"
            f" {mean.n:,} summaries"
        )
    if legend:
        _name_systems(svg, [mean.system for mean in means], system_names)
    return ET.tostring(svg, encoding="unicode")


def _name_systems(svg: ET.Element, systems: Sequence[int], names: Sequence[str]) -> None:
    """Draw marks and whole names below the chart, and extend it to hold them."""
    _, _, width, height = (int(side) for side in svg.get("viewBox", "").split())
    longest = max((len(names[system]) for system in systems), default=0)
    columns = next((count for count in range(LEGEND_COLUMNS, 1, -1) if longest <= _letters(width, count)), 1)
    y = height + 16
    for first in range(0, len(systems), columns):
        here = systems[first : first + columns]
        rows = [wrap(names[system], _letters(width, columns)) for system in here]
        for place, (system, lines) in enumerate(zip(here, rows, strict=True)):
            x = LEGEND_EDGE + place * (width - LEGEND_EDGE) / columns
            system_mark(svg, system, x, y - 4, 5.5)
            for number, words in enumerate(lines):
                text_at(svg, "axis", x + LEGEND_MARK, y + number * LEGEND_LINE, words)
        y += LEGEND_LINE * max(1, *map(len, rows))
    svg.set("viewBox", f"0 0 {width} {y - 8 if systems else height}")


def _letters(width: int, columns: int) -> int:
    """Return how many letters of a name fit into one of the legend's columns."""
    return int(((width - LEGEND_EDGE) / columns - LEGEND_MARK) / LETTER)


def _paths(dots: Dots) -> Iterator[tuple[int, str]]:
    """Yield sizes 1 to 5, each with a path of the dots of that size."""
    most = int(dots.counts.max())
    sizes = dots.counts
    if most > DOT_SIZES:
        sizes = 1 + np.floor((DOT_SIZES - 1) * np.log(sizes) / math.log(most) + 1e-9).astype(np.int64)
    for size in range(1, DOT_SIZES + 1):
        chosen = sizes == size
        if chosen.any():
            places = zip(dots.x[chosen].tolist(), dots.y[chosen].tolist(), strict=True)
            yield size, "".join(f"M{unit(px)} {unit(py)}h0" for px, py in places)
