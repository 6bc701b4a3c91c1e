"""Agreement of yes/no decisions with people: accuracy and kappa, with resamples."""

import numpy as np

from metaeval.stats.arrays import Bools, Floats
from metaeval.stats.correlation.coefficients import Single
from metaeval.stats.result import Estimate
from metaeval.stats.rows import Resampling, Rows
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
    " with as many yes as no, and those without a score, are left out."
)

NOT_YES_NO = "decisions are compared on yes/no questions alone"
NOTHING_DECIDED = "no summary has both a score and a label that is decided"


def decided(labels: Floats, scores: Floats) -> Bools:
    """Return where both people and the evaluator decide, (n,).

    `labels` are means of Yes = 1 and No = 0, nan for none, as are `scores`.
    """
    kept: Bools = ~np.isnan(labels) & ~np.isnan(scores) & (labels != 0.5)
    return kept


def confusion_of(labels: Floats, scores: Floats) -> Confusion:
    """Return the confusion matrix of (n,) labels and scores."""
    kept = decided(labels, scores)
    return Confusion(*(int(each) for each in _cells(labels[kept], scores[kept]).sum(axis=1)))


def decision_estimate(statistic: str, rows: Rows) -> Estimate:
    """Return one of STATISTICS for one evaluator; undefined unless the question is yes/no."""
    kept = decided(rows.labels, rows.scores)
    if not rows.yes_no or not kept.any():
        found = Single(np.nan, NOTHING_DECIDED if rows.yes_no else NOT_YES_NO)
    else:
        confusion = confusion_of(rows.labels, rows.scores)
        found = confusion.accuracy if statistic == "accuracy" else confusion.kappa
    return Estimate(
        value=found.value,
        n=int(kept.sum()),
        articles=len(np.unique(rows.articles[kept])),
        systems=len(np.unique(rows.systems[kept])),
        definition=f"{DEFINITIONS[statistic]} {RULE}",
        reason=found.reason,
    )


def decision_replicates(statistic: str, rows: Rows, resampling: Resampling) -> Floats:
    """Return the statistic in resamples of articles, (evaluators, resamples); nan if undefined.

    All evaluators of `rows` get the same draws. Raises KeyError for a statistic that is none of STATISTICS.
    """
    if statistic not in STATISTICS:
        raise KeyError(statistic)
    kept = decided(rows.labels, np.zeros(len(rows)))
    labels, scores = rows.labels[kept], rows.scores[:, kept]
    cells = np.array([_cells(labels, row) for row in scores]).reshape(len(scores), 4, len(labels))
    found = [
        cells @ times for times in article_draws(rows.articles[kept], resampling)
    ]  # each (evaluators, 4)
    counts = np.array(found).reshape(resampling.resamples, len(scores), 4)
    with np.errstate(invalid="ignore"):
        return _statistic(statistic, *np.moveaxis(counts, -1, 0)).T


def _cells(labels: Floats, scores: Floats) -> Floats:
    """Return 1 in each summary's cell, (4, n): yes by both, by the evaluator, by people, by neither."""
    yes, people, scored = scores >= YES_FROM, labels > 0.5, ~np.isnan(scores)
    return np.array(
        [yes & people, yes & ~people, ~yes & people & scored, ~yes & ~people & scored], dtype=float
    )


def _statistic(name: str, tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> Floats:
    if name == "accuracy":
        return (tp + tn) / (tp + fp + fn + tn)
    return 2 * (tp * tn - fp * fn) / ((tp + fp) * (fp + tn) + (tp + fn) * (fn + tn))
