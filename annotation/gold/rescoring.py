"""Decided rounds compared with today's gold answers, which may have changed since. The decisions stay."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import F

from annotation.gold.qualification import Decision
from annotation.gold.rounds import decision_today
from annotation.models import GoldAnswerChange, Project, QualificationRound


@dataclass(frozen=True)
class RescoredRound:
    """A decided round with its decision by today's gold answers and the changes since, oldest first."""

    round: QualificationRound
    today: Decision
    changes: Sequence[GoldAnswerChange]

    @property
    def differs(self) -> bool:
        """Return whether the round would be decided differently today."""
        return bool(self.changes) and self.today.passed != self.round.passed


def rescored_round(decided: QualificationRound) -> RescoredRound:
    changes = GoldAnswerChange.objects.filter(
        gold__summary__in=decided.assignments.values("summary"), changed_at__gt=decided.decided_at
    )
    return RescoredRound(
        decided,
        decision_today(decided),
        list(changes.select_related("question", "changed_by", "gold").order_by("changed_at", "pk")),
    )


def rounds_decided_differently(project: Project) -> list[RescoredRound]:
    """Return the project's rounds that would be decided differently by today's gold answers."""
    touched = (
        QualificationRound.objects.filter(
            rater__project=project, assignments__summary__gold__changes__changed_at__gt=F("decided_at")
        )
        .select_related("rater__project__questionnaire")
        .order_by("rater__pseudonym", "number")
        .distinct()
    )
    return [found for found in map(rescored_round, touched) if found.differs]
