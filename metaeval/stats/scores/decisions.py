"""How often yes/no decisions made of scores are those of people: accuracy and kappa, with resamples."""

import numpy as np

from metaeval.stats.arrays import Bools, Floats, Ints
from metaeval.stats.result import Estimate
from metaeval.stats.scores.confusion import Confusion
from metaeval.stats.uncertainty.article_draws import article_draws

YES_FROM = 0.5
STATISTICS = {"accuracy": "accuracy", "kappa": "Cohen's kappa"}
DEFINITIONS = {
    "accuracy": "The share of summaries on which the evaluator decides as most raters do.",
    "kappa": "Cohen's kappa between the evaluator's decision and that of most raters: 0 where it is as good"
    " as chance with the same shares of yes, 1 where both always agree.",
}
RULE = (
    f"The evaluator decides yes for scores from {YES_FROM} upwards, people where most say yes; summaries"
    " whose answers are halved, and those without a score, are left out."
)

NOT_YES_NO = "decisions are compared on yes/no questions alone"
NOTHING_DECIDED = "no summary has both a score and a label that is decided"


def decided(labels: Floats, scores: Floats) -> Bools:
    """(n,) where both decide; `labels` are means of Yes = 1 and No = 0, nan for none, as are `scores`."""
    kept: Bools = ~np.isnan(labels) & ~np.isnan(scores) & (labels != 0.5)
    return kept


def confusion_of(labels: Floats, scores: Floats) -> Confusion:
    """What the decisions on (n,) labels and scores get right and wrong."""
    kept = decided(labels, scores)
    return Confusion(*(int(each) for each in _cells(labels[kept], scores[kept]).sum(axis=1)))


def decision_estimate(
    statistic: str, labels: Floats, scores: Floats, articles: Ints, systems: Ints, *, yes_no: bool
) -> Estimate:
    """One of STATISTICS, of arguments of (n,) each; undefined unless the question is `yes_no`."""
    kept = decided(labels, scores)
    sizes = int(kept.sum()), len(np.unique(articles[kept])), len(np.unique(systems[kept]))
    definition = f"{DEFINITIONS[statistic]} {RULE}"
    if not yes_no:
        return Estimate(np.nan, *sizes, definition, reason=NOT_YES_NO)
    if not kept.any():
        return Estimate(np.nan, *sizes, definition, reason=NOTHING_DECIDED)
    confusion = confusion_of(labels, scores)
    found = confusion.accuracy if statistic == "accuracy" else confusion.kappa
    return Estimate(found.value, *sizes, definition, reason=found.reason)


def decision_replicates(
    statistic: str, labels: Floats, scores: Floats, articles: Ints, *, resamples: int, seed: int
) -> Floats:
    """(evaluators, resamples) the statistic in resamples of articles; nan where it is undefined.

    `labels` and `articles` are (n,), `scores` (evaluators, n); all evaluators get the same draws. Raises
    KeyError for a statistic that is none of STATISTICS.
    """
    if statistic not in STATISTICS:
        raise KeyError(statistic)
    kept = decided(labels, np.zeros_like(labels))
    rows = scores[:, kept]
    cells = np.array([_cells(labels[kept], row) for row in rows]).reshape(len(rows), 4, int(kept.sum()))
    found = [
        cells @ times for times in article_draws(articles[kept], resamples=resamples, seed=seed)
    ]  # each (evaluators, 4)
    counts = np.array(found).reshape(resamples, len(rows), 4)
    with np.errstate(invalid="ignore"):
        return _statistic(statistic, *np.moveaxis(counts, -1, 0)).T


def _cells(labels: Floats, scores: Floats) -> Floats:
    """(4, n) 1 in the cell of each summary: yes by both, by the evaluator, by people, by neither."""
    yes, people, scored = scores >= YES_FROM, labels > 0.5, ~np.isnan(scores)
    return np.array(
        [yes & people, yes & ~people, ~yes & people & scored, ~yes & ~people & scored], dtype=float
    )


def _statistic(name: str, tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> Floats:
    if name == "accuracy":
        return (tp + tn) / (tp + fp + fn + tn)
    return 2 * (tp * tn - fp * fn) / ((tp + fp) * (fp + tn) + (tp + fn) * (fn + tn))
