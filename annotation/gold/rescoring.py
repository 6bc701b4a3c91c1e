"""Decided rounds compared with today's gold answers, which may have changed since. The decisions stay."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import F

from annotation.gold.qualification import Decision
from annotation.gold.rounds import decisions_today
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
    """Return a decided round compared with today's gold answers."""
    return rescored_rounds([decided])[0]


def rescored_rounds(rounds: Sequence[QualificationRound]) -> list[RescoredRound]:
    """Return these decided rounds as `rescored_round`, in a fixed number of queries."""
    in_round = "gold__summary__assignments__round"
    changes: dict[int, list[GoldAnswerChange]] = {}
    later = GoldAnswerChange.objects.filter(
        **{f"{in_round}__in": rounds, "changed_at__gt": F(f"{in_round}__decided_at")}
    )
    found = later.select_related("question", "changed_by", "gold").order_by("changed_at", "pk")
    for change in found.annotate(of_round=F(in_round)):
        changes.setdefault(change.of_round, []).append(change)
    today = decisions_today(rounds)
    return [RescoredRound(each, today[each.pk], changes.get(each.pk, [])) for each in rounds]


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
    return [found for found in rescored_rounds(list(touched)) if found.differs]
