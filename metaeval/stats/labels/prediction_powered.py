"""The mean label of many summaries, from few labels and scores of all."""

from dataclasses import replace

import numpy as np

from metaeval.stats.arrays import Floats
from metaeval.stats.labels.label_mean import (
    EVERY_LOOK,
    FEWER_THAN_TWO,
    NO_SPREAD,
    ONE_LOOK,
    MeanEstimate,
    clustered_interval,
    clusters,
    label_mean,
    undefined_mean,
)
from metaeval.stats.result import Interval
from metaeval.stats.rows import Rows
from metaeval.stats.scores.complete_rows import NO_PAIR

WITHOUT_POWER = "The scores do not help here (λ = 0), so this is the mean of the labels alone."
TOO_FEW_TO_TUNE = "fewer than three articles have a summary with a label and a score"


def prediction_powered(
    rows: Rows, *, power: float | None = None, at_every_look: bool = False
) -> MeanEstimate:
    """Return the mean label, estimated from labels and from scores of unlabelled summaries.

    The scores' error on the labelled summaries corrects their mean on the others.

    With n summaries that have a label y and a score f, and N that have a score alone:
    m = power * mean of f over the N + mean of (y - power * f) over the n. The power that gives the least
    variance is cov(y, f) over the n / ((1 + n / N) * var(f) over all), the default.
    It is not clipped to 0 to 1, since scores need not be in the labels' unit: useless scores get a power
    near 0, and scores that fall as labels rise a negative one.

    The variance is that of a sum of one term for each article: the terms of a summary are
    (y - power * f - their mean) / n and power * (f - its mean) / N; those of the labelled summaries are
    multiplied by the root of G / (G - k), with G articles among the n and k = 2 fitted numbers (mean and
    power; 1 if the power was given). The interval is m +- t(G - k, 0.975) * its root. ppi_py, with z instead
    of t and k = 0, gives narrower intervals; with few labels these cover too rarely.

    Parameters
    ----------
    rows : a summary with a label and no score is left out; one whose article is not known makes an article of
        its own.
    power : lambda; with 0 the result is that of the labels alone, with 1 and scores in the labels' unit that
        of the first paper.
    at_every_look : whether the interval holds at every look while articles come in.

    Undefined without any summary with both numbers, and with `power` not given, of fewer than three articles.
    The interval is undefined with labels of fewer than two articles (three if the power is tuned), and where
    all labels are equal. Where nothing but labels is there, or all scores are equal, the power is 0.

    Source: A. N. Angelopoulos et al., "Prediction-powered inference", Science 382, 2023 (arXiv 2301.09633),
    and for the power A. N. Angelopoulos, J. C. Duchi and T. Zrnic, "PPI++: efficient prediction-powered
    inference", 2023 (arXiv 2311.01453), section 6.

    >>> labels, scores = [1.0, 2.0, 3.0, 2.0, None, None], [0.1, 0.2, 0.3, 0.3, 0.1, 0.1]
    >>> estimate = prediction_powered(Rows(labels, scores, articles=range(6), systems=[0] * 6))
    >>> round(estimate.value, 3), estimate.labelled, estimate.scored_only
    (1.784, 4, 2)
    """
    label, score, article = rows.labels, rows.scores, rows.articles
    scored = ~np.isnan(score)
    labelled, scored_only = scored & ~np.isnan(label), scored & np.isnan(label)
    y, f, f_only = label[labelled], score[labelled], score[scored_only]
    if not len(y):
        return undefined_mean(0, len(f_only), _definition(np.nan, at_every_look), NO_PAIR)
    is_tuned = power is None and len(f_only) > 0 and np.ptp(score[scored]) > 0
    n_articles = int(clusters(article[labelled]).max(initial=-1)) + 1
    if is_tuned and n_articles < 3:
        return undefined_mean(len(y), len(f_only), _definition(np.nan, at_every_look), TOO_FEW_TO_TUNE)
    used = _tuned_power(y, f, f_only) if is_tuned else (power or 0.0) if len(f_only) else 0.0
    if used == 0:
        alone = label_mean(np.where(labelled, label, np.nan), article, at_every_look=at_every_look)
        return replace(alone, definition=f"{WITHOUT_POWER} {alone.definition}")

    residual = y - used * f
    value = float(used * f_only.mean() + residual.mean())
    fitted = 2 if is_tuned else 1
    definition = _definition(used, at_every_look)
    reason = FEWER_THAN_TWO if n_articles <= fitted else NO_SPREAD if np.ptp(y) == 0 else ""
    terms = np.zeros(len(label))
    terms[labelled] = (residual - residual.mean()) / len(y)
    terms[labelled] *= np.sqrt(n_articles / max(n_articles - fitted, 1))
    terms[scored_only] = used * (f_only - f_only.mean()) / len(f_only)
    sums = np.bincount(clusters(article), weights=terms).astype(np.float64)
    return MeanEstimate(
        value=value,
        labelled=len(y),
        scored_only=len(f_only),
        interval=Interval(np.nan, np.nan, definition, reason)
        if reason
        else clustered_interval(value, sums, n_articles - fitted, definition, at_every_look=at_every_look),
        definition=definition,
    )


def _tuned_power(y: Floats, f: Floats, f_only: Floats) -> float:
    covariance = float(np.mean((y - y.mean()) * (f - f.mean())))
    return covariance / ((1 + len(f) / len(f_only)) * float(np.concatenate([f, f_only]).var(ddof=1)))


def _definition(power: float, at_every_look: bool) -> str:
    tuned = "" if np.isnan(power) else f" = {power:.3g}"
    return (
        "Prediction-powered estimate (Angelopoulos et al. 2023; PPI++): λ times the mean score of the"
        " summaries that have no label, plus the mean of label − λ · score over those that have both, with"
        f" the λ that gives the least variance{tuned}. Interval: {EVERY_LOOK if at_every_look else ONE_LOOK};"
        " it takes the labelled summaries for a random draw from those of the system."
    )
