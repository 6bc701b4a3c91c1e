"""A chart as a standalone drawing: styles included, light theme, white background."""

import re
from functools import cache
from pathlib import Path
from xml.etree import ElementTree as ET

from django.contrib.staticfiles import finders

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
