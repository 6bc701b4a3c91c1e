"""The forecast of the last day of a campaign."""

from datetime import date

import pytest

from annotation.progress.progress import forecast

TODAY = date(2026, 3, 2)


@pytest.mark.parametrize(
    ("missing", "collected", "ends_on"),
    [
        (10, [10] * 7, date(2026, 3, 2)),
        (11, [10] * 7, date(2026, 3, 3)),
        (70, [0, 0, 0, 0, 0, 0, 10], date(2026, 3, 8)),  # began yesterday
        (70, [0, 0, 0, 20, 0, 0, 20], date(2026, 3, 8)),  # two days without work count
    ],
)
def test_the_pace_is_the_mean_since_the_first_day_with_a_rating(missing, collected, ends_on):
    assert forecast(missing, collected, TODAY).ends_on == ends_on


@pytest.mark.parametrize(
    ("missing", "collected", "reason"),
    [
        (10, [0] * 7, "no rating was collected in the 7 days before today"),
        (0, [5] * 7, "every needed rating is given"),
        (100_000, [0, 0, 0, 0, 0, 1, 0], "at this pace it takes more than ten years"),
    ],
)
def test_without_pace_or_need_there_is_a_reason_instead_of_a_day(missing, collected, reason):
    found = forecast(missing, collected, TODAY)
    assert (found.ends_on, found.reason) == (None, reason)
