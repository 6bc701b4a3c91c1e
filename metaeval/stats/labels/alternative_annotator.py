"""The alternative annotator test: may an evaluator replace a human rater?"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr

from metaeval.stats.arrays import (
    Bools,
    Floats,
    Ints,
    code_vector,
    distinct,
    number_vector,
    refuse_unequal_lengths,
)

ALIGNMENTS: dict[str, str] = {
    "accuracy": "the share of the other raters who gave the same answer",
    "negative_rmse": "minus the root of the mean squared distance from the other raters' answers",
}
LEAST_RATERS = 3
LEAST_SUMMARIES = 30
FALSE_DISCOVERY_RATE = 0.05
PASSING_RATE = 0.5
# Scores that differ by less are a tie: the order of a sum may cause it.
TIED = 1e-12

RATED_ONCE = "summaries with one rating only"
NO_ANSWER = "rated summaries that the evaluator gives no answer to"
TOO_FEW_OF_A_RATER = f"raters of fewer than {LEAST_SUMMARIES} summaries that others have rated too"


@dataclass(frozen=True)
class AlternativeAnnotator:
    """The result of the test. Raises ValueError unless it has values or a reason for none."""

    winning_rate: float
    """ω: share of raters the evaluator wins against; nan if the test cannot be applied."""
    advantage: float
    """ρ: mean of ρ_f over the raters; nan if the test cannot be applied."""
    raters: int
    """Raters of enough summaries; 0 if the test cannot be applied."""
    summaries: int
    """Summaries with two ratings or more and an answer by the evaluator."""
    definition: str
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Reason -> how many were left out; the reason says of what."""
    reason: str = ""
    """The reason why the test cannot be applied; else empty."""

    def __post_init__(self) -> None:
        if np.isnan([self.winning_rate, self.advantage]).any() != bool(self.reason):
            raise ValueError("a test that cannot be applied needs a reason, and one that can has none")

    @property
    def passes(self) -> bool:
        """Return whether the evaluator may stand in for a rater: it wins against half of them or more."""
        return self.winning_rate >= PASSING_RATE


def alternative_annotator(
    summaries: npt.ArrayLike,
    raters: npt.ArrayLike,
    answers: npt.ArrayLike,
    evaluator: npt.ArrayLike,
    alignment: str,
    *,
    epsilon: float,
) -> AlternativeAnnotator:
    """Return the alternative annotator test with a cost-benefit margin `epsilon`.

    Each rater in turn is left out and compared with the evaluator by how well each is aligned with the
    remaining raters of the same summary. On each summary the one with the higher alignment has the advantage;
    on a tie both have (differences below 1e-12 are ties). The evaluator wins against the rater if a one-sided
    t-test over the summaries rejects 'the rater's share of advantages, less the evaluator's, is ε or more',
    corrected over the raters by Benjamini and Yekutieli at a false discovery rate of 5%. It passes with a
    winning rate of one half or more. If one side has the same lead on every summary, so that there is nothing
    to test with, it wins if and only if that lead is below ε.

    Parameters
    ----------
    summaries, raters : (ratings,) codes from 0, one entry for each rating; missing ratings have none.
    answers : (ratings,) the number that each answer stands for.
    evaluator : (summaries,) the evaluator's answers on the raters' scale; nan for none.
    alignment : one of `ALIGNMENTS`; accuracy compares answers as such, negative RMSE as numbers.
    epsilon : from 0 to 1: by how much a rater may be better before the saving no longer makes up for it. The
        authors take 0.2 for experts, 0.15 for skilled and 0.1 for crowd workers.

    Left out are summaries with one rating only or without an answer by the evaluator, and raters who have
    rated fewer than 30 of the others; the ratings of these raters still count among 'the remaining'. With
    fewer than three raters left the test cannot be applied.

    Raises ValueError for an alignment that does not exist; `epsilon` outside 0 to 1; unequal lengths, codes
    that are not whole numbers from 0, missing or infinite answers.

    Source: N. Calderon, R. Reichart and R. Dror, "The alternative annotator test for LLM-as-a-judge: how to
    statistically justify replacing human annotators with LLMs", ACL 2025 (arXiv 2501.10970), section 3.

    >>> same = alternative_annotator(*zip(*[(s, r, s % 2) for s in range(40) for r in range(3)]),
    ...     [s % 2 for s in range(40)], "accuracy", epsilon=0.1)
    >>> same.winning_rate, same.advantage, same.passes
    (1.0, 1.0, True)
    """
    if alignment not in ALIGNMENTS:
        raise ValueError(f"alignment {alignment!r} does not exist: choose from {', '.join(ALIGNMENTS)}")
    if not 0 <= epsilon <= 1:
        raise ValueError(f"epsilon must lie from 0 to 1, not at {epsilon}")
    summary, rater = code_vector("summaries", summaries), code_vector("raters", raters)
    answer, given = number_vector("answers", answers), number_vector("evaluator", evaluator)
    refuse_unequal_lengths(summaries=summary, raters=rater, answers=answer)
    if summary.size and (min(summary.min(), rater.min()) < 0 or summary.max() >= len(given)):
        raise ValueError(f"codes count from 0, and those of summaries are below {len(given)}")
    if np.isnan(answer).any():
        raise ValueError("an answer that is missing, or stands for no number, must be left out beforehand")

    times = np.bincount(summary, minlength=len(given))
    kept = (times[summary] >= 2) & ~np.isnan(given[summary])
    left_out = {
        RATED_ONCE: int((times == 1).sum()),
        NO_ANSWER: int(((times >= 2) & np.isnan(given)).sum()),
    }
    summary, rater, answer = summary[kept], rater[kept], answer[kept]
    align = _accuracy if alignment == "accuracy" else _negative_mse
    own, others = align(summary, answer, given[summary])
    wins, as_good = _against(rater, others - own >= -TIED, own - others >= -TIED, epsilon)
    left_out[TOO_FEW_OF_A_RATER] = len(distinct(rater)) - len(wins)
    applies = len(wins) >= LEAST_RATERS
    return AlternativeAnnotator(
        winning_rate=float(wins.mean()) if applies else np.nan,
        advantage=float(as_good.mean()) if applies else np.nan,
        raters=len(wins) if applies else 0,
        summaries=len(distinct(summary)),
        definition=_definition(alignment, epsilon),
        left_out={why: count for why, count in left_out.items() if count},
        reason="" if applies else _too_few(len(wins)),
    )


def _definition(alignment: str, epsilon: float) -> str:
    return (
        f"Alternative annotator test (Calderon, Reichart and Dror 2025), ε = {epsilon:g}: each rater is left"
        f" out in turn, and compared with the evaluator by {ALIGNMENTS[alignment]}; on each summary the"
        " better of the two has the advantage, on a tie both. The evaluator wins against a rater whose share"
        " of advantages exceeds its own by significantly less than ε (one-sided t-test over summaries;"
        f" Benjamini–Yekutieli over raters, false discovery rate {FALSE_DISCOVERY_RATE:.0%}). ω is the share"
        f" of raters it wins against, passed from {PASSING_RATE:g}; ρ is the share of summaries on which it"
        " has the advantage, averaged over raters."
    )


def _too_few(n_raters: int) -> str:
    return (
        f"fewer than {LEAST_RATERS} raters have rated {LEAST_SUMMARIES} summaries or more that others have"
        f" rated too and the evaluator gives an answer to (there are {n_raters})"
    )


def _accuracy(summary: Ints, answer: Floats, given: Floats) -> tuple[Floats, Floats]:
    """Return the share of the summary's other ratings equal to this one, and to the evaluator's answer.

    Both are (ratings,).
    """
    n_others = np.bincount(summary)[summary] - 1
    values = np.unique(answer)
    places = np.searchsorted(values, answer)
    counts = np.zeros((int(summary.max(initial=-1)) + 1, len(values)), dtype=np.int64)
    np.add.at(counts, (summary, places), 1)
    same = counts[summary, places] - 1
    nearest = np.minimum(np.searchsorted(values, given), len(values) - 1)
    evaluators_own = np.where(values[nearest] == given, counts[summary, nearest], 0) - (answer == given)
    return same / n_others, evaluators_own / n_others


def _negative_mse(summary: Ints, answer: Floats, given: Floats) -> tuple[Floats, Floats]:
    """Return minus the mean squared distance of the other ratings from this one, and from the evaluator's.

    Both are (ratings,). The root and the answers' unit are left out: they change no order.
    """
    if len(answer):
        # In units of the answers' range, so that rounding stays far below TIED whatever the scale.
        middle, spread = (answer.min() + answer.max()) / 2, float(np.ptp(answer)) or 1.0
        answer, given = (answer - middle) / spread, (given - middle) / spread
    n_others = np.bincount(summary)[summary] - 1
    mean = (np.bincount(summary, weights=answer)[summary] - answer) / n_others
    square = (np.bincount(summary, weights=answer**2)[summary] - answer**2) / n_others
    return (
        -(square - 2 * mean * answer + answer**2),
        -(square - 2 * mean * given + given**2),
    )


def _against(rater: Ints, evaluator_leads: Bools, rater_leads: Bools, epsilon: float) -> tuple[Bools, Floats]:
    """Return whether the evaluator wins against each rater of enough summaries, and its share of advantages.

    Both are (raters,).
    """
    n = np.bincount(rater)
    tested = np.flatnonzero(n >= LEAST_SUMMARIES)
    if not tested.size:
        return np.zeros(0, dtype=bool), np.zeros(0)
    n = n[tested]
    evaluator_share = np.bincount(rater, weights=evaluator_leads)[tested] / n
    lead = rater_leads.astype(np.float64) - evaluator_leads
    total = np.bincount(rater, weights=lead)[tested]
    mean = total / n
    squares = n * np.bincount(rater, weights=lead**2)[tested] - total**2  # of whole numbers, so exact
    constant = squares == 0
    errors = np.sqrt(np.where(constant, 1, squares) / (n - 1)) / n
    p_values = np.where(constant, mean >= epsilon, stdtr(n - 1, (mean - epsilon) / errors))
    from scipy.stats import false_discovery_control  # half a second that not every process should wait

    return false_discovery_control(p_values, method="by") <= FALSE_DISCOVERY_RATE, evaluator_share
