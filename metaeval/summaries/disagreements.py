"""The summaries on which people and an evaluator disagree, the furthest apart first. Pure."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from metaeval.stats.arrays import Floats, Ints
from metaeval.stats.scores.complete_rows import NO_PAIR
from metaeval.stats.scores.percentiles import tie_ranges
from metaeval.summaries.ranked_pairs import RankedPairs


class Side(StrEnum):
    """On which side of people the evaluator is."""

    HIGH = "high"
    LOW = "low"


@dataclass(frozen=True, eq=False)
class Disagreements:
    """Places among `pairs`; `high` and `low` list each summary once, the furthest apart first."""

    pairs: RankedPairs
    high: Ints
    """The evaluator ranks them above people, who say No or rank them low."""
    low: Ints
    definition: str
    reason: str
    """Why there can be none; empty if there can."""

    def of(self, side: Side | None) -> Ints:
        """Those on one side, or on both."""
        if side is not None:
            return self.high if side == Side.HIGH else self.low
        return _furthest_first(self.pairs.ahead, np.concatenate([self.high, self.low]))

    def side(self, place: int) -> Side:
        """On which side of people the evaluator is with one of these."""
        return Side.HIGH if self.pairs.ahead[place] > 0 else Side.LOW


def disagreements(pairs: RankedPairs) -> Disagreements:
    """Where the order of the evaluator contradicts that of people, however ties are broken.

    A summary is scored high if all ranks that its score may have lie above all that its label may have, and
    scored low if they lie below; ranges that only meet count. Where labels are means of Yes and No, all with
    a majority of No are tied with each other, and all with one of Yes: a summary is scored high if most say
    No and the evaluator ranks it among as many as get a Yes. One whose answers are halved is not listed.

    How far apart a summary is, is the difference of its percentiles by score and by label. With all labels or
    all scores equal there is no order to contradict, and nothing is listed.
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
        _furthest_first(pairs.ahead, np.flatnonzero(decided & (score_low >= label_high))),
        _furthest_first(pairs.ahead, np.flatnonzero(decided & (score_high <= label_low))),
        _definition(pairs),
        "",
    )


def _definition(pairs: RankedPairs) -> str:
    if pairs.question.is_yes_no:
        listed = (
            "Scored high: most raters say No, and the evaluator ranks the summary among as many as get a Yes."
            " Scored low: the reverse. A summary whose answers are halved is not listed, and equal scores on"
            " both sides of that line are on neither."
        )
    else:
        listed = (
            "Scored high: the evaluator ranks the summary above people, however equal labels and equal scores"
            " are put in order. Scored low: the reverse."
        )
    return (
        f"{listed} How far apart: the percentile by score less the percentile by label, among the summaries"
        " that have both; equal values share the middle of their percentiles."
    )


def _no_order(pairs: RankedPairs, said: Floats) -> str:
    if not len(pairs):
        return NO_PAIR
    if np.ptp(said) == 0:
        return "people say the same of every summary"
    return "all scores are equal" if np.ptp(pairs.scores) == 0 else ""


def _furthest_first(ahead: Floats, places: Ints) -> Ints:
    """`places` by how far apart; equally far ones in the order of summaries, so that pages do not overlap."""
    return places[np.lexsort((places, -np.abs(ahead[places])))]
