"""The settings of comparisons: what is chosen by level, and what misleads there."""

import pytest

from annotation.errors import DomainError
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.method import BY_LEVEL, DEFAULT_INTERVALS, DEFAULT_TESTS, NONE, Method
from metaeval.stats.significance.compare_pairs import TESTS
from metaeval.stats.uncertainty.intervals import INTERVALS


@pytest.mark.parametrize("level", LEVELS)
def test_every_level_has_an_interval_and_a_test_that_hold_there(level):
    method = Method(level)
    assert (method.interval, method.test) == (DEFAULT_INTERVALS[level], DEFAULT_TESTS[level])
    assert method.warnings == []
    assert level in INTERVALS[method.interval].coverage
    assert level in TESTS[method.test].false_findings
    assert not any(TESTS[method.test].why_not(LEVELS[level], each) for each in COEFFICIENTS.values())


def test_a_choice_replaces_what_the_level_would_have():
    chosen = Method("system", interval="bca_articles", test="perm_both")
    assert (chosen.interval, chosen.test) == ("bca_articles", "perm_both")
    assert (Method("system", interval=NONE, test=NONE).warnings, BY_LEVEL) == ([], "by_level")
    with pytest.raises(DomainError, match="interval: found 'both'"):
        Method(interval="both")


@pytest.mark.parametrize(
    ("level", "choice", "figure"),
    [
        ("pooled", {"test": "williams"}, "in 7% to 38% of simulated studies"),
        ("article", {"test": "perm_both"}, "in 5% to 21% of simulated studies"),
        ("system", {"test": "bootstrap_articles"}, "in 1% to 2% of simulated studies"),
        ("pooled", {"interval": "analytic"}, "in 70% to 92%, 83% on average"),
        ("system", {"interval": "analytic"}, "in 92% to 100%, 99% on average"),
        ("system", {"interval": "bca_articles"}, "in 74% to 96%, 85% on average"),
    ],
)
def test_what_does_not_hold_at_the_level_is_said_with_its_figures(level, choice, figure):
    (warning,) = Method(level, **choice).warnings
    assert figure in warning
    assert warning.endswith(".")
