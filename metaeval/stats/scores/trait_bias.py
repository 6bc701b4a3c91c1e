"""Whether an evaluator favours a property of summaries, such as length, that people do not reward."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import Floats, Ints, code_vector, number_vector, refuse_unequal_lengths
from metaeval.stats.correlation.levels import NO_ARTICLE
from metaeval.stats.correlation.paired import NO_LABEL, NO_SCORE
from metaeval.stats.result import Interval
from metaeval.stats.scores.complete_rows import complete_rows
from metaeval.stats.uncertainty.article_draws import article_draws, interval_over_articles

NO_TRAIT = "summaries without the property"
NOISY_LABELS = (
    "Where labels are noisy, people's true judgement is held only in part, so some of the association may"
    " be deserved."
)


@dataclass(frozen=True)
class TraitBias:
    """How a property of summaries goes with scores at equal labels; nan where there is a `reason`."""

    value: float
    """Partial Spearman correlation, -1 to 1: above 0 the evaluator favours summaries with more of it."""
    interval: Interval | None
    n: int
    articles: int
    definition: str
    left_out: dict[str, int]
    reason: str = ""


def trait_bias(
    labels: npt.ArrayLike,
    scores: npt.ArrayLike,
    trait: npt.ArrayLike,
    articles: npt.ArrayLike,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> TraitBias:
    """The partial Spearman correlation of scores x with a property t, given labels z.

    (r_xt − r_xz r_tz) / √((1 − r_xz²)(1 − r_tz²)), with r Pearson's r of the mid-ranks. M. G. Kendall &
    A. Stuart, The Advanced Theory of Statistics, vol. 2, chapter 27, for the formula on any three variables.

    Parameters
    ----------
    labels, scores, trait : (n,) nan = none. Such summaries are left out and counted.
    articles : (n,) whole-number codes; summaries of a negative one are left out and counted.

    Undefined where labels, scores or the property are all equal, or where labels order summaries exactly as
    scores do or as the property does (0/0).

    Raises
    ------
    ValueError : unequal lengths, infinite numbers, or articles that are not whole numbers.
    """
    label, score = number_vector("labels", labels), number_vector("scores", scores)
    of_trait, article = number_vector("trait", trait), code_vector("articles", articles)
    refuse_unequal_lengths(labels=label, scores=score, trait=of_trait, articles=article)
    kept, left_out = complete_rows(
        {
            NO_LABEL: np.isnan(label),
            NO_SCORE: np.isnan(score),
            NO_TRAIT: np.isnan(of_trait),
            NO_ARTICLE: article < 0,
        }
    )
    article = article[kept]
    codes = [np.unique(column[kept], return_inverse=True)[1] for column in (label, score, of_trait)]
    value, reason = _partial(codes, np.ones(len(article)))
    interval = None
    if not reason:
        replicates = np.array(
            [_partial(codes, times)[0] for times in article_draws(article, resamples=resamples, seed=seed)]
        )
        interval = interval_over_articles(
            replicates, article, what="Ranks are taken anew in each resample.", seed=seed
        )
    return TraitBias(
        value=value,
        interval=interval,
        n=len(article),
        articles=len(np.unique(article)),
        definition=(
            "Partial Spearman correlation of score and property given the label: (r_xt − r_xz r_tz) /"
            " √((1 − r_xz²)(1 − r_tz²)), r being Pearson's r of the ranks of scores x, property t and"
            f" labels z; equal values share the mean of their ranks. {NOISY_LABELS}"
        ),
        left_out=left_out,
        reason=reason,
    )


def _partial(codes: list[Ints], times: Floats) -> tuple[float, str]:
    """Of rows that count `times` (n,); `codes` number the distinct labels, scores and values of the trait."""
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
