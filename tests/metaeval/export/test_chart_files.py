"""Charts as PDF and PNG files."""

import re
import struct
import zlib
from xml.etree import ElementTree as ET

import numpy as np
import pytest
import typst

from metaeval.charts import Range, answer_columns, calibration_plot, histogram, legend_mark, scatter
from metaeval.export.chart_files import as_pdf, as_png, standalone

SVG = "{http://www.w3.org/2000/svg}"
VALUES = np.array([1.0, 2.0, 2.5, 5.0])
CHARTS = {
    "scatter": scatter(
        VALUES,
        VALUES / 5,
        np.array([0, 9, 17, -1]),
        system_names=[f"system {number}" for number in range(18)],
        score_title="Score by ICE",
        label_title="Human label",
        label_range=Range(1, 5),
    ),
    "histogram": histogram(VALUES, title="Scores", counted="summaries"),
    "answers": answer_columns(np.array([3, 1]), ("Yes", "No"), title="Answers"),
    "calibration": calibration_plot(
        VALUES, VALUES, score_title="Score", label_title="Label", same_scale=True
    ),
    "mark": legend_mark(9),
}


def test_every_class_has_an_embedded_style_without_variables(subtests):
    for name in CHARTS:
        with subtests.test(name=name):
            root = ET.fromstring(standalone(CHARTS[name]))
            rules = root.find(f"{SVG}style").text
            assert "var(" not in rules
            assert "@media" not in rules
            used = {each for element in root.iter() for each in element.get("class", "").split()}
            kinds = set(root.get("class").split())
            assert {each for each in used - kinds if f".{each}" not in rules} == set()


def test_files_always_use_the_light_theme():
    rules = ET.fromstring(standalone(CHARTS["scatter"])).find(f"{SVG}style").text
    assert ".series-0 { fill: #0072b2; }" in rules
    assert "#5aa9e0" not in rules
    assert ".chart .ground { fill: #ffffff; }" in rules


def test_files_have_a_size_a_title_and_a_description():
    root = ET.fromstring(standalone(CHARTS["scatter"]))
    assert (root.get("width"), root.get("height")) == tuple(root.get("viewBox").split()[2:])
    assert root.find(f"{SVG}title").text == "Score by ICE against Human label"
    assert "4 summaries" in root.find(f"{SVG}desc").text


NAMES = "ρ Işıltı ğ · Tiếng Việt ỗượ · Оценка"
DRAWING = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="100" viewBox="0 0 400 100"'
    ' font-family="Arial">'
    f"<title>A title</title><desc>Twelve summaries</desc><style>.red {{ fill: #c00 }}</style>"
    f'<rect class="red" width="40" height="100"/><text x="50" y="50">{NAMES}</text></svg>'
)


def unpack(pdf):
    """Return a PDF's source, including its compressed parts."""
    parts = [pdf]
    for part in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL):
        try:
            parts.append(zlib.decompress(part))
        except zlib.error:
            continue  # not compressed, so already part of `pdf`
    return b"".join(parts)


def test_a_pdf_is_one_page_with_the_size_of_the_chart():
    text = unpack(as_pdf(DRAWING))
    assert text.startswith(b"%PDF-")
    assert [float(side) for side in re.search(rb"/MediaBox ?\[([^\]]+)\]", text)[1].split()] == [
        0,
        0,
        300,
        75,
    ]


def test_a_pdf_is_a_vector_drawing_with_searchable_text():
    text = unpack(as_pdf(DRAWING))
    assert not re.search(rb"/Subtype ?/Image", text)
    assert b"LibertinusSerif" in text
    searchable = text.upper()
    for letter in set(NAMES) - {" "}:
        assert f"{ord(letter):04X}".encode() in searchable, letter


def test_a_pdf_has_a_title_and_a_description():
    text = unpack(as_pdf(DRAWING))
    assert b"A title" in text
    assert b"Twelve summaries" in text


def pixels_of(png):
    width, height = struct.unpack(">II", png[16:24])
    return width, height


def test_a_png_has_300_dots_per_css_inch():
    png = as_png(DRAWING)
    assert png.startswith(b"\x89PNG")
    assert pixels_of(png) == pytest.approx((400 / 96 * 300, 100 / 96 * 300), abs=1)


def test_the_same_drawing_gives_identical_files():
    assert as_pdf(DRAWING) == as_pdf(DRAWING)
    assert as_png(DRAWING) == as_png(DRAWING)


def test_styles_of_classes_are_applied():
    """Removing the style changes the picture."""
    assert as_png(DRAWING) != as_png(DRAWING.replace(".red", ".other"))


def test_names_are_never_run_as_commands():
    as_pdf(DRAWING.replace(NAMES, '#panic("x") ${\\input{x}} &lt;script&gt;'))


def test_a_drawing_that_is_not_standalone_is_refused():
    with pytest.raises((ValueError, typst.TypstError)):
        as_pdf(legend_mark(0))
