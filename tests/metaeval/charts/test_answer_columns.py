"""Column charts of answers."""

from xml.etree import ElementTree as ET

import numpy as np

from metaeval.charts import answer_columns


def test_an_answer_nobody_gave_has_a_column_without_a_percentage():
    text = answer_columns(np.array([0, 0]), ("Yes", "No"), title="Answers")
    assert "%" not in text
    assert len(ET.fromstring(text).findall("rect")) == 2
