"""Self-contained SVG files of charts."""

from xml.etree import ElementTree as ET

import numpy as np

from metaeval.charts import Range, answer_columns, calibration_plot, histogram, legend_mark, scatter
from metaeval.export.standalone_svg import standalone

SVG = "{http://www.w3.org/2000/svg}"
VALUES = np.array([1.0, 2.0, 2.5, 5.0])
CHARTS = {
    "scatter": scatter(
        VALUES,
        VALUES / 5,
        np.array([0, 9, 17, -1]),
        system_names=[f"system {number}" for number in range(18)],
        score_title="Score by ICE",
        label_title="Human label",
        label_range=Range(1, 5),
    ),
    "histogram": histogram(VALUES, title="Scores", counted="summaries"),
    "answers": answer_columns(np.array([3, 1]), ("Yes", "No"), title="Answers"),
    "calibration": calibration_plot(
        VALUES, VALUES, score_title="Score", label_title="Label", same_scale=True
    ),
    "mark": legend_mark(9),
}


def test_every_class_has_an_embedded_style_without_variables(subtests):
    for name in CHARTS:
        with subtests.test(name=name):
            root = ET.fromstring(standalone(CHARTS[name]))
            rules = root.find(f"{SVG}style").text
            assert "var(" not in rules
            assert "@media" not in rules
            used = {each for element in root.iter() for each in element.get("class", "").split()}
            kinds = set(root.get("class").split())
            assert {each for each in used - kinds if f".{each}" not in rules} == set()


def test_files_always_use_the_light_theme():
    rules = ET.fromstring(standalone(CHARTS["scatter"])).find(f"{SVG}style").text
    assert ".series-0 { fill: #0072b2; }" in rules
    assert "#5aa9e0" not in rules
    assert ".chart .ground { fill: #ffffff; }" in rules


def test_files_have_a_size_a_title_and_a_description():
    root = ET.fromstring(standalone(CHARTS["scatter"]))
    assert (root.get("width"), root.get("height")) == tuple(root.get("viewBox").split()[2:])
    assert root.find(f"{SVG}title").text == "Score by ICE against Human label"
    assert "4 summaries" in root.find(f"{SVG}desc").text
