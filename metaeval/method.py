"""How the figures of the meta-evaluation are computed: level, coefficient, interval, test."""

from dataclasses import dataclass

from annotation.errors import DomainError
from metaeval.refuse_unknown import refuse_unknown
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.significance.compare_pairs import TESTS
from metaeval.stats.significance.corrections import CORRECTIONS
from metaeval.stats.uncertainty.intervals import INTERVALS

NONE = "none"
"""In place of an interval or a test: none is wanted."""

CORRECTION_LABELS = {"holm": "Holm", "benjamini_hochberg": "Benjamini and Hochberg"}

ITEMS = {
    "own": "all that the evaluator has scored",
    "common": "those that every compared evaluator has scored",
}
"""On which summaries evaluators stand, beside those that have a label."""

MOST_RESAMPLES = 100_000


@dataclass(frozen=True)
class Method:
    """Raises DomainError for a name that does not exist, or a number outside its range."""

    level: str = "pooled"
    coefficient: str = "spearman"
    interval: str = "bootstrap_articles"
    test: str = "bootstrap_articles"
    correction: str = "holm"
    items: str = "own"
    resamples: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        refuse_unknown("level", self.level, tuple(LEVELS))
        refuse_unknown("coefficient", self.coefficient, tuple(COEFFICIENTS))
        refuse_unknown("interval", self.interval, (NONE, *INTERVALS))
        refuse_unknown("test", self.test, (NONE, *TESTS))
        refuse_unknown("correction", self.correction, (NONE, *CORRECTIONS))
        refuse_unknown("items", self.items, tuple(ITEMS))
        if not 1 <= self.resamples <= MOST_RESAMPLES:
            raise DomainError(f"resamples: found {self.resamples}, expected 1 to {MOST_RESAMPLES:,}")
        if self.seed < 0:
            raise DomainError(f"seed: found {self.seed}, expected 0 or more")
