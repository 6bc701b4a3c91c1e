"""The data of an evaluator card, as arrays for the computation in the background."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from metaeval.card.summary_traits import SummaryTraits
from metaeval.comparison.comparison import NOT_SCORED_YET, Comparison
from metaeval.snapshot.arrays import HumanRatings, Labels, QuestionRatings, SetupScores
from metaeval.stats.arrays import Bools, Floats
from metaeval.stats.rows import Rows

LENGTH, COPYING = "summary length", "copying"


@dataclass(frozen=True, eq=False)
class CardMaterial:
    """The data of a card. Arrays are (n,) with one entry for each labelled summary that counts."""

    evaluator: SetupScores
    labels: Labels
    human: HumanRatings
    ratings: QuestionRatings
    """Answers to the labels' question."""
    group: str
    """Raters whose answers count; empty for all."""
    comparison: Comparison
    """The comparison of this evaluator alone, which says which summaries count."""
    rows: Rows
    """Labels are never nan."""
    all_scores: Floats
    """(summaries,) including those that do not count or have no label."""
    traits: Mapping[str, Floats]
    """Traits of the summaries by LENGTH and COPYING; nan if unknown."""
    system_names: tuple[str, ...]
    why_unscored: Mapping[str, int]
    """Reason -> labelled summaries without a score."""
    is_general: bool
    """True if the scores are general instead of on the labels' dimension."""

    @property
    def coefficient(self) -> str:
        return "roc_auc" if self.labels.is_yes_no else "spearman"

    @property
    def direction(self) -> int:
        """1, or -1 if lower is better."""
        return 1 if self.evaluator.higher_is_better else -1

    @property
    def merits(self) -> Rows:
        """The rows, with scores negated if lower is better."""
        return self.rows.with_scores(self.direction * self.rows.scores)

    @property
    def n_counted(self) -> int:
        """The number of summaries in the language whose article the evaluator has not seen."""
        return int(self.comparison.counted.sum())

    @property
    def n_labelled(self) -> int:
        return len(self.rows)

    @property
    def scored(self) -> Bools:
        return ~np.isnan(self.rows.scores)


def card_material(
    comparison: Comparison,
    human: HumanRatings,
    ratings: QuestionRatings,
    labels: Labels,
    group: str,
    traits: SummaryTraits,
) -> CardMaterial:
    """Return the data of the only evaluator of `comparison` on the question of `ratings` and `labels`.

    Raises KeyError if the evaluator does not score the labels' dimension.
    """
    (evaluator,) = comparison.evaluators
    scores = evaluator.scores_on(labels.dimension)
    chosen = comparison.counted & ~np.isnan(labels.values)
    unscored = chosen & np.isnan(scores.values)
    reasons = scores.reasons_among(unscored)
    unknown = int(unscored.sum()) - sum(reasons.values())
    return CardMaterial(
        evaluator=evaluator,
        labels=labels,
        human=human,
        ratings=ratings,
        group=group,
        comparison=comparison,
        rows=comparison.summaries.rows(chosen, labels, scores.values[chosen]),
        all_scores=scores.values,
        traits={LENGTH: traits.lengths[chosen], COPYING: traits.copied[chosen]},
        system_names=comparison.summaries.system_names,
        why_unscored=reasons | ({NOT_SCORED_YET: unknown} if unknown else {}),
        is_general=labels.dimension not in evaluator.scores,
    )
