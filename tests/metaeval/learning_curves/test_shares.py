import pytest

from metaeval.learning_curves.shares import read_shares


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("10, ten", "found 'ten', expected a percentage from 0.1 to 100"),
        ("0, 50", "found '0', expected a percentage"),
        ("50, 101", "found '101'"),
        ("nan, 50", "found 'nan'"),
        ("10, 50, 10%", "10%: given twice"),
        ("10", "found 1, expected 2 to 12 shares"),
        ("", "found 0"),
    ],
)
def test_what_is_no_list_of_shares_is_refused(text, words):
    with pytest.raises(ValueError, match=words):
        read_shares(text)
