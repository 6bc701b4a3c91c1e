"""Links in a plot: tiles lead to lists of summaries, dots to single summaries."""

import itertools
from collections.abc import Callable
from typing import NamedTuple
from xml.etree import ElementTree as ET

import numpy as np

from metaeval.charts.dots import Dots
from metaeval.charts.parts import Axis, Range, ticks, unit
from metaeval.stats.arrays import Floats


class Links(NamedTuple):
    """The addresses that parts of the drawing lead to."""

    region: Callable[[Range, Range], str]
    """The list of summaries with such scores and such labels, ends included."""
    summary: Callable[[int], str]
    """The summary at this place in the drawing."""


def link_tiles(svg: ET.Element, across: Axis, up: Axis, labels: Floats, scores: Floats, links: Links) -> None:
    """Draw a link over each tile of the grid that has summaries, edges included.

    There are a few dozen of them however many points there are, so they can be reached by keyboard.
    """
    for score_span in _spans(across.range):
        within = (scores >= score_span.low) & (scores <= score_span.high)
        for label_span in _spans(up.range):
            times = int((within & (labels >= label_span.low) & (labels <= label_span.high)).sum())
            if times:
                told = (
                    f"scores {score_span.low:g} to {score_span.high:g}, labels {label_span.low:g} to"
                    f" {label_span.high:g}: {times:,} {'summary' if times == 1 else 'summaries'}"
                )
                address = links.region(score_span, label_span)
                link = ET.SubElement(svg, "a", {"class": "tile", "href": address, "aria-label": told})
                ET.SubElement(link, "title").text = told
                left, right = across.at(score_span.low), across.at(score_span.high)
                top, bottom = up.at(label_span.high), up.at(label_span.low)
                size = {"width": unit(right - left), "height": unit(bottom - top)}
                ET.SubElement(link, "rect", {"x": unit(left), "y": unit(top), **size})


def link_dots(svg: ET.Element, dots: Dots, labels: Floats, scores: Floats, links: Links) -> None:
    """Draw a link over each dot of one summary, for the mouse alone: the keyboard has the tiles."""
    for place in np.flatnonzero(dots.counts[dots.of_points] == 1).tolist():
        dot = dots.of_points[place]
        for_mouse = {"class": "dot-link", "tabindex": "-1", "aria-hidden": "true"}
        link = ET.SubElement(svg, "a", {**for_mouse, "href": links.summary(place)})
        ET.SubElement(link, "title").text = f"score {scores[place]:.3f}, label {labels[place]:.3f}"
        ET.SubElement(link, "circle", {"cx": unit(dots.x[dot]), "cy": unit(dots.y[dot]), "r": "5"})


def _spans(span: Range) -> list[Range]:
    """Return the ranges between neighbouring numbers of an axis, and to its ends."""
    edges = sorted({span.low, *ticks(span), span.high})
    return [Range(low, high) for low, high in itertools.pairwise(edges)]
