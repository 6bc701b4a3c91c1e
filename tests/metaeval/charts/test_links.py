"""From the scatter to its summaries: tiles that list theirs, dots that lead to one."""

from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings
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


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=40))
def test_every_summary_is_in_the_list_of_a_tile_that_says_how_many_it_has(points):
    labels, scores = np.array(points).T
    listed = np.zeros(len(points), dtype=bool)
    for tile in draw(labels, scores).findall("a[@class='tile']"):
        low, high, lowest, highest = map(float, tile.get("href").removeprefix("list?").split(","))
        inside = (scores >= low) & (scores <= high) & (labels >= lowest) & (labels <= highest)
        listed |= inside
        assert tile.get("aria-label").split(": ")[1].split()[0] == str(inside.sum())
    assert listed.all()


def test_a_hundred_thousand_summaries_have_some_dozens_of_links():
    rng = np.random.default_rng(0)
    svg = draw(rng.random(100_000), rng.random(100_000))
    assert 10 < len(svg.findall("a")) < 100
    assert svg.findall("a[@class='dot-link']") == []


def test_a_dot_of_one_summary_leads_to_it_and_one_of_several_does_not():
    svg = draw([1, 1, 5], [0.1, 0.1, 0.9])
    assert [link.get("href") for link in svg.findall("a[@class='dot-link']")] == ["summary/2"]


def test_the_keyboard_stops_at_tiles_alone():
    svg = draw([1, 3, 5], [0.1, 0.5, 0.9])
    stops = [link for link in svg.findall("a") if link.get("tabindex") != "-1"]
    assert stops == svg.findall("a[@class='tile']")
    assert stops


def test_a_drawing_with_links_is_no_image_whose_parts_are_hidden():
    assert draw([1, 2], [1, 2]).get("role") == "group"
    assert draw([1, 2], [1, 2], links=None).get("role") == "img"


def test_without_links_there_are_none():
    assert draw([1, 2], [1, 2], links=None).findall("a") == []


def test_a_drawing_that_stands_alone_names_its_systems_below():
    plain, named = draw([1, 2], [1, 2]), draw([1, 2], [1, 2], legend=True)
    heights = [float(svg.get("viewBox").split()[3]) for svg in (plain, named)]
    (name,) = (text for text in named.findall("text") if text.text == "first")
    assert heights[0] < float(name.get("y")) < heights[1]


@pytest.mark.parametrize("links", [LINKS, None])
def test_links_move_nothing(links):
    dots = [path.get("d") for path in draw([1, 2, 3], [3, 1, 2], links=links).findall("path")]
    assert dots == [path.get("d") for path in draw([1, 2, 3], [3, 1, 2]).findall("path")]
