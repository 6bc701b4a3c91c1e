import pytest

from annotation.exports.spreadsheet import plain_cell


def test_a_cell_that_could_be_a_formula_gets_an_apostrophe(subtests):
    for text in ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"]:
        with subtests.test(text=text):
            assert plain_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "text", "a=1", "'=1"])
def test_other_texts_are_unchanged(text):
    assert plain_cell(text) == text
