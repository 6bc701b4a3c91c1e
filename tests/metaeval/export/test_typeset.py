"""A drawing as PDF and PNG: of the right size, with text that stays text, and the same every time."""

import re
import struct
import zlib

import pytest
import typst

from metaeval.charts import legend_mark
from metaeval.export.typeset import as_pdf, as_png

NAMES = "ρ Işıltı ğ · Tiếng Việt ỗượ · Оценка"
DRAWING = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="100" viewBox="0 0 400 100"'
    ' font-family="Arial">'
    f"<title>A title</title><desc>Twelve summaries</desc><style>.red {{ fill: #c00 }}</style>"
    f'<rect class="red" width="40" height="100"/><text x="50" y="50">{NAMES}</text></svg>'
)


def unpacked(pdf):
    """A PDF's own text, its compressed parts included."""
    parts = [pdf]
    for part in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL):
        try:
            parts.append(zlib.decompress(part))
        except zlib.error:
            continue  # a part that is not compressed, already there in `pdf`
    return b"".join(parts)


def test_a_pdf_is_one_page_of_the_drawings_size():
    text = unpacked(as_pdf(DRAWING))
    assert text.startswith(b"%PDF-")
    assert [float(side) for side in re.search(rb"/MediaBox ?\[([^\]]+)\]", text)[1].split()] == [
        0,
        0,
        300,
        75,
    ]


def test_a_pdf_stays_a_drawing_whose_text_can_be_searched():
    text = unpacked(as_pdf(DRAWING))
    assert not re.search(rb"/Subtype ?/Image", text)
    assert b"LibertinusSerif" in text
    searchable = text.upper()
    for letter in set(NAMES) - {" "}:
        assert f"{ord(letter):04X}".encode() in searchable, letter


def test_a_pdf_says_what_it_shows():
    text = unpacked(as_pdf(DRAWING))
    assert b"A title" in text
    assert b"Twelve summaries" in text


def pixels(png):
    width, height = struct.unpack(">II", png[16:24])
    return width, height


def test_a_png_has_300_dots_per_inch_of_css():
    png = as_png(DRAWING)
    assert png.startswith(b"\x89PNG")
    assert pixels(png) == pytest.approx((400 / 96 * 300, 100 / 96 * 300), abs=1)


def test_the_same_drawing_makes_the_same_files():
    assert as_pdf(DRAWING) == as_pdf(DRAWING)
    assert as_png(DRAWING) == as_png(DRAWING)


def test_styles_by_class_are_drawn():
    """The same drawing without its style is another picture."""
    assert as_png(DRAWING) != as_png(DRAWING.replace(".red", ".other"))


def test_a_name_is_never_taken_for_a_command():
    as_pdf(DRAWING.replace(NAMES, '#panic("x") ${\\input{x}} &lt;script&gt;'))


def test_what_is_not_standalone_is_refused():
    with pytest.raises((ValueError, typst.TypstError)):
        as_pdf(legend_mark(0))
