from datetime import UTC, datetime

import pytest
from django.template import Context, Template
from django.utils import timezone

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


def test_a_moment_is_shown_in_local_time_with_a_datetime_attribute():
    template = Template("{% load figures %}{{ time|moment }} {{ time|day }} {{ none|moment|default:'–' }}")
    with timezone.override("Europe/Berlin"):
        shown = template.render(Context({"time": datetime(2026, 5, 4, 23, 30, tzinfo=UTC), "none": None}))
    told = '<time datetime="2026-05-05T01:30:00+02:00">'
    assert shown == f"{told}5 May 2026, 01:30</time> {told}5 May 2026</time> –"
