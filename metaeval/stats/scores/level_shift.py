"""The shift of scores on the labels' own scale: too high or too low."""

from dataclasses import dataclass

import numpy as np

from metaeval.stats.correlation.levels import NO_ARTICLE
from metaeval.stats.correlation.paired import NO_LABEL, NO_SCORE
from metaeval.stats.result import Interval
from metaeval.stats.rows import THOUSAND_RESAMPLES, Resampling, Rows
from metaeval.stats.scores.calibration_bins import calibration_bins
from metaeval.stats.scores.complete_rows import NO_PAIR, complete_rows
from metaeval.stats.uncertainty.article_draws import article_draws, interval_over_articles

BINS = 10


@dataclass(frozen=True)
class LevelShift:
    """The distance of scores from labels. With a `reason`, nothing is defined."""

    bias: float
    """Mean of score - label, -1 to 1: above 0 the evaluator is more lenient."""
    bias_interval: Interval | None
    error: float
    """Mean of |score - label|, 0 to 1."""
    calibration_error: float
    """Expected calibration error, 0 to 1."""
    n: int
    definition: str
    left_out: dict[str, int]
    reason: str = ""


def level_shift(rows: Rows, resampling: Resampling = THOUSAND_RESAMPLES) -> LevelShift:
    """Return bias, error and calibration error of scores, both from 0 to 1 with 1 the best.

    The expected calibration error is sum_b (n_b / n) |mean score_b − mean label_b| over the bins b of
    `calibration_bins`, here with bins of about equal counts: C. Guo et al., "On calibration of modern neural
    networks", ICML 2017, section 2, has it for bins of equal width.

    Summaries without label, score or article are left out and counted.

    Undefined without any summary that has both. Raises ValueError for a label or score outside 0 to 1.
    """
    for name, values in (("labels", rows.labels), ("scores", rows.scores)):
        outside = (values < 0) | (values > 1)
        if outside.any():
            at = int(outside.argmax())
            raise ValueError(f"{name}[{at}] is {values[at]}: it must lie between 0 and 1")
    kept, left_out = complete_rows(
        {NO_LABEL: np.isnan(rows.labels), NO_SCORE: np.isnan(rows.scores), NO_ARTICLE: rows.articles < 0}
    )
    label, score, article = rows.labels[kept], rows.scores[kept], rows.articles[kept]
    bias = error = calibration_error = np.nan
    interval, reason = None, NO_PAIR
    if len(label):
        apart = score - label
        bias, error, reason = float(apart.mean()), float(np.abs(apart).mean()), ""
        bins = calibration_bins(label, score, BINS)
        calibration_error = sum(each.n * abs(each.score - each.label) for each in bins) / len(label)
        draws = article_draws(article, resampling)
        replicates = np.array([(times @ apart) / times.sum() for times in draws])
        interval = interval_over_articles(replicates, article, resampling)
    return LevelShift(
        bias=bias,
        bias_interval=interval,
        error=error,
        calibration_error=calibration_error,
        n=len(label),
        definition=(
            "Labels and scores from 0 to 1, 1 the best. Bias: the mean of score − label. Error: the mean of"
            " |score − label|. Calibration error: Σ (n_b / n) |mean score_b − mean label_b| over at most"
            f" {BINS} bins of neighbouring scores, about as many summaries in each, equal scores never"
            " parted."
        ),
        left_out=left_out,
        reason=reason,
    )
