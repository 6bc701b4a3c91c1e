"""The summaries on which people and an evaluator disagree, largest disagreement first. Pure."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from metaeval.disagreements.ranked_pairs import RankedPairs
from metaeval.stats.arrays import Floats, Ints
from metaeval.stats.scores.complete_rows import NO_PAIR
from metaeval.stats.scores.percentiles import tie_ranges


class Side(StrEnum):
    """The direction of a disagreement: the evaluator ranks a summary above or below people."""

    HIGH = "high"
    LOW = "low"


@dataclass(frozen=True, eq=False)
class Disagreements:
    """Indices among `pairs`, largest disagreement first."""

    pairs: RankedPairs
    high: Ints
    """The evaluator ranks them above people."""
    low: Ints
    definition: str
    reason: str
    """The reason why there cannot be any disagreement."""

    def of(self, side: Side | None) -> Ints:
        """Return the disagreements on one side, or on both for None."""
        if side is not None:
            return self.high if side == Side.HIGH else self.low
        return _largest_first(self.pairs.ahead, np.concatenate([self.high, self.low]))

    def side(self, place: int) -> Side:
        """Return the side of a disagreement."""
        return Side.HIGH if self.pairs.ahead[place] > 0 else Side.LOW


def ranked_disagreements(pairs: RankedPairs) -> Disagreements:
    """Return where the evaluator's ranking contradicts that of people, however ties are broken.

    A summary is scored high if every rank that its score can have is at least every rank that its label can
    have, and scored low in the reverse case. On yes/no questions, all summaries with a majority of No are
    tied, and so are all with a majority of Yes: a summary is scored high if most raters say No and the
    evaluator ranks it among as many as get a Yes. Summaries with tied answers are not listed.

    The size of a disagreement is the difference of the percentiles by score and by label. Nothing is listed
    if all labels or all scores are equal.
    """
    is_yes_no = pairs.question.is_yes_no
    said = np.sign(pairs.labels - 0.5) if is_yes_no else pairs.labels
    reason = _no_order(pairs, said)
    if reason:
        nothing = np.array([], dtype=np.int64)
        return Disagreements(pairs, nothing, nothing, _definition(pairs), reason)
    label_low, label_high = tie_ranges(said)
    score_low, score_high = tie_ranges(pairs.score_ranks)
    decided = said != 0 if is_yes_no else np.ones(len(pairs), dtype=bool)
    return Disagreements(
        pairs,
        _largest_first(pairs.ahead, np.flatnonzero(decided & (score_low >= label_high))),
        _largest_first(pairs.ahead, np.flatnonzero(decided & (score_high <= label_low))),
        _definition(pairs),
        "",
    )


def _definition(pairs: RankedPairs) -> str:
    if pairs.question.is_yes_no:
        listed = (
            "Scored high: most raters say No, and the evaluator ranks the summary among as many as get a Yes."
            " Scored low: the reverse. Summaries with tied answers, and equal scores on both sides of the"
            " line, are not listed."
        )
    else:
        listed = (
            "Scored high: the evaluator ranks the summary above people, however ties are broken. Scored low:"
            " the reverse."
        )
    return (
        f"{listed} Size: the percentile by score minus the percentile by label, among summaries with both."
        " Equal values share the mean of their percentiles."
    )


def _no_order(pairs: RankedPairs, said: Floats) -> str:
    if not len(pairs):
        return NO_PAIR
    if np.ptp(said) == 0:
        return "all labels are equal"
    return "all scores are equal" if np.ptp(pairs.scores) == 0 else ""


def _largest_first(ahead: Floats, places: Ints) -> Ints:
    """Return `places` by size of disagreement, ties in the order of summaries."""
    return places[np.lexsort((places, -np.abs(ahead[places])))]
