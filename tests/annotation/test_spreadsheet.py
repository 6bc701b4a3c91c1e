import pytest

from annotation.spreadsheet import plain_cell


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_what_a_spreadsheet_would_run_gets_an_apostrophe(text):
    assert plain_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "text", "a=1", "'=1"])
def test_other_texts_stay_as_they_are(text):
    assert plain_cell(text) == text
