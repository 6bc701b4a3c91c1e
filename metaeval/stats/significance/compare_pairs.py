"""Which of two evaluators agrees better with people, and whether chance alone would explain it."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from metaeval.stats.significance import paired_bootstrap, paired_t, permutation, subsamples, williams
from metaeval.stats.significance.compared import Compared, PairTest, PairTester, PairTests, compared
from metaeval.stats.uncertainty.bootstrap import Bootstrap

ITSELF = "an evaluator is not compared with itself"


@dataclass(frozen=True)
class Test:
    """A significance test; `label` and `definition` are for readers."""

    name: str
    label: str
    definition: str
    """Full sentences; {resamples} and {seed} stand for the numbers used."""
    tester: Callable[[Compared], PairTester]
    """Does once what serves all pairs, and returns what tests a pair."""


TESTS: dict[str, Test] = {
    test.name: test
    for test in (
        Test("perm_both", "PERM-BOTH", permutation.BOTH, permutation.both),
        Test("perm_inputs", "PERM-INPUTS", permutation.INPUTS, permutation.inputs),
        Test("perm_systems", "PERM-SYSTEMS", permutation.SYSTEMS, permutation.systems),
        Test(
            "bootstrap_articles",
            "paired bootstrap over articles",
            paired_bootstrap.DEFINITION,
            paired_bootstrap.tester,
        ),
        Test("williams", "Williams' test", williams.DEFINITION, williams.tester),
        Test("subsample80", "80% subsamples", subsamples.DEFINITION, subsamples.tester),
        Test("paired_t", "paired t-test over articles", paired_t.DEFINITION, paired_t.tester),
    )
}


def compare_pairs(
    test: str,
    level: str,
    coefficient: str,
    labels: npt.ArrayLike,
    scores: npt.ArrayLike,
    articles: npt.ArrayLike,
    systems: npt.ArrayLike,
    *,
    yes_no: bool = False,
    resamples: int = 1000,
    seed: int = 0,
    orientation: npt.ArrayLike | None = None,
    bootstrap: Bootstrap | None = None,
) -> PairTests:
    """Compare every two evaluators on the summaries that both have scored.

    Parameters
    ----------
    test : a name in `TESTS`.
    level, coefficient : what is compared: names in `LEVELS` and `COEFFICIENTS`.
    labels : (n,) human labels; nan = none.
    scores : (evaluators, n) scores; nan = none.
    articles, systems : (n,) whole-number codes; negative = not known.
    yes_no : whether the labels are means of Yes = 1 and No = 0.
    resamples, seed : of the tests that draw; the same draws serve every pair, so a pair's p-value does not
        depend on which other evaluators are there.
    orientation : (evaluators,) 1, or -1 where a lower score is better; all 1 if None. Scores of the latter
        are negated first: that turns the sign of a correlation, makes of a ROC AUC 1 − AUC, lets pairwise
        accuracy count the pairs that the scores order the other way, and makes scores that are swapped mean
        the same.
    bootstrap : over articles, of all the other arguments, for a caller who has drawn it for something else;
        the paired bootstrap uses it for evaluators that have scored every labelled summary.

    At a level that is a mean over articles or systems, each evaluator's mean is over those where its own
    coefficient is defined, as in nlpstats. Where a coefficient or the test is undefined, the p-value is nan,
    with the reason.

    Raises KeyError for a name that is not there, and ValueError for what `compared` refuses.
    """
    chosen = TESTS[test]
    data = compared(
        level,
        coefficient,
        labels,
        scores,
        articles,
        systems,
        yes_no=yes_no,
        resamples=resamples,
        seed=seed,
        orientation=orientation,
        bootstrap=bootstrap,
    )
    size = len(data.scores)
    differences, p_values, low, high = (np.full((size, size), np.nan) for _ in range(4))
    n = np.zeros((size, size), dtype=np.int64)
    reasons = {(row, row): ITSELF for row in range(size)}
    for row in range(size):
        alone = data.estimate(row, data.scored[row])
        n[row, row] = int(data.scored[row].sum())
        differences[row, row] = alone.value - alone.value

    tester = chosen.tester(data)
    for first, second in combinations(range(size), 2):
        kept = data.common(first, second)
        estimates = data.estimate(first, kept), data.estimate(second, kept)
        undefined = [estimate.reason for estimate in estimates if estimate.reason]
        found = PairTest(reason=undefined[0]) if undefined else tester(first, second)
        difference = data.difference(first, second)
        n[first, second] = n[second, first] = int(kept.sum())
        p_values[first, second] = p_values[second, first] = found.p_value
        differences[first, second], differences[second, first] = difference, -difference
        low[first, second], high[first, second] = found.low, found.high
        low[second, first], high[second, first] = -found.high, -found.low
        if found.reason:
            reasons[first, second] = reasons[second, first] = found.reason
    return PairTests(differences, p_values, low, high, n, reasons, _definition(chosen, data))


def _definition(test: Test, data: Compared) -> str:
    sentences = [
        f"Difference of two evaluators' {data.coefficient.label}, {data.level.label}, each computed on the"
        " summaries that have a label and a score of both.",
        "Scores of an evaluator for which lower is better are negated first." if data.is_turned else "",
        f"{test.label[0].upper()}{test.label[1:]}: "
        + test.definition.format(resamples=f"{data.resamples:,}", seed=data.seed),
    ]
    return " ".join(filter(None, sentences))
