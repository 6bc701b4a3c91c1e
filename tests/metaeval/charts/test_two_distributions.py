"""Mirrored histograms: labels above and scores below one axis."""

import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.charts import Range, two_distributions
from metaeval.charts.two_distributions import MIDDLE

LIKERT = Range(1, 5)
likert = st.tuples(st.integers(1, 5), st.floats(1, 5))


def draw(labels, scores, span=LIKERT, **options):
    text = two_distributions(np.array(labels, float), np.array(scores, float), span=span, **options)
    return ET.fromstring(text)


def counts_of(svg, name):
    kind = "column" if name == "labels" else "column second"
    return [
        int(re.search(r": ([\d,]+) of", bar.find("title").text)[1])
        for bar in svg.findall("rect")
        if bar.get("class") == kind
    ]


@given(st.lists(likert, min_size=1, max_size=50))
def test_every_summary_is_counted_once_above_and_once_below_the_axis(pairs):
    svg = draw(*zip(*pairs, strict=True))
    assert sum(counts_of(svg, "labels")) == sum(counts_of(svg, "scores")) == len(pairs)


def test_labels_are_above_the_axis_and_scores_below():
    for bar in draw([1, 2, 5], [1.5, 2, 3]).findall("rect"):
        top, height = float(bar.get("y")), float(bar.get("height"))
        if bar.get("class") == "column":
            assert top + height == pytest.approx(MIDDLE, abs=0.2)
        else:
            assert top == pytest.approx(MIDDLE, abs=0.2)


def test_equal_labels_and_scores_make_mirrored_columns():
    values = [1, 2, 2, 3, 5, 5, 5]
    svg = draw(values, values)
    assert counts_of(svg, "labels") == counts_of(svg, "scores")
    marks = [line.get("x1") for line in svg.findall("line[@class='mean-line']")]
    assert marks[0] == marks[1]


def test_scores_between_two_label_values_keep_separate_columns():
    svg = draw([0, 0, 1, 1], [0.2, 0.4, 0.6, 0.8], span=Range(0, 1))
    assert counts_of(svg, "labels") == [2, 2]
    assert counts_of(svg, "scores") == [1, 1, 1, 1]


def test_means_are_marked_and_described():
    svg = draw([1, 5], [2, 2], left_out="Left out: nothing.")
    above, below = (float(line.get("x1")) for line in svg.findall("line[@class='mean-line']"))
    assert below < above
    assert "human labels: mean 3.000" in [text.text for text in svg.findall("text")]
    assert "Scores: mean 2.000" in svg.find("desc").text
    assert svg.find("desc").text.endswith("Left out: nothing.")


def test_scores_beyond_the_labels_scale_are_refused():
    with pytest.raises(ValueError, match="beyond the labels'"):
        draw([1, 2], [0.5, 2])
