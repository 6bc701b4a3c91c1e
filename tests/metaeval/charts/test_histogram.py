"""Histograms of labels and scores."""

import itertools
import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.charts import Range, histogram

numbers = st.floats(-1e6, 1e6, allow_nan=False).map(lambda number: round(number, 6))


def columns(text):
    """Return the title and height of each column."""
    svg = ET.fromstring(text)
    return [(rect.find("title").text, float(rect.get("height"))) for rect in svg.findall("rect")]


def test_few_distinct_values_get_one_column_each():
    labels = np.array([1, 4 / 3, 4 / 3, 5 / 3, 5, 5, 5, 5])
    found = columns(histogram(labels, title="Labels", counted="summaries", span=Range(1, 5)))
    assert [title for title, _ in found] == [
        "1: 1 of 8 summaries", "1.33: 2 of 8 summaries", "1.67: 1 of 8 summaries", "5: 4 of 8 summaries",
    ]  # fmt: skip
    assert found[3][1] == pytest.approx(4 * found[0][1], abs=0.2)


def test_evenly_spaced_values_fall_into_equal_columns():
    """Columns that hold two values and one in turn would look like a comb."""
    labels = np.repeat(np.arange(1, 5.01, 1 / 12), 3)
    found = columns(histogram(labels, title="Labels", counted="summaries", span=Range(1, 5)))
    assert len({height for _, height in found[:-1]}) == 1


@given(st.lists(numbers, min_size=1, max_size=60))
def test_every_value_is_counted_in_one_column(values):
    found = columns(histogram(np.array(values), title="Scores", counted="summaries"))
    counts = [int(re.search(r": ([\d,]+) of", title)[1].replace(",", "")) for title, _ in found]
    assert sum(counts) == len(values)
    assert 1 <= len(found) <= 27


def test_tick_labels_of_few_values_do_not_overlap():
    svg = histogram(np.array([0.0, 1.0, 1.0]), title="Scores", counted="summaries")
    under = re.findall(r'<text class="tick middle" x="([0-9.]+)"', svg)
    places = [float(x) for x in under]
    assert len(places) >= 2
    assert min(b - a for a, b in itertools.pairwise(places)) >= 26


@pytest.mark.parametrize("span", [Range(0, 150), Range(0, 1), Range(-2000, 12000)])
def test_tick_labels_lie_within_the_drawing(span):
    values = np.linspace(span.low, span.high, 5000)
    svg = ET.fromstring(histogram(values, title="Scores", counted="summaries", span=span))
    width = float(svg.get("viewBox").split()[2])
    for each in svg.findall("text"):
        x, half = float(each.get("x")), 3.5 * len(each.text)
        if each.get("class") == "tick middle":
            assert half <= x <= width - half, each.text
        elif each.get("class") == "tick end":
            assert x >= 2 * half, each.text
