"""Rules for every chart: a text description, no inline styles, escaped names."""

from itertools import pairwise
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from metaeval.charts import (
    Curve,
    Measured,
    MemberGroup,
    Range,
    answer_columns,
    calibration_plot,
    curves,
    evaluator_bars,
    histogram,
    interval_dots,
    learning_curve,
    member_line,
    member_rows,
    scatter,
    two_distributions,
)
from metaeval.charts.parts import LETTER

PAYLOAD = "</title><script>alert(1)</script>&\"'"
VALUES = np.array([1.0, 2.0, 2.0])
CHARTS = {
    "scatter": scatter(
        VALUES,
        VALUES,
        np.array([0, 1, -1]),
        system_names=(PAYLOAD, "b"),
        score_title=PAYLOAD,
        label_title=PAYLOAD,
        legend=True,
    ),
    "histogram": histogram(VALUES, title=PAYLOAD, counted="summaries"),
    "answers": answer_columns(np.array([3, 1]), (PAYLOAD, "No"), title=PAYLOAD),
    "calibration": calibration_plot(VALUES, VALUES, score_title=PAYLOAD, label_title=PAYLOAD),
    "bars": evaluator_bars([Measured(PAYLOAD, 0.5)], title=PAYLOAD, value_title=PAYLOAD),
    "intervals": interval_dots([Measured(PAYLOAD, 0.5)], title=PAYLOAD, value_title=PAYLOAD),
    "curves": curves(
        [Curve(PAYLOAD, [1, 2], [0.5, 0.4]), Curve("b", [2], [0.6])],
        title=PAYLOAD,
        across_title=PAYLOAD,
        up_title=PAYLOAD,
        best=2,
    ),
    "learning curve": learning_curve(
        [10.0, 20.0],
        [Measured("10%", 0.5, 0.4, 0.6), Measured("100%", 0.6)],
        [Measured(PAYLOAD, 0.55, 0.5, 0.6)],
        title=PAYLOAD,
        across_title=PAYLOAD,
        up_title=PAYLOAD,
        name=PAYLOAD,
    ),
    "members": member_rows(
        [MemberGroup(PAYLOAD, [Measured(PAYLOAD, 0.5)])], title=PAYLOAD, value_title=PAYLOAD
    ),
    "member line": member_line(
        [1.0, 2.0],
        [Measured(PAYLOAD, 0.5), Measured("2", 0.6)],
        Range(0, 1),
        title=PAYLOAD,
        across_title=PAYLOAD,
        up_title=PAYLOAD,
    ),
    "distributions": two_distributions(VALUES, VALUES, span=Range(1, 5), left_out=PAYLOAD),
}
every_chart = pytest.mark.parametrize("text", CHARTS.values(), ids=CHARTS)


@every_chart
def test_every_chart_has_a_description_and_no_inline_style(text):
    svg = ET.fromstring(text)
    assert svg.get("role") == "img"
    assert svg.find("title").text
    assert svg.find("desc").text
    assert "style=" not in text
    assert "fill=" not in text


@every_chart
def test_names_are_escaped_in_full(text):
    assert "<script" not in text
    assert PAYLOAD in "".join(ET.fromstring(text).itertext())


LONG = "Does the summary repeat what the article says, in other words and without adding anything to it"
NAME = "gpt-judge-large-2026-02-01 with four examples from every quarter of the labels, seed 17"
WITH_LONG_NAMES = {
    "scatter": scatter(
        VALUES,
        VALUES,
        np.array([0, 1, -1]),
        system_names=(NAME, "b"),
        score_title=LONG,
        label_title=LONG,
        legend=True,
    ),
    "histogram": histogram(VALUES, title=LONG, counted="summaries"),
    "answers": answer_columns(np.array([3, 1, 2, 2, 1]), (NAME, "No", "b", "c", "d"), title=LONG),
    "calibration": calibration_plot(VALUES, VALUES, score_title=LONG, label_title=LONG),
    "bars": evaluator_bars([Measured(NAME, 0.5)], title=LONG, value_title=LONG),
    "intervals": interval_dots([Measured(NAME, -0.5, -0.6, -0.4)], title=LONG, value_title=LONG),
    "members": member_rows(
        [MemberGroup(LONG, [Measured(NAME, 0.5)]), MemberGroup("b", [Measured("c", 0.1)])],
        title=LONG,
        value_title=LONG,
    ),
    "member line": member_line(
        [1.0, 2.0],
        [Measured("1", 0.5), Measured("2", 0.6)],
        Range(0, 1),
        title=LONG,
        across_title=LONG,
        up_title=LONG,
    ),
}


@pytest.mark.parametrize("chart", WITH_LONG_NAMES)
def test_long_titles_and_names_are_whole_and_within_the_drawing(chart):
    svg = ET.fromstring(WITH_LONG_NAMES[chart])
    written = "".join(each.text for each in svg.findall("text")).replace(" ", "")
    assert LONG.replace(" ", "") in written
    assert NAME.replace(" ", "") in written or chart in ("histogram", "calibration", "member line")
    _, _, width, height = (float(side) for side in svg.get("viewBox").split())
    for each in svg.findall("text"):
        reach = LETTER * len(each.text)
        assert float(each.get("y")) <= height
        if each.get("transform"):
            assert reach <= height
        else:
            start = float(each.get("x")) - {"middle": reach / 2, "end": reach}.get(_anchor(each), 0.0)
            assert start >= -1, each.text
            assert start + reach <= width + 1, each.text


def _anchor(text):
    return next((each for each in ("middle", "end") if each in text.get("class").split()), "start")


@pytest.mark.parametrize("text", WITH_LONG_NAMES.values(), ids=WITH_LONG_NAMES)
def test_lines_of_long_names_do_not_run_into_each_other(text):
    by_column = {}
    for each in ET.fromstring(text).findall("text"):
        if not each.get("transform"):
            by_column.setdefault((each.get("x"), _anchor(each)), []).append(float(each.get("y")))
    for heights in by_column.values():
        assert all(below - above >= 12 for above, below in pairwise(sorted(heights)))
