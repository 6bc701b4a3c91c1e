from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from scoring.contract.evaluator import Evaluator, EvaluatorError, Need
from scoring.contract.items import Item, PoolExample
from scoring.contract.scores import Scored
from scoring.contract.seen import Seen, digest_of_article


class Majority(Evaluator):
    """The most frequent label of the labelled pool, the same for every summary: the lowest baseline.

    One constant in [0, 1] per dimension of the pool; of equally frequent labels the lowest. It reads no text,
    so it also scores empty summaries. The articles of the pool count as seen, each on the dimensions that it
    has labels of. Correlations with a constant are undefined and shown as such; its ROC AUC is 0.5.
    """

    name = "majority"
    title = "Majority class"
    version = 1
    source = "trivial baseline"
    formula = "argmax over labels of the pool"
    weaknesses = "The score does not depend on the summary."
    cost = "None."
    needs = frozenset({Need.LABELLED_POOL})
    dimensions: tuple[str, ...] = ()
    batch_size = 2048

    @dataclass(frozen=True)
    class Params:
        pass

    params: Params

    def fit(self, pool: Sequence[PoolExample]) -> None:
        labels: dict[str, Counter[float]] = {}
        for example in pool:
            for dimension, label in example.labels.items():
                labels.setdefault(dimension, Counter())[label] += 1
        if not labels:
            raise EvaluatorError("the labelled pool has no labels", permanent=True)
        self._constants = {
            dimension: float(min(counts, key=lambda label: (-counts[label], label)))
            for dimension, counts in sorted(labels.items())
        }
        self.dimensions = tuple(self._constants)
        # Texts do not matter here, and a pool may hold a hundred thousand articles.
        self.seen = Seen.of(
            PoolExample(each.id, each.article_id, "", each.labels, article_digest=digest_of_article(each))
            for each in pool
        )

    def score(self, items: Sequence[Item]) -> list[Scored]:
        if not self.dimensions:
            raise RuntimeError("majority scores only after fit(pool)")
        return [Scored.of(dict(self._constants)) for _ in items]
