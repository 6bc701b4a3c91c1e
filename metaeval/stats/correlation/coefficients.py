"""The coefficients by name, and when each is defined."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from metaeval.stats.arrays import Bools, Floats
from metaeval.stats.correlation.calibrated_accuracy import (
    MOST_PAIRS,
    calibrated_accuracy,
    few_enough_pairs,
    reweighted_calibrated_accuracy,
)
from metaeval.stats.correlation.kendall import (
    kendall_b,
    kendall_c,
    reweighted_kendall_b,
    reweighted_kendall_c,
)
from metaeval.stats.correlation.pairwise_accuracy import pairwise_accuracy, reweighted_pairwise_accuracy
from metaeval.stats.correlation.pearson import pearson, pearson_with
from metaeval.stats.correlation.reweighted import ReweightedPearson, ReweightedSpearman
from metaeval.stats.correlation.reweighted_rows import Draws, ReweightedRows
from metaeval.stats.correlation.roc_auc import reweighted_roc_auc, roc_auc
from metaeval.stats.groups import Groups
from metaeval.stats.ranks import midranks


def spearman(labels: Floats, scores: Floats, groups: Groups) -> Floats:
    """Return Spearman's ρ of each group: Pearson's r of the mid-ranks.

    Parameters
    ----------
    labels, scores : (rows,) finite numbers, sorted by group. In every group at least two rows, of which
        neither the labels nor the scores are all equal; `Coefficient` sees to that.

    Returns (groups,) -1 to 1.

    Source: C. Spearman, "The proof and measurement of association between two things", American Journal of
    Psychology 15, 1904; ties as in M. G. Kendall, "Rank Correlation Methods", 1948, chapter 3.

    >>> import numpy as np
    >>> spearman(np.array([1.0, 2.0, 3.0]), np.array([2.0, 9.0, 4.0]), Groups(np.array([3])))
    array([0.5])
    """
    return spearman_with(labels, groups)(scores)


def spearman_with(labels: Floats, groups: Groups) -> Callable[[Floats], Floats]:
    """Return a function from one evaluator's scores to `spearman` with these labels."""
    of_ranks = pearson_with(midranks(labels, groups), groups)
    return lambda scores: of_ranks(midranks(scores, groups))


class Requirement(NamedTuple):
    """A condition that a group must satisfy for a coefficient to be defined in it."""

    otherwise: str  # why a group that does not is undefined, for readers
    holds: Callable[[Floats, Floats, Groups], Bools]


TWO_PAIRS = Requirement(
    "fewer than two pairs of label and score",
    lambda _labels, _scores, groups: groups.sizes >= 2,
)
VARIED_LABELS = Requirement(
    "all labels equal",
    lambda labels, _scores, groups: groups.smallest(labels) < groups.largest(labels),
)
VARIED_SCORES = Requirement(
    "all scores equal",
    lambda _labels, scores, groups: groups.smallest(scores) < groups.largest(scores),
)
BOTH_CLASSES = Requirement("only yes or only no among the labels", VARIED_LABELS.holds)
FEW_PAIRS = Requirement(
    f"more than {MOST_PAIRS:,} pairs of summaries to calibrate ties on",
    lambda _labels, _scores, groups: few_enough_pairs(groups),
)


class Grouped(NamedTuple):
    """A coefficient of every group."""

    values: Floats  # (groups,), nan where undefined
    undefined: dict[str, int]  # reason -> groups


class Single(NamedTuple):
    """A coefficient of all rows together."""

    value: float  # nan if undefined
    reason: str  # why it is undefined, else ""


@dataclass(frozen=True)
class Coefficient:
    """A measure of association between human labels and scores.

    `label` and `definition` are for readers; the definition is one sentence with the formula.
    """

    name: str
    label: str
    definition: str
    compute: Callable[[Floats, Floats, Groups], Floats]
    reweigh: Callable[[ReweightedRows], Callable[[Draws], Floats]]
    """Takes rows and returns a function of draws, which returns each group's coefficient in each resample:
    (groups, resamples), nan where it is undefined."""
    needs: tuple[Requirement, ...]  # besides two pairs; the first unmet one gives the reason
    is_for_yes_no: bool = False
    is_of_order: bool = False  # whether only order and ties of labels and scores matter
    compute_with: Callable[[Floats, Groups], Callable[[Floats], Floats]] | None = None
    """`compute` in two steps, the first with labels alone, where that is faster."""
    is_fitted_to_all: bool = False  # whether the value of one group depends on the others
    is_zero_if_constant: bool = False  # where scores are equal and labels not: see `constant_scores.py`

    def is_defined(self, labels: Floats, scores: Floats, groups: Groups) -> Bools:
        """Return whether each group, (groups,), has a coefficient; arrays as for `of_groups`."""
        defined = np.ones(len(groups.sizes), dtype=bool)
        left = np.arange(len(groups.sizes))
        for need in (TWO_PAIRS, *self.needs):
            if not left.size:
                break
            holds = need.holds(labels, scores, groups)
            defined[left[~holds]] = False
            rows = groups.spread(holds)
            labels, scores, groups, left = labels[rows], scores[rows], groups.only(holds), left[holds]
        return defined

    def of_groups(self, labels: Floats, scores: Floats, groups: Groups) -> Grouped:
        """Return the coefficient within each group.

        `labels` and `scores` have shape (rows,), are finite and sorted by group.
        """
        values = np.full(len(groups.sizes), np.nan)
        undefined = {}
        left = np.arange(len(groups.sizes))
        for need in (TWO_PAIRS, *self.needs):
            holds = need.holds(labels, scores, groups)
            if not holds.all():
                undefined[need.otherwise] = int((~holds).sum())
                rows = groups.spread(holds)
                labels, scores, groups = labels[rows], scores[rows], groups.only(holds)
                left = left[holds]
        if left.size:
            values[left] = self.compute(labels, scores, groups)
        return Grouped(values, undefined)

    def of(self, labels: Floats, scores: Floats) -> Single:
        """Return the coefficient over all rows; `labels` and `scores` are (rows,) and finite."""
        return self.of_each(labels, [scores])[0]

    def of_each(self, labels: Floats, scores: Sequence[Floats]) -> list[Single]:
        """Return the coefficient over all rows for each evaluator's scores."""
        groups = Groups(np.array([len(labels)]))
        compute = self.compute_with or (lambda labels, groups: lambda row: self.compute(labels, row, groups))
        found: list[Single] = []
        of_scores = None
        for row in scores:
            needs = (need for need in (TWO_PAIRS, *self.needs) if not need.holds(labels, row, groups).all())
            missing = next(needs, None)
            if missing is not None:
                found.append(Single(np.nan, missing.otherwise))
                continue
            of_scores = of_scores or compute(labels, groups)
            found.append(Single(float(of_scores(row)[0]), ""))
        return found


COEFFICIENTS: dict[str, Coefficient] = {
    coefficient.name: coefficient
    for coefficient in (
        Coefficient(
            name="pearson",
            label="Pearson's r",
            definition="r = S_xz / √(S_xx · S_zz), with S the sums of products of the deviations of scores x"
            " and labels z from their means.",
            compute=pearson,
            compute_with=pearson_with,
            reweigh=ReweightedPearson,
            needs=(VARIED_LABELS, VARIED_SCORES),
        ),
        Coefficient(
            name="spearman",
            label="Spearman's ρ",
            definition="ρ = Pearson's r of the ranks; equal values share the mean of their ranks.",
            compute=spearman,
            compute_with=spearman_with,
            reweigh=ReweightedSpearman,
            needs=(VARIED_LABELS, VARIED_SCORES),
            is_of_order=True,
        ),
        Coefficient(
            name="kendall_b",
            label="Kendall's τ-b",
            definition="τ-b = (C − D) / √((C + D + T_x) · (C + D + T_z)), with C concordant and D discordant"
            " pairs, T_x pairs tied in the score only and T_z pairs tied in the label only.",
            compute=kendall_b,
            reweigh=reweighted_kendall_b,
            needs=(VARIED_LABELS, VARIED_SCORES),
            is_of_order=True,
        ),
        Coefficient(
            name="kendall_c",
            label="Stuart's τ-c",
            definition="τ-c = 2 (C − D) / (n² (k − 1) / k), with C concordant and D discordant pairs of n"
            " summaries, k the smaller of the numbers of different labels and different scores.",
            compute=kendall_c,
            reweigh=reweighted_kendall_c,
            needs=(VARIED_LABELS, VARIED_SCORES),
            is_of_order=True,
        ),
        Coefficient(
            name="acc_eq",
            label="Pairwise accuracy",
            definition="acc_eq = (C + T_xz) / all pairs, with C concordant pairs and T_xz pairs tied in label"
            " and score; scores tie only if they are equal.",
            compute=pairwise_accuracy,
            reweigh=reweighted_pairwise_accuracy,
            needs=(),
            is_of_order=True,
        ),
        Coefficient(
            name="acc_eq_calibrated",
            label="Pairwise accuracy, ties calibrated",
            definition="acc_eq = (C + T_xz) / all pairs, with C concordant pairs and T_xz pairs tied in label"
            " and score; scores tie if they differ by at most ε, the one number, for all groups, that makes"
            " the result largest. ε is chosen on the data it is applied to, so the result is optimistic.",
            compute=calibrated_accuracy,
            reweigh=reweighted_calibrated_accuracy,
            needs=(FEW_PAIRS,),
            is_fitted_to_all=True,
        ),
        Coefficient(
            name="roc_auc",
            label="ROC AUC",
            definition="AUC = P(score of a yes > score of a no) + ½ · P(the two are equal); a label above 0.5"
            " is a yes, one below 0.5 a no, and one of exactly 0.5 is left out as a tie.",
            compute=roc_auc,
            reweigh=reweighted_roc_auc,
            needs=(BOTH_CLASSES,),
            is_for_yes_no=True,
        ),
    )
}
