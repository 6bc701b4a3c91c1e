"""The settings of comparisons: level, coefficient, interval, test."""

from dataclasses import InitVar, dataclass

from annotation.errors import DomainError
from metaeval.stats.check_choice import check_choice
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.constant_scores import CONSTANT, ZERO
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.rows import Resampling
from metaeval.stats.significance.compare_pairs import ALWAYS_VALID_TEST, TESTS
from metaeval.stats.significance.corrections import CORRECTIONS
from metaeval.stats.uncertainty.intervals import ALWAYS_VALID, INTERVALS

NONE = "none"
"""No interval, or no test."""

BY_LEVEL = "by_level"
"""The interval, or test, that holds at the level: at every look while more ratings may come, later at one."""

ONE_LOOK = "one_look"
"""The interval, or test, that holds at the level for those who look only once."""

BY_TEST = "by_test"
"""The correction that goes with the test."""

DEFAULT_INTERVALS = {
    "pooled": "bootstrap_articles",
    "article": "bootstrap_articles",
    "system": "symmetric_articles",
    "within_system": "bootstrap_articles",
}
"""Names of the intervals for one look, by level."""
DEFAULT_TESTS = {
    "pooled": "bootstrap_articles",
    "article": "bootstrap_articles",
    "system": "perm_inputs_t",
    "within_system": "perm_inputs_t",
}
"""Names of the tests, likewise. docs/validity.md shows why."""

CORRECTION_LABELS = {"holm": "Holm", "benjamini_hochberg": "Benjamini and Hochberg"}

ITEMS = {
    "own": "scored by the evaluator",
    "common": "shared: scored by every compared evaluator",
}
"""The labelled summaries that evaluators are compared on."""

MOST_RESAMPLES = 100_000


def refuse_resampling(resamples: int, seed: int) -> None:
    """Raise DomainError for numbers outside their ranges."""
    if not 1 <= resamples <= MOST_RESAMPLES:
        raise DomainError(f"resamples: found {resamples}, expected 1 to {MOST_RESAMPLES:,}")
    if seed < 0:
        raise DomainError(f"seed: found {seed}, expected 0 or more")


@dataclass(frozen=True)
class Method:
    """The settings by which evaluators are compared with human labels.

    BY_LEVEL and ONE_LOOK become the name of the interval or test that they stand for, and BY_TEST that of a
    correction. `is_live` says whether more ratings may come.

    Raises DomainError for a name that does not exist, or a number outside its range.
    """

    level: str = "pooled"
    coefficient: str = "spearman"
    interval: str = BY_LEVEL
    test: str = BY_LEVEL
    correction: str = BY_TEST
    items: str = "own"
    constant: str = ZERO
    margin: float = 0.0
    """The loss with which an evaluator still counts as good as another, below 1; 0: not tested."""
    resamples: int = 1000
    seed: int = 0
    is_live: InitVar[bool] = False

    def __post_init__(self, is_live: bool) -> None:
        check_choice("level", self.level, tuple(LEVELS))
        check_choice("coefficient", self.coefficient, tuple(COEFFICIENTS))
        check_choice("interval", self.interval, (BY_LEVEL, ONE_LOOK, NONE, *INTERVALS))
        check_choice("test", self.test, (BY_LEVEL, ONE_LOOK, NONE, *TESTS))
        check_choice("correction", self.correction, (BY_TEST, NONE, *CORRECTIONS))
        check_choice("items", self.items, tuple(ITEMS))
        check_choice("constant", self.constant, tuple(CONSTANT))
        if not 0 <= self.margin < 1:
            raise DomainError(f"margin: found {self.margin:g}, expected 0 or more and less than 1")
        refuse_resampling(self.resamples, self.seed)
        if self.interval in (BY_LEVEL, ONE_LOOK):
            holds_always = is_live and self.interval == BY_LEVEL
            name = ALWAYS_VALID if holds_always else DEFAULT_INTERVALS[self.level]
            object.__setattr__(self, "interval", name)
        if self.test in (BY_LEVEL, ONE_LOOK):
            holds_always = is_live and self.test == BY_LEVEL
            object.__setattr__(self, "test", ALWAYS_VALID_TEST if holds_always else DEFAULT_TESTS[self.level])
        if self.correction == BY_TEST:
            # With e-values, Benjamini and Hochberg's holds however the pairs depend on each other.
            name = "benjamini_hochberg" if self.test == ALWAYS_VALID_TEST else "holm"
            object.__setattr__(self, "correction", name)

    @property
    def why_no_test(self) -> str:
        """Return why the test does not apply to level or coefficient; empty if it does, or without a test."""
        if self.test == NONE:
            return ""
        return TESTS[self.test].why_not(LEVELS[self.level], COEFFICIENTS[self.coefficient])

    @property
    def warnings(self) -> list[str]:
        """Return warnings that the interval or the test misleads at the level, by simulations."""
        found = [] if self.interval == NONE else [INTERVALS[self.interval].warning(self.level)]
        found += [] if self.test == NONE else [TESTS[self.test].warning(self.level)]
        return [each for each in found if each]

    def refuse_inapplicable_test(self) -> None:
        """Raise DomainError if the test does not apply to the level or coefficient."""
        if self.why_no_test:
            raise DomainError(f"{self.why_no_test}. Choose another test, or '{NONE}'.")

    @property
    def resampling(self) -> Resampling:
        """Resamples and seed of intervals and tests."""
        return Resampling(self.resamples, self.seed)
