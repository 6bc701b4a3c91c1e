"""The differences between pairs of evaluators in their agreement with people, with tests."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations

import numpy as np
import numpy.typing as npt

from metaeval.stats.correlation.coefficients import Coefficient
from metaeval.stats.correlation.constant_scores import LEFT_OUT
from metaeval.stats.correlation.levels import LEVELS, Level
from metaeval.stats.rows import THOUSAND_RESAMPLES, Resampling, Rows
from metaeval.stats.significance import (
    always_valid_t,
    paired_bootstrap,
    paired_t,
    permutation,
    williams,
)
from metaeval.stats.significance.compared import (
    Compared,
    PairDifferences,
    PairTest,
    PairTester,
    PairTests,
    compared,
)
from metaeval.stats.significance.margins import BY_ALWAYS_VALID, BY_BOOTSTRAP, margin_tests
from metaeval.stats.uncertainty.bootstrap import Bootstrap

ALWAYS_VALID_TEST = "always_valid"
"""The test that holds at every look at a campaign that goes on."""
MARGIN_BY = {ALWAYS_VALID_TEST: BY_ALWAYS_VALID, "bootstrap_articles": BY_BOOTSTRAP}
"""The tests whose standard errors tests with a margin are made of, in words."""
NOTHING_IN_COMMON = "the two have no {units} in common"
ITSELF = "an evaluator is not compared with itself"
DUE = 0.05
LOWEST_SOUND, HIGHEST_SOUND = 0.02, 0.075
"""The shares of false findings that a test may have to hold its level of .05."""


@dataclass(frozen=True)
class SignificanceTest:
    """A significance test; `label` and `definition` are for readers."""

    name: str
    label: str
    definition: str
    """Full sentences, with {resamples} and {seed} as placeholders."""
    tester: Callable[[Compared], PairTester]
    """Prepares what all pairs share, and returns the test of a pair."""
    why_not: Callable[[Level, Coefficient], str] = lambda _level, _coefficient: ""
    """The reason why the test does not apply to a level or coefficient; empty if it does."""
    false_findings: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Level -> lowest and highest share of simulated studies of two equally good evaluators in which p is at
    most .05 (benchmarks/false_findings.py)."""

    def warning(self, level: str) -> str:
        """Return a sentence if the test finds too much or too little at the level; empty if not."""
        low, high = self.false_findings.get(level, (DUE, DUE))
        if low >= LOWEST_SOUND and high <= HIGHEST_SOUND:
            return ""
        return (
            f"The test '{self.label}' does not hold its level of 5% here: it found a difference between"
            f" equally good evaluators in {low:.0%} to {high:.0%} of simulated studies."
        )


def _by_level(*shares: tuple[float, float] | None) -> dict[str, tuple[float, float]]:
    """Return the shares by level, given in the order of LEVELS; None where the test does not apply."""
    return {level: each for level, each in zip(LEVELS, shares, strict=True) if each}


TESTS: dict[str, SignificanceTest] = {
    test.name: test
    for test in (
        SignificanceTest(
            "perm_both",
            "PERM-BOTH",
            permutation.BOTH,
            permutation.both,
            false_findings=_by_level((0.05, 0.3), (0.05, 0.21), (0.03, 0.06), (0.04, 0.31)),
        ),
        SignificanceTest(
            "perm_inputs",
            "PERM-INPUTS",
            permutation.INPUTS,
            permutation.inputs,
            false_findings=_by_level((0.04, 0.05), (0.04, 0.05), (0.04, 0.07), (0.04, 0.05)),
        ),
        SignificanceTest(
            "perm_inputs_t",
            "PERM-INPUTS with Student's t",
            permutation.INPUTS_T,
            permutation.inputs_t,
            false_findings=_by_level((0.04, 0.05), (0.04, 0.05), (0.04, 0.06), (0.04, 0.06)),
        ),
        SignificanceTest(
            "perm_systems",
            "PERM-SYSTEMS",
            permutation.SYSTEMS,
            permutation.systems,
            false_findings=_by_level((0.04, 0.37), (0.04, 0.22), (0.03, 0.04), (0.04, 0.33)),
        ),
        SignificanceTest(
            "bootstrap_articles",
            "paired bootstrap over articles",
            paired_bootstrap.DEFINITION,
            paired_bootstrap.tester,
            false_findings=_by_level((0.03, 0.06), (0.04, 0.06), (0.01, 0.02), (0.02, 0.06)),
        ),
        SignificanceTest(
            ALWAYS_VALID_TEST,
            "always-valid t-test over articles",
            always_valid_t.DEFINITION,
            always_valid_t.tester,
            always_valid_t.why_not,
        ),
        SignificanceTest(
            "williams",
            "Williams' test",
            williams.DEFINITION,
            williams.tester,
            williams.why_not,
            false_findings=_by_level((0.07, 0.38), None, (0.1, 0.12), None),
        ),
        SignificanceTest(
            "paired_t",
            "paired t-test over articles",
            paired_t.DEFINITION,
            paired_t.tester,
            paired_t.why_not,
            false_findings=_by_level(None, (0.04, 0.05), None, None),
        ),
    )
}


def compare_pairs(
    test: str,
    level: str,
    coefficient: str,
    rows: Rows,
    resampling: Resampling = THOUSAND_RESAMPLES,
    *,
    orientation: npt.ArrayLike | None = None,
    bootstrap: Bootstrap | None = None,
    constant: str = LEFT_OUT,
    margin: float = 0.0,
) -> PairTests:
    """Compare every two evaluators on the summaries, articles or systems that count for both.

    Parameters
    ----------
    test : a name in `TESTS`.
    level, coefficient : what is compared: names in `LEVELS` and `COEFFICIENTS`.
    rows : of two or more evaluators.
    resampling : of the tests that draw; the same draws serve every pair, so a pair's p-value does not
        depend on which other evaluators are there.
    orientation : (evaluators,) 1, or -1 where a lower score is better; all 1 if None. Scores of the latter
        are negated first: that turns the sign of a correlation, makes of a ROC AUC 1 − AUC, lets pairwise
        accuracy count the pairs that the scores order the other way, and makes scores that are swapped mean
        the same.
    bootstrap : over articles, of all the other arguments, if the caller has drawn it already;
        the paired bootstrap uses it for evaluators that have scored every labelled summary.
    constant : what becomes of articles with equal scores: a name in `CONSTANT`.
    margin : below 1; if above 0, `margin_tests` are made, too. They hold at every look if `test` does, and
        else come from the paired bootstrap, whatever `test` is.

    At a level that is a mean over articles or systems, both means are over those where both coefficients are
    defined. (In nlpstats each is over those where its own is.) Where a coefficient or the test is undefined,
    the p-value is nan, with the reason.

    Raises KeyError for a name that is not there, and ValueError for what `compared` or `margin_tests`
    refuses.
    """
    chosen = TESTS[test]
    data = compared(level, coefficient, rows, resampling, orientation, bootstrap, constant)
    found = pair_differences(data)
    p_values = np.full_like(found.differences, np.nan)
    reasons = dict(found.reasons)
    tester = _tester(chosen, data)
    for first, second in combinations(range(len(rows.scores)), 2):
        if (first, second) in reasons:
            continue
        tested = tester(first, second)
        p_values[first, second] = p_values[second, first] = tested.p_value
        if tested.reason:
            reasons[first, second] = reasons[second, first] = tested.reason
    within_margin = None
    if margin:
        by = ALWAYS_VALID_TEST if test == ALWAYS_VALID_TEST else "bootstrap_articles"
        of_margin = tester if by == test else _tester(TESTS[by], data)
        within_margin = margin_tests(data, margin, of_margin, MARGIN_BY[by])
    definition = _definition(chosen, data)
    return PairTests(found.differences, found.n, found.units, reasons, p_values, definition, within_margin)


def _tester(test: SignificanceTest, data: Compared) -> PairTester:
    """Return the test of a pair, each computed once; it gives the reason if the test does not apply."""
    inapplicable = test.why_not(data.level, data.coefficient)
    if inapplicable:
        return lambda _first, _second: PairTest(reason=inapplicable)
    return cache(test.tester(data))


def pair_differences(data: Compared) -> PairDifferences:
    """Return the differences of every two evaluators, without a test."""
    size = len(data.scored)
    differences = np.full((size, size), np.nan)
    n, units = np.zeros((2, size, size), dtype=np.int64)
    reasons = {(row, row): ITSELF for row in range(size)}
    for row in range(size):
        alone = data.estimate(row, data.scored[row])
        n[row, row], units[row, row] = int(data.scored[row].sum()), data.units(row, row)
        differences[row, row] = alone.value - alone.value

    for first, second in combinations(range(size), 2):
        kept = data.common(first, second)
        undefined = [each.reason for each in (data.estimate(first, kept), data.estimate(second, kept))]
        if data.scored[first].any() and data.scored[second].any() and not kept.any():
            undefined = [NOTHING_IN_COMMON.format(units=data.level.units)]
        difference = data.difference(first, second)
        n[first, second] = n[second, first] = int(kept.sum())
        units[first, second] = units[second, first] = data.units(first, second)
        differences[first, second], differences[second, first] = difference, -difference
        for reason in filter(None, undefined[::-1]):
            reasons[first, second] = reasons[second, first] = reason
    return PairDifferences(differences, n, units, reasons)


def _definition(test: SignificanceTest, data: Compared) -> str:
    sentences = [
        f"Difference of two evaluators' {data.coefficient.label}, {data.level.label}, each computed on the"
        " summaries that have a label and a score of both"
        + (f", in the {data.level.units} where both have a coefficient." if data.level.group else "."),
        "Scores of an evaluator for which lower is better are negated first." if data.is_turned else "",
        f"{test.label[0].upper()}{test.label[1:]}: "
        + test.definition.format(resamples=f"{data.resampling.resamples:,}", seed=data.resampling.seed),
        test.warning(data.level.name),
    ]
    return " ".join(filter(None, sentences))
