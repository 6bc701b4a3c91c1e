import pytest

from annotation.templatetags.figures import count, duration, noun


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "–"),
        (0.4, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min"),
        (125, "2 min 5 s"),
        (3600, "1 h"),
        (3725, "1 h 2 min"),
    ],
)
def test_durations_are_written_in_their_largest_units(seconds, text):
    assert duration(seconds) == text


def test_numbers_and_nouns_agree():
    assert count(4812) == "4,812"
    assert [noun(number, "rating,ratings") for number in (0, 1, 1000)] == [
        "0 ratings",
        "1 rating",
        "1,000 ratings",
    ]
