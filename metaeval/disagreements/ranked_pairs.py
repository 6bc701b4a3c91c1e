"""Summaries ranked by people and by an evaluator on one question. Pure."""

from dataclasses import dataclass

from metaeval.comparison.comparison import Comparison
from metaeval.snapshot.arrays import Labels, SetupScores
from metaeval.stats.arrays import Floats, Ints
from metaeval.stats.scores.percentiles import percentiles


@dataclass(frozen=True, eq=False)
class RankedPairs:
    """Summaries with both label and score. Arrays are (n,); ranks are percentiles, 1 is best."""

    evaluator: SetupScores
    question: Labels
    places: Ints
    """Indices among all summaries."""
    labels: Floats
    scores: Floats
    label_ranks: Floats
    score_ranks: Floats
    """Ranks by score; the lowest score has the highest rank if lower is better."""

    def __len__(self) -> int:
        return len(self.places)

    @property
    def ahead(self) -> Floats:
        """(n,) the rank by score minus the rank by label, from -1 to 1."""
        return self.score_ranks - self.label_ranks


def ranked_pairs(comparison: Comparison, evaluator: SetupScores, question: Labels) -> RankedPairs:
    """Return the summaries of `comparison`, ranked. Raises KeyError if the question is not scored."""
    pairs = comparison.pairs(evaluator, question)
    return RankedPairs(
        evaluator=evaluator,
        question=question,
        places=pairs.places,
        labels=pairs.labels,
        scores=pairs.scores,
        label_ranks=percentiles(pairs.labels),
        score_ranks=percentiles(pairs.scores if evaluator.higher_is_better else -pairs.scores),
    )
