"""What an evaluator card is computed from: arrays, so that the card can be computed in the background."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from metaeval.card.summary_traits import SummaryTraits
from metaeval.comparison import NOT_SCORED_YET, Comparison
from metaeval.judgements import Evaluator, HumanRatings, Labels, QuestionRatings
from metaeval.stats.arrays import Bools, Floats, Ints

LENGTH, COPYING = "summary length", "copying"


@dataclass(frozen=True, eq=False)
class CardMaterial:
    """All that a card is computed from; arrays are (n,), one entry for each labelled summary that counts."""

    evaluator: Evaluator
    labels: Labels
    human: HumanRatings
    ratings: QuestionRatings
    """Those of the labels' question."""
    group: str
    """Of raters whose answers count; empty for all."""
    comparison: Comparison
    """Of this evaluator alone: which summaries count."""
    values: Floats
    """Labels; never nan."""
    scores: Floats
    """nan for none."""
    articles: Ints
    systems: Ints
    all_scores: Floats
    """(summaries,) also of those that do not count or are not labelled."""
    traits: Mapping[str, Floats]
    """By LENGTH and COPYING; nan for none."""
    system_names: tuple[str, ...]
    why_unscored: Mapping[str, int]
    """Reason -> labelled summaries without a score."""
    is_general: bool
    """Whether the scores are general ones, not on the labels' dimension."""

    @property
    def coefficient(self) -> str:
        return "roc_auc" if self.labels.is_yes_no else "spearman"

    @property
    def direction(self) -> int:
        """1, or -1 where a lower score is better."""
        return 1 if self.evaluator.higher_is_better else -1

    @property
    def merits(self) -> Floats:
        """(n,) the scores, negated where a lower one is better."""
        return self.direction * self.scores

    @property
    def n_counted(self) -> int:
        """Summaries in the language whose article the evaluator has not seen, labelled or not."""
        return int(self.comparison.counted.sum())

    @property
    def n_labelled(self) -> int:
        return len(self.values)

    @property
    def scored(self) -> Bools:
        return ~np.isnan(self.scores)


def card_material(
    comparison: Comparison,
    human: HumanRatings,
    ratings: QuestionRatings,
    labels: Labels,
    group: str,
    traits: SummaryTraits,
) -> CardMaterial:
    """The card's material on the one evaluator of `comparison` and the question of `ratings` and `labels`.

    Raises KeyError if the evaluator says nothing on the labels' dimension.
    """
    (evaluator,) = comparison.evaluators
    scores = evaluator.on(labels.dimension)
    if scores is None:
        raise KeyError(f"{evaluator.label} does not score {labels.dimension}")
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
        values=labels.values[chosen],
        scores=scores.values[chosen],
        articles=comparison.summaries.articles[chosen],
        systems=comparison.summaries.systems[chosen],
        all_scores=scores.values,
        traits={LENGTH: traits.lengths[chosen], COPYING: traits.copied[chosen]},
        system_names=comparison.summaries.system_names,
        why_unscored=reasons | ({NOT_SCORED_YET: unknown} if unknown else {}),
        is_general=labels.dimension not in evaluator.scores,
    )
