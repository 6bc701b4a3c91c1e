"""A rater's own pace: their days and the time of a rating."""

from datetime import timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone

from annotation.models import Rating
from annotation.rating import own_figures
from annotation.rating.current_assignment import daily_goal
from annotation.rating.desk import start_of_day
from annotation.rating.own_figures import own_counts, own_pace
from tests.annotation.rating.rating_steps import at_stage
from tests.factories import make_rater, make_summary


def add_rating(rater, completed_at, seconds=None, assignment=None, **fields):
    """Add a finished rating, timed if `seconds` are given."""
    opened = completed_at - timedelta(seconds=seconds or 0)
    time = {"stage": 1, "opened_at": opened.isoformat(), "submitted_at": completed_at.isoformat()}
    summary = make_summary(rater.project)
    if seconds is not None:
        assignment = rater.assignments.create(
            summary=summary, state="done", stage_opened_at=opened, leased_until=completed_at
        )
    return Rating.objects.create(
        rater=rater,
        summary=summary,
        assignment=assignment,
        created_at=opened,
        completed_at=completed_at,
        stage_times=[time] if seconds is not None else [],
        **fields,
    )


pytestmark = pytest.mark.django_db


def by_day(rater):
    return [day.rated for day in own_pace(rater).days]


def test_ratings_are_counted_on_the_day_on_which_they_were_finished(rater):
    midnight = start_of_day()
    second = timedelta(seconds=1)
    for moment in (
        midnight,
        midnight - second,
        start_of_day(1),
        start_of_day(6),
        start_of_day(6) - second,
    ):
        add_rating(rater, moment)
    add_rating(make_rater(rater.project), midnight)
    assert by_day(rater) == [1, 0, 0, 0, 0, 2, 1]
    assert own_pace(rater).today == daily_goal(rater)
    assert own_counts(rater).listed == 5


def test_a_day_has_the_hours_that_the_clocks_give_it():
    with timezone.override(ZoneInfo("Europe/Berlin")):
        starts = [start_of_day(ago) for ago in range(400)]
        assert {(start.hour, start.minute) for start in starts} == {(0, 0)}
        instants = [start.astimezone(ZoneInfo("UTC")) for start in starts]
    hours = {(later - earlier) / timedelta(hours=1) for later, earlier in pairwise(instants)}
    assert hours == {23.0, 24.0, 25.0}


def test_the_time_is_the_median_of_the_latest_timed_ratings(rater):
    now = timezone.now()
    assert own_pace(rater).seconds is None
    add_rating(rater, now)
    assert (own_pace(rater).timed, own_pace(rater).seconds) == (0, None)
    for ago, seconds in enumerate((10, 20, 90)):
        add_rating(rater, now - timedelta(days=ago), seconds=seconds)
    assert (own_pace(rater).timed, own_pace(rater).seconds) == (3, 20)


def test_old_ratings_no_longer_change_the_time(rater, monkeypatch):
    monkeypatch.setattr(own_figures, "MOST_TIMED", 2)
    now = timezone.now()
    for days, seconds in enumerate((5, 7, 1000)):
        add_rating(rater, now - timedelta(days=days), seconds=seconds)
    assert (own_pace(rater).timed, own_pace(rater).seconds) == (2, 6)


def test_ratings_of_gold_rounds_are_in_no_figure_of_pace(rater, assignment):
    rating = at_stage(assignment, 4).rating
    assert by_day(rater)[-1] == own_pace(rater).timed == 1
    rating.round = rater.rounds.create(language="en", number=1)
    rating.save()
    assert (by_day(rater)[-1], own_pace(rater).timed) == (0, 0)


def test_bars_are_as_long_as_the_goal_or_a_better_day(rater):
    rater.project.daily_goal = 2
    assert own_pace(rater).longest_bar == 2
    for _ in range(3):
        add_rating(rater, start_of_day(1))
    assert own_pace(rater).longest_bar == 3
