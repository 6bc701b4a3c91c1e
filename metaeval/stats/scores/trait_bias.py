"""An evaluator's bias towards a property, such as length, that people do not reward."""

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import Floats, Ints, number_vector, refuse_unequal_lengths
from metaeval.stats.correlation.levels import NO_ARTICLE
from metaeval.stats.correlation.paired import NO_LABEL, NO_SCORE, count_known
from metaeval.stats.result import Estimate
from metaeval.stats.rows import THOUSAND_RESAMPLES, Resampling, Rows
from metaeval.stats.scores.complete_rows import complete_rows
from metaeval.stats.uncertainty.article_draws import article_draws, interval_over_articles

NO_TRAIT = "summaries without the property"
NOISY_LABELS = (
    "Where labels are noisy, people's true judgement is held only in part, so some of the association may"
    " be deserved."
)


def trait_bias(rows: Rows, trait: npt.ArrayLike, resampling: Resampling = THOUSAND_RESAMPLES) -> Estimate:
    """Return the partial Spearman correlation of scores x with a property t, given labels z.

    Above 0 the evaluator favours summaries with more of the property than their labels deserve.

    (r_xt − r_xz r_tz) / √((1 − r_xz²)(1 − r_tz²)), with r Pearson's r of the mid-ranks. M. G. Kendall &
    A. Stuart, The Advanced Theory of Statistics, vol. 2, chapter 27, for the formula on any three variables.

    Parameters
    ----------
    rows : summaries without label, score or article are left out and counted.
    trait : (n,) the property, nan = none; likewise.

    Undefined where labels, scores or the property are all equal, or where labels order summaries exactly as
    scores do or as the property does (0/0).

    Raises ValueError for unequal lengths, or a property that is no finite number.
    """
    of_trait = number_vector("trait", trait)
    refuse_unequal_lengths(labels=rows.labels, trait=of_trait)
    kept, left_out = complete_rows(
        {
            NO_LABEL: np.isnan(rows.labels),
            NO_SCORE: np.isnan(rows.scores),
            NO_TRAIT: np.isnan(of_trait),
            NO_ARTICLE: rows.articles < 0,
        }
    )
    article = rows.articles[kept]
    codes = [
        np.unique(column[kept], return_inverse=True)[1] for column in (rows.labels, rows.scores, of_trait)
    ]
    value, reason = _partial(codes, np.ones(len(article)))
    interval = None
    if not reason:
        replicates = np.array([_partial(codes, times)[0] for times in article_draws(article, resampling)])
        interval = interval_over_articles(
            replicates, article, resampling, "Ranks are recomputed in each resample."
        )
    return Estimate(
        value=value,
        interval=interval,
        n=len(article),
        articles=len(np.unique(article)),
        systems=count_known(rows.systems[kept]),
        definition=(
            "Partial Spearman correlation of score and property given the label: (r_xt − r_xz r_tz) /"
            " √((1 − r_xz²)(1 − r_tz²)), r being Pearson's r of the ranks of scores x, property t and"
            f" labels z; equal values share the mean of their ranks. {NOISY_LABELS}"
        ),
        left_out=left_out,
        reason=reason,
    )


def _partial(codes: list[Ints], times: Floats) -> tuple[float, str]:
    """Return the partial correlation of rows weighted by `times` (n,), and why it is undefined.

    `codes` number the distinct labels, scores and values of the property.
    """
    n = times.sum()
    ranks = []
    for column in codes:
        counts = np.bincount(column, times)
        if (counts > 0).sum() < 2:
            return np.nan, "labels, scores or the property are all equal"
        ranks.append((np.cumsum(counts) - counts / 2)[column])
    deviations = np.array(ranks) - n / 2  # the mean of mid-ranks that start at a half
    sums = (deviations * times) @ deviations.T
    scale = np.sqrt(np.diag(sums))
    r = sums / np.outer(scale, scale)
    xz, tz, xt = r[0, 1], r[0, 2], r[1, 2]
    left = (1 - xz**2) * (1 - tz**2)
    if left < 1e-12:
        return np.nan, "labels order summaries exactly as scores do, or as the property does"
    return float(np.clip((xt - xz * tz) / np.sqrt(left), -1, 1)), ""
