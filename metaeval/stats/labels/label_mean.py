"""The mean label of some summaries, such as one system's, with an interval."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from metaeval.stats.arrays import Floats, Ints, code_vector, number_vector, refuse_unequal_lengths
from metaeval.stats.labels.draw_chances import chance_vector
from metaeval.stats.result import Interval, Result
from metaeval.stats.uncertainty.always_valid import always_valid_quantile, degrees_at_every_look
from metaeval.stats.uncertainty.jackknife_interval import JackknifeSpread

NO_LABEL = "no summary has a label"
FEWER_THAN_TWO = "the summaries are of fewer than two articles"
NO_SPREAD = "all values are equal, so their spread is unknown"
EVEN_ARTICLES = "the mean of every article is the same, so their spread is unknown"
ROUNDING = 1e-12
"""Deviations below this share of the largest label are rounding errors."""
ONE_LOOK = "95% t-interval, with the article as the unit that is drawn"
EVERY_LOOK = (
    "95% always-valid interval, which holds however often one looks while articles come in, with the article"
    " as the unit that is drawn; the mixture of Wang & Ramdas (2024) with Satterthwaite's degrees of freedom"
)
AT_RANDOM = "it takes the labelled summaries for a random draw from those of the system"
BY_CHANCES = "each labelled summary counts as often as one over the chance that it was drawn by now"
CUT = "Intervals are cut at the ends of the scale."
"""The definition of `within_ends`."""


@dataclass(frozen=True, kw_only=True)
class MeanEstimate(Result):
    """An estimated mean label."""

    labelled: int
    """Summaries with a label."""
    scored_only: int
    """Summaries with a score alone that are used; 0 for a mean of labels alone."""
    interval: Interval


def undefined_mean(labelled: int, scored_only: int, definition: str, reason: str) -> MeanEstimate:
    """Return a mean without value and interval, for this reason."""
    return MeanEstimate(
        value=np.nan,
        labelled=labelled,
        scored_only=scored_only,
        interval=Interval(np.nan, np.nan, definition, reason),
        definition=definition,
        reason=reason,
    )


def label_mean(
    labels: npt.ArrayLike,
    articles: npt.ArrayLike,
    *,
    chances: npt.ArrayLike | None = None,
    at_every_look: bool = False,
) -> MeanEstimate:
    """Return the mean label with a 95% interval, clustered by article.

    Mean m = sum of w_i y_i, with w_i = 1 / n; variance V = G / (G - 1) * sum over articles of (sum of the
    article's w_i (y_i - m))^2, with G articles; interval m +- t(G - 1, 0.975) * root of V. With one label for
    each article this is the usual interval of a mean. With `chances` p_i, w_i = (1 / p_i) / sum of 1 / p_j.
    The interval `at_every_look` has the quantile of `always_valid_quantile` instead.

    Parameters
    ----------
    labels : (n,) nan for none; those are left out.
    articles : (n,) codes; negative = not known, which makes an article of its own.
    chances : (n,) of `draw_chances`: above 0 and at most 1, or nan for a summary that was not drawn, which is
        left out. None if all have the same.

    Undefined without any label. The interval is undefined with labels of fewer than two articles, and where
    all labels or the means of all articles are equal: an interval without width would claim that no other
    label is possible. At every look it is also undefined until `degrees_at_every_look` finds enough articles.

    Raises ValueError for unequal lengths, infinite labels, codes that are not whole numbers.

    Source: the t-interval; for clusters K.-Y. Liang and S. L. Zeger, "Longitudinal data analysis using
    generalized linear models", Biometrika 73(1), 1986, with the factor G / (G - 1). Of the weights: J. Hajek,
    comment in "Foundations of statistical inference" (eds. Godambe and Sprott), 1971.

    >>> mean = label_mean([1.0, 2.0, 3.0, float("nan")], [0, 1, 2, 3])
    >>> mean.value, round(mean.interval.low, 3), mean.labelled
    (2.0, -0.484, 3)
    """
    label, article = number_vector("labels", labels), code_vector("articles", articles)
    refuse_unequal_lengths(labels=label, articles=article)
    chance = chance_vector(chances, len(label))
    has_label = ~np.isnan(label) & ~np.isnan(chance)
    label, cluster, weight = label[has_label], clusters(article[has_label]), 1 / chance[has_label]
    definition = (
        f"Mean of the labels. Interval: {EVERY_LOOK if at_every_look else ONE_LOOK};"
        f" {AT_RANDOM if chances is None else BY_CHANCES}."
    )
    if not len(label):
        return undefined_mean(0, 0, definition, NO_LABEL)
    value = float(np.average(label, weights=weight))
    n_articles = int(cluster.max()) + 1
    deviations = np.bincount(cluster, weights=weight * (label - value)) / weight.mean()
    sums = deviations / len(label) * np.sqrt(n_articles / max(n_articles - 1, 1))
    reason = FEWER_THAN_TWO if n_articles < 2 else NO_SPREAD if np.ptp(label) == 0 else ""
    if not reason and np.abs(deviations).max() <= ROUNDING * np.abs(label).max():
        reason = EVEN_ARTICLES
    return MeanEstimate(
        value=value,
        labelled=len(label),
        scored_only=0,
        interval=Interval(np.nan, np.nan, definition, reason)
        if reason
        else clustered_interval(value, sums, n_articles - 1, definition, at_every_look=at_every_look),
        definition=definition,
    )


def within_ends(estimate: MeanEstimate, ends: tuple[float, float] | None) -> MeanEstimate:
    """Return the estimate with its interval cut at the `ends` of the scale; None: the scale has no ends.

    The interval contains its estimate even if that is beyond the ends.
    """
    interval = estimate.interval
    if ends is None or interval.reason:
        return estimate
    low = max(interval.low, min(ends[0], estimate.value))
    high = min(interval.high, max(ends[1], estimate.value))
    return replace(estimate, interval=replace(interval, low=low, high=high))


def clusters(articles: Ints) -> Ints:
    """Return codes from 0 without gaps, (n,); each unknown (negative) article gets its own."""
    own = np.where(articles < 0, np.arange(-1, -1 - len(articles), -1), articles)
    return np.unique(own, return_inverse=True)[1].astype(np.int64)


def clustered_interval(
    value: float, sums: Floats, freedom: int, definition: str, *, at_every_look: bool
) -> Interval:
    """Return the 95% interval of an estimate that deviates from the truth by a sum over articles.

    Parameters
    ----------
    sums : (G,) each article's part of the deviation, scaled so that their squares add up to the variance.
    freedom : degrees of freedom of the variance.
    """
    error = float(np.sqrt(np.sum(sums**2)))
    if not at_every_look:
        half = float(stdtrit(freedom, 0.975)) * error
        return Interval(value - half, value + half, definition)
    carried_by = float(np.sum(sums**2) ** 2 / np.sum(sums**4))

    def ends() -> tuple[float, float]:
        degrees = degrees_at_every_look(JackknifeSpread(value, error, freedom, carried_by))
        half = always_valid_quantile(0.05, len(sums), degrees) * error
        return value - half, value + half

    return Interval.found(definition, ends)
