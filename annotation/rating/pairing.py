"""Pairing raters evenly: who gets the second place of a summary, so that each two share about as many."""

from collections import Counter, defaultdict
from collections.abc import Sequence

from django.db.models import Count, QuerySet

from annotation.models import Assignment, Rater

CHOICE = 40
"""Summaries that come next, among which one is chosen."""


def best_paired(rater: Rater, next_ids: Sequence[int]) -> list[int]:
    """Return the summaries (primary keys, in the order in which they come next), best paired first.

    A summary counts, for each of its raters so far, the summaries that `rater` shares with them less the mean
    over the project's active raters; one without raters counts 0. So pairs that share few come first, then
    new summaries, and pairs that share many last.
    """
    holders = defaultdict(list)
    for summary_id, other_id in _production().filter(summary__in=next_ids).values_list("summary", "rater"):
        holders[summary_id].append(other_id)
    if not holders:
        return list(next_ids)
    shared = _shared_with(rater)
    others = Rater.objects.filter(project=rater.project_id, status=Rater.Status.QUALIFIED).exclude(
        pk=rater.pk
    )
    mean = sum(shared.values()) / max(1, others.count())
    surplus = {pk: sum(shared[other] - mean for other in holders[pk]) for pk in next_ids}
    # Equal pairs go on with what was begun; sorting keeps the order of the rest.
    return sorted(next_ids, key=lambda pk: (surplus[pk], not holders[pk]))


def _production() -> QuerySet[Assignment]:
    """Return the assignments that count towards a summary's places."""
    return Assignment.objects.filter(round__isnull=True, is_check=False).exclude(
        state__in=[Assignment.State.RELEASED, Assignment.State.SKIPPED]
    )


def _shared_with(rater: Rater) -> Counter[int]:
    """Return the number of summaries that each other rater shares with this one, by primary key."""
    both = _production().filter(summary__assignments__in=_production().filter(rater=rater))
    counts = both.exclude(rater=rater).values_list("rater").annotate(n=Count("summary", distinct=True))
    return Counter(dict(counts))
