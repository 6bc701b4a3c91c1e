"""A rater's current and next assignment, and their progress today."""

from dataclasses import dataclass

from annotation.gold.qualified_languages import current_language, work_languages
from annotation.gold.rounds import next_in_round, open_round
from annotation.guidelines.following import require_confirmed
from annotation.models import Assignment, QualificationRound, Rater, Rating
from annotation.rating.assigning import require_active, take_assignment
from annotation.rating.desk import DailyGoal, start_of_day


def next_assignment(rater: Rater) -> Assignment | None:
    """Return the rater's next assignment in the language in which they work.

    It is in production if they are qualified in it, else of its open gold round. None without either, and if
    nothing is left. Raises NotAllowed for suspended raters, and GuidelinesUnconfirmed.
    """
    if work_languages(rater):
        return take_assignment(rater)
    require_active(rater)
    require_confirmed(rater)
    current = open_round(rater, current_language(rater))
    return next_in_round(current) if current else None


def daily_goal(rater: Rater) -> DailyGoal:
    rated = Rating.objects.filter(rater=rater, round__isnull=True, completed_at__gte=start_of_day()).count()
    return DailyGoal(rated, rater.project.daily_goal)


@dataclass(frozen=True)
class RoundProgress:
    number: int
    rated: int
    size: int


def round_progress(current: QualificationRound) -> RoundProgress:
    states = list(current.assignments.values_list("state", flat=True))
    return RoundProgress(current.number, states.count(Assignment.State.DONE), len(states))
