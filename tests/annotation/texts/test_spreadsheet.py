import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.texts.spreadsheet import STARTS_FORMULA, original_text, plain_cell


def test_a_cell_that_could_be_a_formula_gets_an_apostrophe(subtests):
    for text in ["=1+1", "+1", "-1+2", "-", "@SUM(A1)", "\t=1", "\r=1", "'=1"]:
        with subtests.test(text=text):
            assert plain_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "text", "a=1", "'a", "'", "-1", "-0.5", "1e-05"])
def test_other_texts_are_unchanged(text):
    assert plain_cell(text) == text


@given(st.text("'=+-@\t\r1a", max_size=6))
def test_every_text_can_be_read_back_and_none_is_a_formula(text):
    cell = plain_cell(text)
    assert original_text(cell) == text
    assert not cell.startswith(STARTS_FORMULA) or float(cell) < 0
