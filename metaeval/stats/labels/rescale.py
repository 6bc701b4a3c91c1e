"""Scores converted to answers on the raters' scale by a rule fitted on other articles."""

import numpy as np

from metaeval.stats.arrays import Floats
from metaeval.stats.labels.label_mean import clusters
from metaeval.stats.rows import Rows

FOLDS = 10


def rescale(rows: Rows, *, higher_is_better: bool = True) -> Floats:
    """Return the label expected at each score, (n,); nan without a score or labels to fit to.

    Articles are assigned to ten parts in turn, in the order of their codes. The scores of each part are
    turned into answers by a rule fitted on the nine others, so that no label helps to predict itself or
    another one of its article. The rule is the isotonic regression of labels on scores, with straight lines
    between known scores: the closest fit that never falls where scores get better. So it cannot turn an
    evaluator round that orders summaries the wrong way; its answers become nearly constant instead.

    A summary whose article is not known makes an article of its own. A part is left at nan if its nine others
    have no score with a label.

    Source: R. E. Barlow et al., Statistical Inference under Order Restrictions, 1972.

    >>> rows = Rows(labels=[1, 2, 3, 4], scores=[10, 20, 30, 40], articles=[0, 1, 2, 3], systems=[0] * 4)
    >>> rescale(rows).tolist()
    [2.0, 2.0, 3.0, 3.0]
    >>> rescale(rows, higher_is_better=False).round(2).tolist()
    [3.0, 2.67, 2.33, 2.0]
    """
    score, label = rows.scores if higher_is_better else -rows.scores, rows.labels
    part = clusters(rows.articles) % FOLDS
    both = ~np.isnan(score) & ~np.isnan(label)
    answers = np.full(len(score), np.nan)
    for number in range(FOLDS):
        known = both & (part != number)
        if known.any():
            wanted = (part == number) & ~np.isnan(score)
            answers[wanted] = _isotonic(score[known], label[known], score[wanted])
    return answers


def _isotonic(scores: Floats, labels: Floats, wanted: Floats) -> Floats:
    from scipy.optimize import isotonic_regression  # half a second that not every process should wait

    known, places, counts = np.unique(scores, return_inverse=True, return_counts=True)
    means = np.bincount(places, weights=labels) / counts
    return np.interp(wanted, known, isotonic_regression(means, weights=counts).x)
