"""Charts: what is drawn stands where it should, is told in words too, and escapes all names."""

import itertools
import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metaeval.chart_parts import Range, nice_range, ticks
from metaeval.charts import answer_columns, histogram, scatter, system_means
from metaeval.system_marks import legend_mark

PAYLOAD = "</title><script>alert(1)</script>&\"'"
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
    """Places of all dots and the number of their size."""
    found = []
    for path in svg.findall("path"):
        size = int(path.get("class").rpartition("-")[2])
        for x, y in re.findall(r"M(\S+) (\S+?)h0", path.get("d")):
            found.append((float(x), float(y), size))
    return sorted(found)


def test_higher_scores_stand_further_right_and_higher_labels_further_up():
    _, svg = draw([1, 2, 5], [0.1, 0.5, 0.9], [0, 0, 1])
    (x1, y1, _), (x2, y2, _), (x3, y3, _) = dots(svg)
    assert x1 < x2 < x3
    assert y1 > y2 > y3
    assert (x3 - x2) == pytest.approx(x2 - x1, abs=0.2)
    assert (y2 - y3) == pytest.approx(3 * (y1 - y2), abs=0.4)


def test_points_that_fall_together_are_one_larger_dot():
    _, svg = draw([1, 1, 1, 5], [0.1, 0.1, 0.1, 0.9], [0, 0, 0, 1])
    assert [size for *_, size in dots(svg)] == [3, 1]


def test_a_hundred_thousand_points_stay_a_small_drawing():
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


def test_means_are_those_of_the_systems_summaries():
    means = system_means(
        np.array([1.0, 2.0, 4.0]), np.array([0.1, 0.3, 0.9]), np.array([2, 2, -1]), n_systems=4
    )
    assert means == [(2, 1.5, pytest.approx(0.2), 2)]


@pytest.mark.parametrize(
    "text",
    [
        draw([1, 2], [0.1, 0.5], [0, 1])[0],
        histogram(np.array([1.0, 2.0, 2.0]), title="Scores", counted="summaries"),
        answer_columns(np.array([3, 1]), ("Yes", "No"), title="Answers"),
    ],
)
def test_every_chart_says_what_it_shows_and_brings_no_style_of_its_own(text):
    svg = ET.fromstring(text)
    assert svg.get("role") == "img"
    assert svg.find("title").text
    assert svg.find("desc").text
    assert "style=" not in text
    assert "fill=" not in text


def test_names_are_escaped():
    text, svg = draw(
        [1, 2], [0.1, 0.5], [0, 1], system_names=(PAYLOAD, "b"), score_title=PAYLOAD, label_title=PAYLOAD
    )
    assert "<script" not in text
    assert svg.find("title").text == f"{PAYLOAD} against {PAYLOAD}"
    assert "<script" not in answer_columns(np.array([1]), (PAYLOAD,), title=PAYLOAD)


def test_a_long_name_is_cut_along_the_axis_and_whole_in_the_title():
    name = "an evaluator with a very long name " * 5
    _, svg = draw([1, 2], [0.1, 0.5], [0, 1], score_title=name)
    assert name in svg.find("title").text
    assert all(len(text.text) < 60 for text in svg.findall("text"))


def test_sixteen_systems_differ_in_shape_or_fill_alone():
    marks = set()
    for system in range(16):
        (mark,) = ET.fromstring(legend_mark(system))
        marks.add((mark.get("points"), "hollow" in mark.get("class")))
    assert len(marks) == 16


def test_a_hundred_and_twenty_eight_systems_differ_in_shape_fill_or_colour():
    assert len({legend_mark(system) for system in range(128)}) == 128


def columns(text):
    """Title and height of each column."""
    svg = ET.fromstring(text)
    return [(rect.find("title").text, float(rect.get("height"))) for rect in svg.findall("rect")]


def test_a_few_values_have_a_column_each():
    labels = np.array([1, 4 / 3, 4 / 3, 5 / 3, 5, 5, 5, 5])
    found = columns(histogram(labels, title="Labels", counted="summaries", span=Range(1, 5)))
    assert [title for title, _ in found] == [
        "1: 1 of 8 summaries", "1.33: 2 of 8 summaries", "1.67: 1 of 8 summaries", "5: 4 of 8 summaries",
    ]  # fmt: skip
    assert found[3][1] == pytest.approx(4 * found[0][1], abs=0.2)


def test_evenly_spaced_values_are_put_together_in_equal_numbers():
    """Else one column would hold two of the values and its neighbour one, which looks like a comb."""
    labels = np.repeat(np.arange(1, 5.01, 1 / 12), 3)
    found = columns(histogram(labels, title="Labels", counted="summaries", span=Range(1, 5)))
    assert len({height for _, height in found[:-1]}) == 1


@settings(max_examples=80, deadline=None)
@given(st.lists(numbers, min_size=1, max_size=60))
def test_the_columns_of_a_histogram_hold_every_value_once(values):
    found = columns(histogram(np.array(values), title="Scores", counted="summaries"))
    counts = [int(re.search(r": ([\d,]+) of", title)[1].replace(",", "")) for title, _ in found]
    assert sum(counts) == len(values)
    assert 1 <= len(found) <= 27


@settings(max_examples=80, deadline=None)
@given(st.lists(numbers, min_size=1, max_size=20))
def test_axes_have_round_numbers_around_all_values(values):
    span = nice_range(np.array(values))
    hair = (span.high - span.low) * 1e-8
    assert span.low <= min(values) + hair
    assert span.high >= max(values) - hair
    assert 2 <= len(ticks(span)) <= 12


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=30))
def test_nothing_is_drawn_outside_of_the_frame(points):
    labels, scores = zip(*points, strict=True)
    _, svg = draw(labels, scores, [0] * len(points))
    for x, y, _ in dots(svg):
        assert 0 <= x <= 460
        assert 0 <= y <= 380


def test_an_answer_that_nobody_gave_has_a_place_and_no_share():
    text = answer_columns(np.array([0, 0]), ("Yes", "No"), title="Answers")
    assert "%" not in text
    assert len(columns(text)) == 2


def test_numbers_under_a_histogram_of_few_values_do_not_run_into_each_other():
    svg = histogram(np.array([0.0, 1.0, 1.0]), title="Scores", counted="summaries")
    under = re.findall(r'<text class="tick middle" x="([0-9.]+)"', svg)
    places = [float(x) for x in under]
    assert len(places) >= 2
    assert min(b - a for a, b in itertools.pairwise(places)) >= 26
