"""Answers as columns."""

from xml.etree import ElementTree as ET

import numpy as np

from metaeval.charts import answer_columns


def test_an_answer_that_nobody_gave_has_a_place_and_no_share():
    text = answer_columns(np.array([0, 0]), ("Yes", "No"), title="Answers")
    assert "%" not in text
    assert len(ET.fromstring(text).findall("rect")) == 2
