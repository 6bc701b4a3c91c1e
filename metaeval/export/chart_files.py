"""A chart as a file: SVG, PNG, PDF, or its numbers as CSV. Text in the PDF can be searched.

Typst brings its own fonts, so the result is the same on every machine. Libertinus Serif has Latin, Greek and
Cyrillic letters; others come from the machine's fonts.
"""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

import typst
from django.contrib.staticfiles import finders
from django.utils.text import slugify

from metaeval.export.chart import Chart
from metaeval.export.formats import as_csv

PALETTES = ("css/base.css", "css/charts.css")
RULES = "css/charts.css"
FONTS = "'Helvetica Neue', Helvetica, Arial, 'Noto Sans', 'Liberation Sans', 'DejaVu Sans', sans-serif"
AT_RULE = re.compile(r"@[^{;]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
ROOT = re.compile(r":root\s*\{([^}]*)\}")


def standalone(drawn: str) -> str:
    """Return the drawing with its styles.

    Raises ValueError for a colour that the light theme does not name.
    """
    svg = ET.fromstring(drawn)  # noqa: S314 - our own drawing
    _, _, width, height = svg.get("viewBox", "").split()
    svg.attrib = {
        "xmlns": "http://www.w3.org/2000/svg",
        "width": width,
        "height": height,
        "font-family": FONTS,
        **svg.attrib,
    }
    style = ET.Element("style")
    style.text = _light_styles()
    words = len(svg.findall("title") + svg.findall("desc"))
    svg.insert(words, style)
    svg.insert(words + 1, ET.Element("rect", {"class": "ground", "width": width, "height": height}))
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(svg, encoding="unicode") + "\n"


@cache
def _light_styles() -> str:
    sheets = {name: COMMENT.sub("", _sheet(name)) for name in PALETTES}
    colours = {
        name: value.strip()
        for sheet in sheets.values()
        for block in ROOT.findall(AT_RULE.sub("", sheet))
        for name, _, value in (entry.strip().partition(":") for entry in block.split(";"))
    }
    rules = ROOT.sub("", AT_RULE.sub("", sheets[RULES]))

    def colour(use: re.Match[str]) -> str:
        if use[1] not in colours:
            raise ValueError(f"{RULES} uses {use[1]}, which the light theme does not name")
        return colours[use[1]]

    return re.sub(r"var\((--[\w-]+)\)", colour, rules).strip()


def _sheet(name: str) -> str:
    found = finders.find(name)
    if not isinstance(found, str):
        raise ValueError(f"the style sheet {name} is not among the static files")
    return Path(found).read_text(encoding="utf-8")


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


class FileKind(NamedTuple):
    content_type: str
    content: Callable[[Chart], bytes]


CHART_FILES: dict[str, FileKind] = {
    "svg": FileKind("image/svg+xml", lambda chart: standalone(chart.svg).encode()),
    "png": FileKind("image/png", lambda chart: as_png(standalone(chart.svg))),
    "pdf": FileKind("application/pdf", lambda chart: as_pdf(standalone(chart.svg))),
    "csv": FileKind("text/csv; charset=utf-8", lambda chart: as_csv(chart.rows()).encode()),
}
"""Kinds of files by the extension of the file's name."""


def file_name(project: str, chart: Chart, kind: str) -> str:
    """Return a file name in lower-case ASCII, such as project-evaluator-dimension-chart.kind."""
    parts = (slugify(part) for part in (project, *chart.about, chart.name))
    return f"{'-'.join(part for part in parts if part)}.{kind}"
