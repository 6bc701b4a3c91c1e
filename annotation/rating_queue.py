"""Where a rater stands: what is with them, what comes next, how much of today's share is done."""

from dataclasses import dataclass

from django.utils import timezone

from annotation.actions.assigning import take_assignment
from annotation.actions.gold_rounds import next_in_round, open_round
from annotation.errors import AssignmentGone, NotAllowed
from annotation.models import Assignment, QualificationRound, Rater, Rating

GONE = {
    Assignment.State.DONE: "You have finished this summary.",
    Assignment.State.RELEASED: "Your time for this summary ran out and it went back to the pool.",
    Assignment.State.SKIPPED: "You skipped this summary and it went to another rater.",
}


def assignment_with(rater: Rater, assignment_id: int) -> Assignment:
    """The rater's open assignment, to be shown.

    Raises AssignmentGone if it is another's, finished, expired or skipped, NotAllowed for suspended raters.
    """
    if rater.status == Rater.Status.SUSPENDED:
        raise NotAllowed(f"Your place in {rater.project.name} is {rater.get_status_display()}.")
    assignment = (
        Assignment.objects.select_related("summary__article", "flag", "round")
        .filter(pk=assignment_id, rater=rater)
        .first()
    )
    if assignment is None:
        raise AssignmentGone("There is no such summary with you.")
    if assignment.state != Assignment.State.OPEN:
        raise AssignmentGone(GONE[Assignment.State(assignment.state)])
    assignment.rater = rater
    return assignment


def next_assignment(rater: Rater) -> Assignment | None:
    """What the rater is to rate now: the open gold round's next summary in training, else the queue's.

    None in training without an open round, and when nothing is left. Raises NotAllowed for suspended raters.
    """
    if rater.status != Rater.Status.TRAINING:
        return take_assignment(rater)
    current = open_round(rater)
    return next_in_round(current) if current else None


@dataclass(frozen=True)
class Day:
    """A rater's production ratings since midnight in the server's time zone, and how many were asked for."""

    rated: int
    goal: int

    @property
    def goal_reached(self) -> bool:
        return self.rated >= self.goal


def day_of(rater: Rater) -> Day:
    midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    rated = Rating.objects.filter(rater=rater, round__isnull=True, completed_at__gte=midnight).count()
    return Day(rated, rater.project.daily_goal)


@dataclass(frozen=True)
class RoundProgress:
    number: int
    rated: int
    size: int


def round_progress(current: QualificationRound) -> RoundProgress:
    states = list(current.assignments.values_list("state", flat=True))
    return RoundProgress(current.number, states.count(Assignment.State.DONE), len(states))
