"""Links of the scatter plot: tiles to lists of summaries, dots to single summaries."""

from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.charts import Links, scatter

numbers = st.floats(-100, 100).map(lambda number: round(number, 3))
LINKS = Links(
    lambda scores, labels: f"list?{scores.low:g},{scores.high:g},{labels.low:g},{labels.high:g}",
    lambda place: f"summary/{place}",
)


def draw(labels, scores, links=LINKS, **options):
    return ET.fromstring(
        scatter(
            np.array(labels, float),
            np.array(scores, float),
            np.zeros(len(labels), dtype=np.int64),
            system_names=("first",),
            score_title="Score",
            label_title="Label",
            links=links,
            **options,
        )
    )


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=40))
def test_every_summary_is_listed_by_a_tile_that_states_its_count(points):
    labels, scores = np.array(points).T
    listed = np.zeros(len(points), dtype=bool)
    for tile in draw(labels, scores).findall("a[@class='tile']"):
        low, high, lowest, highest = map(float, tile.get("href").removeprefix("list?").split(","))
        inside = (scores >= low) & (scores <= high) & (labels >= lowest) & (labels <= highest)
        listed |= inside
        assert tile.get("aria-label").split(": ")[1].split()[0] == str(inside.sum())
    assert listed.all()


def test_a_hundred_thousand_summaries_need_fewer_than_100_links():
    rng = np.random.default_rng(0)
    svg = draw(rng.random(100_000), rng.random(100_000))
    assert 10 < len(svg.findall("a")) < 100
    assert svg.findall("a[@class='dot-link']") == []


def test_only_dots_of_a_single_summary_link_to_it():
    svg = draw([1, 1, 5], [0.1, 0.1, 0.9])
    assert [link.get("href") for link in svg.findall("a[@class='dot-link']")] == ["summary/2"]


def test_keyboard_focus_stops_only_at_tiles():
    svg = draw([1, 3, 5], [0.1, 0.5, 0.9])
    stops = [link for link in svg.findall("a") if link.get("tabindex") != "-1"]
    assert stops == svg.findall("a[@class='tile']")
    assert stops


def test_a_chart_with_links_is_a_group_and_one_without_is_an_image():
    assert draw([1, 2], [1, 2]).get("role") == "group"
    assert draw([1, 2], [1, 2], links=None).get("role") == "img"


def test_a_chart_drawn_without_links_has_none():
    assert draw([1, 2], [1, 2], links=None).findall("a") == []


def test_a_legend_names_the_systems_below_the_chart():
    plain, named = draw([1, 2], [1, 2]), draw([1, 2], [1, 2], legend=True)
    heights = [float(svg.get("viewBox").split()[3]) for svg in (plain, named)]
    (name,) = (text for text in named.findall("text") if text.text == "first")
    assert heights[0] < float(name.get("y")) < heights[1]


@pytest.mark.parametrize("links", [LINKS, None])
def test_links_do_not_move_dots(links):
    dots = [path.get("d") for path in draw([1, 2, 3], [3, 1, 2], links=links).findall("path")]
    assert dots == [path.get("d") for path in draw([1, 2, 3], [3, 1, 2]).findall("path")]
