"""A rater's figures about their own work, which never tell hidden checks from other ratings."""

from dataclasses import dataclass

from django.db.models import Count, Q

from annotation.models import Rater, Rating


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
