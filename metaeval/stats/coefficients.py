"""The coefficients there are, by name, and when each is defined."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from metaeval.stats.arrays import Bools, Floats
from metaeval.stats.groups import Groups
from metaeval.stats.kendall import kendall_b
from metaeval.stats.pearson import pearson
from metaeval.stats.roc_auc import roc_auc
from metaeval.stats.spearman import spearman


class Requirement(NamedTuple):
    """What a group must satisfy for a coefficient to be defined in it."""

    otherwise: str  # what is the matter with a group that does not, in words for the reader
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
    needs: tuple[Requirement, ...]  # beside two pairs; the first that does not hold gives the reason
    is_for_yes_no: bool = False

    def of_groups(self, labels: Floats, scores: Floats, groups: Groups) -> Grouped:
        """The coefficient within each group, at once.

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
        """The coefficient over all rows; `labels` and `scores` have shape (rows,) and are finite."""
        values, undefined = self.of_groups(labels, scores, Groups(np.array([len(labels)])))
        return Single(float(values[0]), next(iter(undefined), ""))


COEFFICIENTS: dict[str, Coefficient] = {
    coefficient.name: coefficient
    for coefficient in (
        Coefficient(
            name="pearson",
            label="Pearson's r",
            definition="r = S_xz / √(S_xx · S_zz), with S the sums of products of the deviations of scores x"
            " and labels z from their means.",
            compute=pearson,
            needs=(VARIED_LABELS, VARIED_SCORES),
        ),
        Coefficient(
            name="spearman",
            label="Spearman's ρ",
            definition="ρ = Pearson's r of the ranks; equal values share the mean of their ranks.",
            compute=spearman,
            needs=(VARIED_LABELS, VARIED_SCORES),
        ),
        Coefficient(
            name="kendall_b",
            label="Kendall's τ-b",
            definition="τ-b = (C − D) / √((C + D + T_x) · (C + D + T_z)), with C concordant and D discordant"
            " pairs, T_x pairs tied in the score only and T_z pairs tied in the label only.",
            compute=kendall_b,
            needs=(VARIED_LABELS, VARIED_SCORES),
        ),
        Coefficient(
            name="roc_auc",
            label="ROC AUC",
            definition="AUC = P(score of a yes > score of a no) + ½ · P(the two are equal); a label above 0.5"
            " is a yes, one below 0.5 a no, and one of exactly 0.5 is left out as a tie.",
            compute=roc_auc,
            needs=(BOTH_CLASSES,),
            is_for_yes_no=True,
        ),
    )
}
