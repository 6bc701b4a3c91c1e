"""Human labels and scores on one axis, labels above and scores below, with their means.

After Figure 2 of Jain et al., Findings of ACL 2023, which shows the two side by side.
"""

from xml.etree import ElementTree as ET

import numpy as np

from metaeval.charts.histogram import Grid, bars_on, finer, grid_of
from metaeval.charts.parts import Axis, Range, column, drawing, line, text_at, ticks
from metaeval.stats.arrays import Floats

WIDTH, HEIGHT = 460, 270
MIDDLE = 126  # units from the top: where both stand
REACH = 92  # units: the highest column
FEWEST_BARS = 12  # or scores would be lost among labels of two values
MEAN_BEYOND = 8  # units by which the mark of a mean exceeds the highest column


def two_distributions(labels: Floats, scores: Floats, *, span: Range, left_out: str = "") -> str:
    """Return labels upwards and scores downwards in the same intervals, with both means.

    `labels` and `scores` are (n,) without nan, n of 1 or more, all within `span`, which is what labels can
    be. Raises ValueError for a score outside. `left_out` is a sentence on what was left out.
    """
    if scores.min() < span.low or scores.max() > span.high:
        raise ValueError(f"scores lie from {scores.min():g} to {scores.max():g}, beyond the labels' {span}")
    grid = shared_grid(labels, span)
    above, below = bars_on(labels, grid), bars_on(scores, grid)
    edge = grid.width / 2
    across = Axis(Range(span.low - edge, span.high + edge), 14, WIDTH - 14)
    most = max(bar.times for bar in (*above, *below))
    svg = drawing(
        "distributions",
        WIDTH,
        HEIGHT,
        title="Human labels and scores on the same scale",
        description=f"{len(labels):,} summaries. Human labels: mean {labels.mean():.3f}, standard deviation"
        f" {labels.std():.3f}. Scores: mean {scores.mean():.3f}, standard deviation {scores.std():.3f}."
        f" {left_out}".rstrip(),
    )
    for name, values, bars, way in (("labels", labels, above, -1), ("scores", scores, below, 1)):
        for bar in bars:
            left, right = across.at(bar.low), across.at(bar.high)
            gap = min(1.0, (right - left) / 6)
            far = MIDDLE + way * REACH * bar.times / most
            told = f"{name}, {bar.name}: {bar.times:,} of {len(values):,} summaries"
            kind = "column" if way < 0 else "column second"
            column(svg, left + gap, right - gap, min(far, MIDDLE), max(far, MIDDLE), told, kind)
        mean = across.at(float(values.mean()))
        end = MIDDLE + way * (REACH + MEAN_BEYOND)
        line(svg, "mean-line", mean, MIDDLE, mean, end)
        title = "human labels" if way < 0 else "scores"
        side, shift = ("end", -6) if np.mean(across.range) < values.mean() else ("start", 6)
        told = f"{title}: mean {values.mean():.3f}"
        text_at(svg, f"axis {side}", mean + shift, end + (6 if way < 0 else 4), told)
    line(svg, "base", across.start, MIDDLE, across.end, MIDDLE)
    for tick in ticks(span):
        line(svg, "base", across.at(tick), HEIGHT - 32, across.at(tick), HEIGHT - 28)
        text_at(svg, "tick middle", across.at(tick), HEIGHT - 14, f"{tick:g}")
    line(svg, "base", across.start, HEIGHT - 32, across.end, HEIGHT - 32)
    return ET.tostring(svg, encoding="unicode")


def shared_grid(labels: Floats, span: Range) -> Grid:
    """Return the intervals that both labels and scores are counted in."""
    return finer(grid_of(labels, span), FEWEST_BARS)
