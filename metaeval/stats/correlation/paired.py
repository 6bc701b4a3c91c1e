"""Summaries with both a label and a score, and why others are left out."""

from dataclasses import dataclass

import numpy as np

from metaeval.stats.arrays import Floats, Ints, distinct
from metaeval.stats.correlation.roc_auc import yes_or_no
from metaeval.stats.rows import Rows

NO_LABEL = "summaries without a label"
NO_SCORE = "summaries without a score"
TIED_LABEL = "summaries whose label is tied between yes and no"


@dataclass(frozen=True)
class Paired:
    """The n summaries with both a label and a score."""

    rows: Rows
    """Rows of one evaluator, without nan; labels are 0 or 1 if they were taken by majority."""
    places: Ints
    """(n,) place of each among all summaries given."""
    left_out: dict[str, int]
    """Reason -> summaries. A summary with two reasons counts once, under that of its label."""


def paired(rows: Rows, *, by_majority: bool) -> Paired:
    """Keep the summaries of one evaluator's `rows` that have a label and a score.

    With `by_majority` the labels of a yes/no question become the majority's answer, 0 or 1, and ties are left
    out. Raises ValueError if such labels lie outside 0 to 1, and for rows of several evaluators.
    """
    if rows.scores.ndim != 1:
        raise ValueError(f"scores must be (n,), those of one evaluator, not of shape {rows.scores.shape}")
    unlabelled = np.isnan(rows.labels)
    labels = yes_or_no(rows.labels) if by_majority and rows.yes_no else rows.labels
    tied = np.isnan(labels) & ~unlabelled
    unscored = np.isnan(rows.scores) & ~unlabelled & ~tied
    places = np.flatnonzero(~(unlabelled | tied | unscored))
    counts = {NO_LABEL: int(unlabelled.sum()), TIED_LABEL: int(tied.sum()), NO_SCORE: int(unscored.sum())}
    kept = Rows(
        labels.take(places),
        rows.scores.take(places),
        rows.articles.take(places),
        rows.systems.take(places),
        rows.yes_no,
    )
    return Paired(kept, places, nonzero(counts))


def paired_alike(rows: Rows, *, by_majority: bool) -> list[tuple[list[int], Paired, list[Floats]]]:
    """Group evaluators that scored the same summaries.

    Returns for each group their places among `rows.scores`, the summaries kept for all of them (with the
    scores of the first), and the kept scores of each.
    """
    alike: dict[bytes, list[int]] = {}
    for place, scores in enumerate(rows.scores):
        alike.setdefault(np.isnan(scores).tobytes(), []).append(place)
    found = []
    for places in alike.values():
        first = paired(rows.with_scores(rows.scores[places[0]]), by_majority=by_majority)
        others = [rows.scores[place].take(first.places) for place in places[1:]]
        found.append((places, first, [first.rows.scores, *others]))
    return found


def count_known(codes: Ints) -> int | None:
    """Return the number of distinct articles or systems; None if some are not known."""
    return None if (codes < 0).any() else len(distinct(codes))


def nonzero(counts: dict[str, int]) -> dict[str, int]:
    """Return the reasons with a count above 0."""
    return {reason: count for reason, count in counts.items() if count}
