"""What holds for every chart: it is told in words, styled by classes alone, and escapes all names."""

from xml.etree import ElementTree as ET

import numpy as np
import pytest

from metaeval.charts import (
    Measured,
    MemberGroup,
    Range,
    answer_columns,
    calibration_plot,
    evaluator_bars,
    histogram,
    interval_dots,
    member_line,
    member_rows,
    scatter,
    two_distributions,
)

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
def test_it_is_told_in_words_and_brings_no_style_of_its_own(text):
    svg = ET.fromstring(text)
    assert svg.get("role") == "img"
    assert svg.find("title").text
    assert svg.find("desc").text
    assert "style=" not in text
    assert "fill=" not in text


@every_chart
def test_names_are_escaped_and_whole(text):
    assert "<script" not in text
    assert PAYLOAD in "".join(ET.fromstring(text).itertext())
