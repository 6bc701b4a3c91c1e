"""The summaries behind one evaluator and one question, each with its place in people's order and in its."""

from dataclasses import dataclass

from metaeval.comparison import Comparison
from metaeval.judgements import Evaluator, Labels
from metaeval.stats.arrays import Floats, Ints
from metaeval.stats.scores.percentiles import percentiles


@dataclass(frozen=True, eq=False)
class RankedPairs:
    """Summaries with both label and score. Arrays are (n,); ranks are `percentiles`, the best near 1."""

    evaluator: Evaluator
    question: Labels
    places: Ints
    """Places among all summaries."""
    labels: Floats
    scores: Floats
    label_ranks: Floats
    score_ranks: Floats
    """Where lower scores are better, the lowest is near 1."""

    def __len__(self) -> int:
        return len(self.places)

    @property
    def ahead(self) -> Floats:
        """(n,) how far the evaluator ranks each summary above people, from -1 to 1."""
        return self.score_ranks - self.label_ranks


def ranked_pairs(comparison: Comparison, evaluator: Evaluator, question: Labels) -> RankedPairs:
    """What `comparison` counts, ranked. Raises KeyError if the evaluator says nothing on the question."""
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
