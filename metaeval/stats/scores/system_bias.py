"""An evaluator's bias towards systems whose summaries people rate no better."""

from dataclasses import dataclass

import numpy as np

from metaeval.stats.arrays import Floats, Ints
from metaeval.stats.correlation.levels import NO_ARTICLE, NO_SYSTEM
from metaeval.stats.correlation.paired import NO_LABEL, NO_SCORE
from metaeval.stats.result import Interval
from metaeval.stats.rows import THOUSAND_RESAMPLES, Resampling, Rows
from metaeval.stats.scores.calibration_bins import bins_of
from metaeval.stats.scores.complete_rows import complete_rows
from metaeval.stats.scores.trait_bias import NOISY_LABELS
from metaeval.stats.uncertainty.article_draws import FEWEST_ARTICLES, TOO_FEW_ARTICLES, article_draws
from metaeval.stats.uncertainty.percentile_interval import CONFIDENCE, MOST_UNDEFINED, NO_SPREAD, ROUNDING

MOST_BINS = 10
TOO_FEW_OF_A_SYSTEM = "too few of its summaries to resample"


@dataclass(frozen=True)
class SystemBias:
    """An evaluator's preference of one system over others that people rated alike."""

    system: int
    """Its code."""
    value: float
    """Mean residual, in standard deviations of the scores: above 0 the evaluator favours the system."""
    interval: Interval
    n: int

    @property
    def is_marked(self) -> bool:
        """Return whether the simultaneous interval leaves out 0."""
        return self.interval.low > 0 or self.interval.high < 0


@dataclass(frozen=True)
class SystemBiases:
    systems: tuple[SystemBias, ...]
    """One for each system, in order of their codes; none if there is a `reason`."""
    n: int
    definition: str
    left_out: dict[str, int]
    reason: str = ""


def system_bias(rows: Rows, resampling: Resampling = THOUSAND_RESAMPLES) -> SystemBiases:
    """Return each system's mean residual.

    The residual is the score minus the mean score of all summaries with about the same label.

    Summaries fall into at most 10 bins of neighbouring labels; equal labels share a bin. Residuals are
    divided by the standard deviation of all scores.

    The 95% intervals hold for all systems together: value ± c · s, with s the standard deviation of the
    system's value over resamples of articles and c the 95% quantile, over resamples, of the greatest
    |resampled value − value| / s among systems (the single-step maximum of P. H. Westfall & S. S. Young,
    Resampling-Based Multiple Testing, 1993). So in 95 of 100 such tables no system is marked by
    chance, however many systems there are.

    Summaries without label, score, article or system are left out and counted.

    Undefined with fewer than two systems, and where all scores are equal. An interval has a reason in place
    of ends with fewer than ten articles, where more than 5% of the resamples leave the system
    without a summary, and where all of them give the same value.
    """
    kept, left_out = complete_rows(
        {
            NO_LABEL: np.isnan(rows.labels),
            NO_SCORE: np.isnan(rows.scores),
            NO_ARTICLE: rows.articles < 0,
            NO_SYSTEM: rows.systems < 0,
        }
    )
    label, score, article = rows.labels[kept], rows.scores[kept], rows.articles[kept]
    pool, of_system = np.unique(rows.systems[kept], return_inverse=True)
    definition = (
        "Mean over a system's summaries of score − mean score of all summaries in the same bin of"
        f" neighbouring labels (at most {MOST_BINS} bins, equal labels never parted), in standard deviations"
        f" of all scores. {NOISY_LABELS}"
    )
    biases: tuple[SystemBias, ...] = ()
    reason = ""
    if len(pool) < 2:
        reason = "fewer than two systems"
    elif score.min() == score.max():
        reason = "all scores equal"
    else:
        # Centred, so that scores far from 0 lose no digits when means are taken from them.
        residuals = _Residuals((score - score.mean()) / score.std(), bins_of(label, MOST_BINS), of_system)
        values = residuals.means(np.ones(len(score)))
        ends = _simultaneous(residuals, values, article, resampling)
        biases = tuple(
            SystemBias(int(code), float(value), interval, int(n))
            for code, value, interval, n in zip(pool, values, ends, np.bincount(of_system), strict=True)
        )
    return SystemBiases(biases, len(score), definition, left_out, reason)


class _Residuals:
    """Mean residuals of systems under any weights of summaries."""

    def __init__(self, scores: Floats, bins: Ints, systems: Ints) -> None:
        self._scores = scores
        self._shape = (int(systems.max()) + 1, int(bins.max()) + 1)
        self._cells = systems * self._shape[1] + bins

    def means(self, weights: Floats) -> Floats:
        """Return each system's mean residual, (systems,); nan for a system without weight."""
        size = self._shape[0] * self._shape[1]
        n = np.bincount(self._cells, weights, size).reshape(self._shape)
        total = np.bincount(self._cells, weights * self._scores, size).reshape(self._shape)
        of_bin = n.sum(axis=0)
        expected = np.divide(total.sum(axis=0), of_bin, out=np.zeros(self._shape[1]), where=of_bin > 0)
        means = np.full(self._shape[0], np.nan)
        of_system = n.sum(axis=1)
        np.divide((total - n * expected).sum(axis=1), of_system, out=means, where=of_system > 0)
        return means


def _simultaneous(
    residuals: _Residuals, values: Floats, articles: Ints, resampling: Resampling
) -> list[Interval]:
    replicates = np.array([residuals.means(times) for times in article_draws(articles, resampling)])
    definition = (
        f"{CONFIDENCE:.0%} for all systems together: value ± c · s, s being the standard deviation over"
        f" resamples of articles with all their summaries ({resampling}) and c the"
        f" {CONFIDENCE:.0%} quantile of the greatest |resampled value − value| / s among systems."
    )
    if len(np.unique(articles)) < FEWEST_ARTICLES:
        return [Interval(np.nan, np.nan, definition, TOO_FEW_ARTICLES)] * len(values)
    is_drawn = np.isnan(replicates).mean(axis=0) <= MOST_UNDEFINED
    spread = np.zeros(len(values))
    spread[is_drawn] = np.nanstd(replicates[:, is_drawn], axis=0)
    varies = spread > ROUNDING
    apart = np.abs(replicates - values)[:, varies] / spread[varies]
    furthest = np.where(np.isnan(apart), 0, apart).max(axis=1, initial=0)
    reach = float(np.quantile(furthest, CONFIDENCE)) * spread
    return [
        Interval(float(value - far), float(value + far), definition)
        if far
        else Interval(np.nan, np.nan, definition, NO_SPREAD if drawn else TOO_FEW_OF_A_SYSTEM)
        for value, far, drawn in zip(values, np.where(varies, reach, 0), is_drawn, strict=True)
    ]
