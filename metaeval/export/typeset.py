"""A drawing as PDF and PNG for a paper. Text in the PDF can be searched.

Typst brings its own fonts, so the result is the same on every machine. Libertinus Serif has Latin, Greek and
Cyrillic letters; others come from the machine's fonts.
"""

import re
from functools import cache
from xml.etree import ElementTree as ET

import typst

FONT = "Libertinus Serif"
DOTS_PER_INCH = 300
DOCUMENT = b"""
#let chart = sys.inputs
#set document(title: chart.title, date: none)
#set page(width: float(chart.width) * 1pt, height: float(chart.height) * 1pt, margin: 0pt)
#image(bytes(chart.drawing), format: "svg", width: 100%, alt: chart.told)
"""
POINTS_PER_UNIT = 0.75  # CSS pixels, as in the SVG, to points


def as_pdf(svg: str) -> bytes:
    """Return the standalone drawing `svg` as a page of its size. Raises typst.TypstError.

    Raises typst.TypstError if it is no SVG.
    """
    return _compiled(svg, "pdf")


def as_png(svg: str) -> bytes:
    """Return the standalone drawing `svg` at 300 dots per inch. Raises typst.TypstError."""
    return _compiled(svg, "png")


def _compiled(svg: str, kind: str) -> bytes:
    root = ET.fromstring(svg)  # noqa: S314 - our own drawing
    words = {child.tag.rpartition("}")[2]: child.text or "" for child in root}
    inputs = {
        "title": words.get("title", ""),
        "told": words.get("desc", ""),
        "width": str(float(root.get("width", "")) * POINTS_PER_UNIT),
        "height": str(float(root.get("height", "")) * POINTS_PER_UNIT),
        "drawing": re.sub(r'font-family="[^"]*"', f'font-family="{FONT}"', svg, count=1),
    }
    if kind == "pdf":
        return typst.compile(DOCUMENT, format="pdf", sys_inputs=inputs, font_paths=_fonts())
    return typst.compile(DOCUMENT, format="png", sys_inputs=inputs, font_paths=_fonts(), ppi=DOTS_PER_INCH)


@cache
def _fonts() -> typst.Fonts:
    return typst.Fonts()
