"""A rater's figures about their own work, which never tell hidden checks from other ratings."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from statistics import median

from django.db.models import Count, Q

from annotation.models import Rater, Rating
from annotation.progress.progress import seconds_in_stages
from annotation.rating.desk import DailyGoal, start_of_day
from annotation.rating.history import finished_ratings

DAYS = 7
MOST_TIMED = 200
"""Ratings that a median time is taken of, the latest ones: pace changes, and times are long to read."""


@dataclass(frozen=True)
class OwnCounts:
    """A rater's finished ratings in production and in gold rounds, by whether they count.

    Hidden checks never count. Those whose gold answers the rater has not seen are in `counted` all the same,
    because a smaller figure would reveal them.
    """

    listed: int
    """Finished ratings outside gold rounds, as `finished_ratings` lists them."""
    voided: int
    checks_shown: int
    """Hidden checks whose gold answers their rater has seen, without voided ones."""
    in_rounds: int
    """Ratings of gold rounds, which are not listed."""

    @property
    def counted(self) -> int:
        return self.listed - self.voided - self.checks_shown

    @property
    def uncounted(self) -> int:
        return self.voided + self.checks_shown + self.in_rounds


def own_counts(rater: Rater) -> OwnCounts:
    in_production, voided = Q(round__isnull=True), Q(voided_at__isnull=False)
    found = Rating.objects.filter(rater=rater, completed_at__isnull=False).aggregate(
        listed=Count("pk", filter=in_production),
        voided=Count("pk", filter=in_production & voided),
        checks_shown=Count("pk", filter=in_production & ~voided & Q(gold_shown_at__isnull=False)),
        in_rounds=Count("pk", filter=~in_production),
    )
    return OwnCounts(**found)


@dataclass(frozen=True)
class RatedDay:
    date: date
    rated: int


@dataclass(frozen=True)
class OwnPace:
    """A rater's finished ratings outside gold rounds in the last days, and the time that one takes."""

    days: Sequence[RatedDay]
    """The last seven days, server time, oldest first. The last is today."""
    goal: int
    timed: int
    """The latest ratings that the platform timed, at most `MOST_TIMED`."""
    seconds: float | None
    """The median of their times from opening to submitting, summed over stages; None without any."""

    @property
    def today(self) -> DailyGoal:
        return DailyGoal(self.days[-1].rated, self.goal)

    @property
    def longest_bar(self) -> int:
        """Return how many ratings fill a bar: the daily goal, or more if a day had more."""
        return max(self.goal, *(day.rated for day in self.days))


def own_pace(rater: Rater) -> OwnPace:
    starts = [start_of_day(ago) for ago in reversed(range(DAYS))]
    ends = [Q(completed_at__lt=end) for end in starts[1:]]
    counts = {
        f"day_{number}": Count("pk", filter=Q(Q(completed_at__gte=start), *ends[number : number + 1]))
        for number, start in enumerate(starts)
    }
    recent = Rating.objects.filter(rater=rater, round__isnull=True, completed_at__gte=starts[0])
    found = recent.aggregate(**counts)
    latest = finished_ratings(rater).filter(assignment__isnull=False).values_list("stage_times", flat=True)
    seconds = [seconds_in_stages(times) for times in latest[:MOST_TIMED] if times]
    return OwnPace(
        [RatedDay(start.date(), found[f"day_{number}"]) for number, start in enumerate(starts)],
        rater.project.daily_goal,
        len(seconds),
        median(seconds) if seconds else None,
    )
