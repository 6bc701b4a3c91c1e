"""Which summaries have both a label and a score, and why the others are left out."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import Floats, Ints, code_vector, distinct, number_vector, refuse_unequal_lengths
from metaeval.stats.correlation.roc_auc import yes_or_no

NO_LABEL = "summaries without a label"
NO_SCORE = "summaries without a score"
TIED_LABEL = "summaries whose label is tied between yes and no"


@dataclass(frozen=True)
class Paired:
    """The n summaries with both a label and a score."""

    labels: Floats
    """(n,) finite; 0 or 1 if taken as yes/no."""
    scores: Floats
    """(n,) finite."""
    articles: Ints
    """(n,) code of each summary's article; negative if not known."""
    systems: Ints
    """(n,) code of each summary's system; negative if not known."""
    places: Ints
    """(n,) place of each among all summaries given."""
    left_out: dict[str, int]
    """Reason -> summaries. A summary with two reasons counts once, under that of its label."""
    given_articles: Ints
    """The article codes of all summaries given, also of those left out."""
    given_systems: Ints
    """Likewise their system codes."""


def paired(
    labels: npt.ArrayLike,
    scores: npt.ArrayLike,
    articles: npt.ArrayLike,
    systems: npt.ArrayLike,
    *,
    as_yes_no: bool,
) -> Paired:
    """Check the four vectors, of one entry per summary each, and keep the summaries that have both numbers.

    With `as_yes_no` the labels become the majority's answer, 0 or 1, and ties are left out.

    Raises ValueError for unequal lengths, infinite numbers, codes that are not whole numbers and, with
    `as_yes_no`, labels outside 0 to 1.
    """
    label = number_vector("labels", labels)
    score = number_vector("scores", scores)
    article = code_vector("articles", articles)
    system = code_vector("systems", systems)
    refuse_unequal_lengths(labels=label, scores=score, articles=article, systems=system)

    unlabelled = np.isnan(label)
    if as_yes_no:
        label = yes_or_no(label)
    tied = np.isnan(label) & ~unlabelled
    unscored = np.isnan(score) & ~unlabelled & ~tied
    kept = ~(unlabelled | tied | unscored)
    counts = {NO_LABEL: int(unlabelled.sum()), TIED_LABEL: int(tied.sum()), NO_SCORE: int(unscored.sum())}
    places = np.flatnonzero(kept)
    return Paired(
        labels=label.take(places),
        scores=score.take(places),
        articles=article.take(places),
        systems=system.take(places),
        places=places,
        left_out=nonzero(counts),
        given_articles=article,
        given_systems=system,
    )


def paired_alike(
    labels: npt.ArrayLike,
    scores: Sequence[npt.ArrayLike],
    articles: npt.ArrayLike,
    systems: npt.ArrayLike,
    *,
    as_yes_no: bool,
) -> list[tuple[list[int], Paired, list[Floats]]]:
    """Evaluators who have scored the same summaries together: their places among `scores`, which of the
    summaries are kept for all of them, with the scores of the first, and the kept scores of each."""
    rows = [number_vector("scores", row) for row in scores]
    alike: dict[bytes, list[int]] = {}
    for place, row in enumerate(rows):
        alike.setdefault(np.isnan(row).tobytes(), []).append(place)
    found = []
    for places in alike.values():
        first = paired(labels, rows[places[0]], articles, systems, as_yes_no=as_yes_no)
        others = [rows[place].take(first.places) for place in places[1:]]
        found.append((places, first, [first.scores, *others]))
    return found


def count_known(codes: Ints) -> int | None:
    """How many different articles (or systems); None if that of some summary is not known."""
    return None if (codes < 0).any() else len(distinct(codes))


def nonzero(counts: dict[str, int]) -> dict[str, int]:
    """The reasons that left something out."""
    return {reason: count for reason, count in counts.items() if count}
