"""Scatter plots: the places of dots and means, and the size of the drawing."""

import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.charts import Range, scatter, system_means

numbers = st.floats(-1e6, 1e6, allow_nan=False).map(lambda number: round(number, 6))


def draw(labels, scores, systems, **options):
    defaults = {
        "system_names": ("first", "second"),
        "score_title": "Score by ROUGE",
        "label_title": "Human label",
    }
    text = scatter(
        np.array(labels, dtype=float),
        np.array(scores, dtype=float),
        np.array(systems, dtype=np.int64),
        **{**defaults, **options},
    )
    return text, ET.fromstring(text)


def dots(svg):
    """Return the place of each dot with its size class."""
    found = []
    for path in svg.findall("path"):
        size = int(path.get("class").rpartition("-")[2])
        for x, y in re.findall(r"M(\S+) (\S+?)h0", path.get("d")):
            found.append((float(x), float(y), size))
    return sorted(found)


def test_higher_scores_lie_further_right_and_higher_labels_further_up():
    _, svg = draw([1, 2, 5], [0.1, 0.5, 0.9], [0, 0, 1])
    (x1, y1, _), (x2, y2, _), (x3, y3, _) = dots(svg)
    assert x1 < x2 < x3
    assert y1 > y2 > y3
    assert (x3 - x2) == pytest.approx(x2 - x1, abs=0.2)
    assert (y2 - y3) == pytest.approx(3 * (y1 - y2), abs=0.4)


def test_coinciding_points_share_one_larger_dot():
    _, svg = draw([1, 1, 1, 5], [0.1, 0.1, 0.1, 0.9], [0, 0, 0, 1])
    assert [size for *_, size in dots(svg)] == [3, 1]


def test_a_hundred_thousand_points_make_a_small_drawing():
    rng = np.random.default_rng(0)
    text, _ = draw(rng.random(100_000), rng.random(100_000), rng.integers(0, 2, 100_000))
    assert len(text) < 80_000


def test_each_system_has_a_mark_at_its_means():
    _, svg = draw([1, 3, 2, 4], [1, 3, 5, 5], [0, 0, 1, 1], label_range=Range(1, 5))
    titles = [mark.find("title").text for mark in svg.findall("polygon")]
    assert titles == [
        "first: mean score 2.000, mean label 2.000, 2 summaries",
        "second: mean score 5.000, mean label 3.000, 2 summaries",
    ]


def test_system_means_cover_only_known_systems_with_summaries():
    means = system_means(
        np.array([1.0, 2.0, 4.0]), np.array([0.1, 0.3, 0.9]), np.array([2, 2, -1]), n_systems=4
    )
    assert means == [(2, 1.5, pytest.approx(0.2), 2)]


def test_a_long_name_is_cut_on_the_axis_and_whole_in_the_title():
    name = "an evaluator with a very long name " * 5
    _, svg = draw([1, 2], [0.1, 0.5], [0, 1], score_title=name)
    assert name in svg.find("title").text
    assert all(len(text.text) < 60 for text in svg.findall("text"))


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=30))
def test_all_dots_lie_within_the_frame(points):
    labels, scores = zip(*points, strict=True)
    _, svg = draw(labels, scores, [0] * len(points))
    for x, y, _ in dots(svg):
        assert 0 <= x <= 460
        assert 0 <= y <= 380
