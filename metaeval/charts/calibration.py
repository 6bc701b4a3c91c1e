"""Mean label by mean score, in bins of neighbouring scores."""

from collections.abc import Sequence
from xml.etree import ElementTree as ET

import numpy as np

from metaeval.charts.parts import Range, dot, line, nice_range, plane, text_at, unit
from metaeval.stats.arrays import Floats
from metaeval.stats.scores.calibration_bins import CalibrationBin, calibration_bins

DOT_RADII = (3.0, 8.0)  # of the bin with fewest summaries and of that with most
NEAREST_NAMES = (48.0, 15.0)  # units across and up: nearer ones would run into each other


def calibration_plot(
    labels: Floats,
    scores: Floats,
    *,
    score_title: str,
    label_title: str,
    label_range: Range | None = None,
    same_scale: bool = False,
    left_out: str = "",
) -> str:
    """Return a chart of mean label (up) by mean score (across), larger dots for more summaries.

    `labels` and `scores` are (n,) without nan, n of 1 or more. `label_range` is what labels can be; by
    default, what they are. With `same_scale`, scores are on the labels' scale: both axes are equal, and a
    diagonal shows where scores would equal labels. `left_out` is a sentence on what was left out, for the
    description.
    """
    bins = calibration_bins(labels, scores)
    up_range, across_range = label_range or nice_range(labels), nice_range(scores)
    if same_scale and not up_range.low <= scores.min() <= scores.max() <= up_range.high:
        up_range = nice_range(np.array([*up_range, scores.min(), scores.max()]))
    svg, across, up = plane(
        "calibration",
        up_range if same_scale else across_range,
        up_range,
        across_title=score_title,
        up_title=label_title,
        title=f"{label_title} by {score_title}, in {len(bins)} groups of neighbouring scores",
        description=" ".join(
            [f"{len(labels):,} summaries.", *_told(bins, labels, scores, same_scale), left_out]
        ),
    )
    if same_scale:
        line(svg, "diagonal", across.start, up.start, across.end, up.end)
        text_at(svg, "tick end", across.end, up.start - 6, "dashed: score = label")
    places = [(across.at(each.score), up.at(each.label)) for each in bins]
    points = " ".join(f"{unit(x)},{unit(y)}" for x, y in places)
    ET.SubElement(svg, "polyline", {"class": "path", "points": points})
    most = max(each.n for each in bins)
    said: list[tuple[float, float]] = []
    for (x, y), each in zip(places, bins, strict=True):
        radius = DOT_RADII[0] + (DOT_RADII[1] - DOT_RADII[0]) * (each.n / most) ** 0.5
        title = (
            f"scores {each.lowest:.3g} to {each.highest:.3g}: mean score {each.score:.3f},"
            f" mean label {each.label:.3f}, {each.n:,} summaries"
        )
        dot(svg, x, y, title, radius)
        has_room_above = y - radius > up.end + 12
        beside = y - radius - 5 if has_room_above else y + radius + 14
        is_free = all(
            abs(x - other_x) >= NEAREST_NAMES[0] or abs(beside - other_y) >= NEAREST_NAMES[1]
            for other_x, other_y in said
        )
        if is_free:
            said.append((x, beside))
            text_at(svg, "tick middle", x, beside, f"n {each.n:,}")
    return ET.tostring(svg, encoding="unicode")


def _told(bins: Sequence[CalibrationBin], labels: Floats, scores: Floats, same_scale: bool) -> list[str]:
    groups = [f"mean score {each.score:.3f}: mean label {each.label:.3f} (n {each.n:,})" for each in bins]
    shift = f"Mean score less mean label: {scores.mean() - labels.mean():+.3f}."
    return ["; ".join(groups) + ".", *([shift] if same_scale else [])]
