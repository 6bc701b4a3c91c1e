"""Calibration plots, and the groups of neighbouring scores behind them."""

import itertools
import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.charts import Range, calibration_bins, calibration_plot

numbers = st.floats(-1e6, 1e6, allow_nan=False).map(lambda number: round(number, 3))


def draw(labels, scores, **options):
    text = calibration_plot(
        np.array(labels, dtype=float),
        np.array(scores, dtype=float),
        **{"score_title": "Score by ICE", "label_title": "Human label", **options},
    )
    return ET.fromstring(text)


def test_each_bin_holds_the_means_of_its_summaries():
    labels, scores = np.array([1.0, 2, 3, 5, 4, 5]), np.array([0.1, 0.2, 0.3, 0.7, 0.8, 0.9])
    low, high = calibration_bins(labels, scores, most=2)
    assert low == (0.1, 0.3, pytest.approx(0.2), 2.0, 3)
    assert high == (0.7, 0.9, pytest.approx(0.8), pytest.approx(14 / 3), 3)


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=60), st.integers(1, 12))
def test_every_summary_is_in_one_bin_and_equal_scores_share_one(pairs, most):
    labels, scores = np.array(pairs).T
    bins = calibration_bins(labels, scores, most)
    assert sum(each.n for each in bins) == len(pairs)
    assert len(bins) <= most
    assert all(before.highest < after.lowest for before, after in itertools.pairwise(bins))


def test_no_summaries_give_no_bins():
    assert calibration_bins(np.array([]), np.array([])) == []


def test_labels_equal_to_scores_lie_on_the_diagonal():
    values = np.linspace(1, 5, 40)
    svg = draw(values, values, same_scale=True, label_range=Range(1, 5))
    ends = {name: float(svg.find("line[@class='diagonal']").get(name)) for name in ("x1", "y1", "x2", "y2")}
    slope = (ends["y2"] - ends["y1"]) / (ends["x2"] - ends["x1"])
    for dot in svg.findall("circle"):
        on_the_line = ends["y1"] + slope * (float(dot.get("cx")) - ends["x1"])
        assert float(dot.get("cy")) == pytest.approx(on_the_line, abs=0.3)


def test_the_description_states_the_mean_shift():
    svg = draw([1, 2, 3], [2, 3, 4], same_scale=True, label_range=Range(1, 5))
    assert "Mean score less mean label: +1.000." in svg.find("desc").text


def test_scores_on_another_scale_have_no_diagonal():
    svg = draw([1, 2, 3], [-9, 0, 12])
    assert svg.find("line[@class='diagonal']") is None
    assert "less mean label" not in svg.find("desc").text


def test_the_description_lists_left_out_summaries():
    assert "4 articles left out" in draw([1, 2], [1, 2], left_out="4 articles left out.").find("desc").text


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=30), st.booleans())
def test_all_dots_lie_within_the_frame(pairs, same_scale):
    labels, scores = zip(*pairs, strict=True)
    for dot in draw(labels, scores, same_scale=same_scale).findall("circle"):
        assert 0 <= float(dot.get("cx")) <= 460
        assert 0 <= float(dot.get("cy")) <= 380


def test_names_are_escaped():
    text = calibration_plot(
        np.array([1.0]), np.array([1.0]), score_title="<script>", label_title="</title><script>"
    )
    assert not re.search("<script", text)


def test_overlapping_bin_labels_are_left_out():
    scores = np.concatenate([np.linspace(0.5, 0.52, 40), [0.0, 1.0]])
    svg = draw(np.linspace(0.4, 0.6, 42), scores, label_range=Range(0, 1))
    names = [each for each in svg.findall("text") if each.text.startswith("n ")]
    assert 0 < len(names) < len(svg.findall("circle"))
    places = [(float(each.get("x")), float(each.get("y"))) for each in names]
    for (x, y), (other_x, other_y) in itertools.combinations(places, 2):
        assert abs(x - other_x) >= 48 or abs(y - other_y) >= 15
