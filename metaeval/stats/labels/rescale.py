"""Scores converted to answers on the raters' scale by rules fitted on other articles."""

import numpy as np

from metaeval.stats.arrays import Bools, Floats
from metaeval.stats.labels.label_mean import clusters
from metaeval.stats.rows import Rows

FOLDS = 10


def rescale(rows: Rows) -> Floats:
    """Return the answer that each score stands for, (n,); nan without a score or enough to fit.

    Articles are assigned to ten parts in turn, in the order of their codes. The scores of each part are
    turned into answers by a rule fitted on the nine others, so that no label helps to predict itself or
    another one of its article. The rule for numbers is the least-squares line of labels on scores. The rule
    for yes/no labels is 'yes above (or below) a cut', with the cut and side that agree with most raters; of
    equally good cuts the lowest, and it stands midway between two scores.

    A summary whose article is not known makes an article of its own. A part is left at nan if its nine others
    have fewer than two different scores with a label.

    >>> rows = Rows(labels=[1, 2, 3, 4], scores=[10, 20, 30, 40], articles=[0, 1, 2, 3], systems=[0] * 4)
    >>> rescale(rows).round(6).tolist()
    [1.0, 2.0, 3.0, 4.0]
    """
    score, label = rows.scores, rows.labels
    part = clusters(rows.articles) % FOLDS
    both = ~np.isnan(score) & ~np.isnan(label)
    answers = np.full(len(score), np.nan)
    for number in range(FOLDS):
        known = both & (part != number)
        if known.any() and np.ptp(score[known]) > 0:
            rule = _yes_no_by_cut if rows.yes_no else _by_line
            wanted = (part == number) & ~np.isnan(score)
            answers[wanted] = rule(score[known], label[known], score[wanted])
    return answers


def _by_line(scores: Floats, labels: Floats, wanted: Floats) -> Floats:
    deviations = scores - scores.mean()
    slope = (deviations * labels).sum() / (deviations**2).sum()
    return labels.mean() + slope * (wanted - scores.mean())


def _yes_no_by_cut(scores: Floats, labels: Floats, wanted: Floats) -> Floats:
    order = np.argsort(scores)
    ordered = scores[order]
    gain = np.cumsum((1 - 2 * labels)[order])  # of calling all up to here no, in raters who agree
    between: Bools = np.append(np.diff(ordered) > 0, False)
    cuts = np.append(-np.inf, (ordered[between] + np.append(ordered[1:], np.inf)[between]) / 2)
    as_no_below = np.append(0.0, gain[between])
    as_no_above = gain[-1] - as_no_below
    if as_no_below.max() >= as_no_above.max():
        return (wanted > cuts[as_no_below.argmax()]).astype(np.float64)
    return (wanted <= cuts[as_no_above.argmax()]).astype(np.float64)
