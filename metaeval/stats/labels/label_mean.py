"""The mean label of some summaries, such as those of one system, with an interval from the labels alone."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from metaeval.stats.arrays import Ints, code_vector, number_vector, refuse_unequal_lengths
from metaeval.stats.result import Interval

NO_LABEL = "no summary has a label"
FEWER_THAN_TWO = "the summaries are of fewer than two articles"
NO_SPREAD = "all values are equal, so they say nothing about how much others would vary"


@dataclass(frozen=True)
class MeanEstimate:
    """An estimated mean label. Raises ValueError if `value` is nan without a reason, or has one without."""

    value: float
    """nan if undefined."""
    labelled: int
    """Summaries with a label that it stands on."""
    scored_only: int
    """Summaries without a label, of which it takes the score; 0 for a mean of labels alone."""
    interval: Interval
    definition: str
    """How it was estimated and what is assumed: full sentences."""
    reason: str = ""
    """Why the value is undefined; empty if it is defined."""

    def __post_init__(self) -> None:
        if np.isnan(self.value) != bool(self.reason):
            raise ValueError("an undefined value needs a reason, and a defined one has none")


def label_mean(labels: npt.ArrayLike, articles: npt.ArrayLike) -> MeanEstimate:
    """The mean of the labels there are, with a 95% t-interval; several labels may be of one article.

    Mean m = sum of y_i / n; variance V = G / (G - 1) * sum over articles of (sum of the article's y_i - m)^2
    / n^2, with G articles; interval m +- t(G - 1, 0.975) * root of V. With one label for each article this is
    the usual interval of a mean.

    Parameters
    ----------
    labels : (n,) nan for none; those are left out.
    articles : (n,) codes; negative = not known, which makes an article of its own.

    Returns
    -------
    Undefined without any label. The interval is undefined with labels of fewer than two articles, and where
    all labels are equal: an interval without width would claim that no other label is possible.

    Raises
    ------
    ValueError : unequal lengths, infinite labels, codes that are not whole numbers.

    Source: the t-interval; for clusters K.-Y. Liang and S. L. Zeger, "Longitudinal data analysis using
    generalized linear models", Biometrika 73(1), 1986, with the factor G / (G - 1).

    >>> mean = label_mean([1.0, 2.0, 3.0, float("nan")], [0, 1, 2, 3])
    >>> mean.value, round(mean.interval.low, 3), mean.labelled
    (2.0, -0.484, 3)
    """
    label, article = number_vector("labels", labels), code_vector("articles", articles)
    refuse_unequal_lengths(labels=label, articles=article)
    has_label = ~np.isnan(label)
    label, cluster = label[has_label], clusters(article[has_label])
    definition = (
        "Mean of the labels. Interval: 95% t-interval, with the article as the unit that is drawn; it takes"
        " the labelled summaries for a random draw from those of the system."
    )
    if not len(label):
        return MeanEstimate(
            np.nan, 0, 0, Interval(np.nan, np.nan, definition, NO_LABEL), definition, NO_LABEL
        )
    value = float(label.mean())
    n_articles = int(cluster.max()) + 1
    reason = FEWER_THAN_TWO if n_articles < 2 else NO_SPREAD if np.ptp(label) == 0 else ""
    variance = np.sum(np.bincount(cluster, weights=label - value) ** 2) / len(label) ** 2
    return MeanEstimate(
        value=value,
        labelled=len(label),
        scored_only=0,
        interval=Interval(np.nan, np.nan, definition, reason)
        if reason
        else t_interval(value, variance * n_articles / (n_articles - 1), n_articles - 1, definition),
        definition=definition,
    )


def clusters(articles: Ints) -> Ints:
    """(n,) codes from 0 without gaps; each article that is not known (negative) gets one of its own."""
    own = np.where(articles < 0, np.arange(-1, -1 - len(articles), -1), articles)
    return np.unique(own, return_inverse=True)[1].astype(np.int64)


def t_interval(value: float, variance: float, freedom: int, definition: str) -> Interval:
    """The 95% interval of an estimate with this variance and these degrees of freedom."""
    half = float(stats.t.ppf(0.975, freedom) * np.sqrt(variance))
    return Interval(value - half, value + half, definition)
