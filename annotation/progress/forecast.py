"""The day on which a project will be finished at the pace of its last days. Pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

FORECAST_DAYS = 7
LONGEST_FORECAST = 3650  # days


@dataclass(frozen=True)
class Forecast:
    """The expected last day, or the `reason` why none is named."""

    pace: float
    """Ratings a day."""
    over: int
    """The number of days that the pace is the mean of."""
    ends_on: date | None
    reason: str = ""


def forecast(missing: int, collected: Sequence[int], today: date) -> Forecast:
    """Forecast the day on which the last of the `missing` ratings is given.

    `collected` are the ratings of the full days before `today`, oldest first. The pace is their mean from the
    first day with a rating on, weekends included. Today counts as a day of work, since its ratings so far
    are given already.
    """
    worked = next((list(collected[at:]) for at, count in enumerate(collected) if count), [])
    pace = sum(worked) / len(worked) if worked else 0.0
    if not missing:
        return Forecast(pace, len(worked), None, "every needed rating is given")
    if not worked:
        return Forecast(0.0, 0, None, f"no rating was collected in the {len(collected)} days before today")
    days = math.ceil(missing / pace)
    if days > LONGEST_FORECAST:
        return Forecast(pace, len(worked), None, "at this pace it takes more than ten years")
    return Forecast(pace, len(worked), today + timedelta(days=days - 1))
