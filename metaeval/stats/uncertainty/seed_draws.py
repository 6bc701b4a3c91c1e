"""The mean of repetitions, such as models with other seeds, in resamples of articles and repetitions."""

import numpy as np

from metaeval.stats.arrays import Floats
from metaeval.stats.rows import Resampling

STREAM = 2  # after those of articles and systems


def seed_stream(resampling: Resampling) -> np.random.Generator:
    """Return the stream from which repetitions are drawn, independent of those of articles and systems."""
    return np.random.default_rng(resampling.seed).spawn(STREAM + 1)[STREAM]


def drawn_means(replicates: Floats, stream: np.random.Generator) -> Floats:
    """Return the mean of the repetitions drawn in each resample, (resamples,); nan where one is undefined.

    In resample b, m* = (1 / J) · Σ_j C_b(k_j), with C_b(k) the coefficient of repetition k on the articles of
    that resample, and k_1 ... k_J drawn with replacement from the K repetitions. All repetitions share the
    articles of a resample, so what the articles do to all of them stays in the interval. J is K − 1, since
    the variance of K drawn out of K is too small by the factor (K − 1) / K: a third for three seeds. A single
    repetition is taken as it is.

    Parameters
    ----------
    replicates : (repetitions, resamples) of one or more repetitions; nan where undefined.
    stream : of `seed_stream`.

    Source: J. N. K. Rao & C. F. J. Wu, "Resampling Inference with Complex Survey Data", Journal of the
    American Statistical Association 83, 1988, for K − 1 of K; A. C. Davison & D. V. Hinkley, "Bootstrap
    Methods and their Application", 1997, section 3.8, for two levels.

    >>> drawn_means(np.array([[0.25, 0.5]]), seed_stream(Resampling()))
    array([0.25, 0.5 ])
    """
    repetitions, resamples = replicates.shape
    drawn = stream.integers(repetitions, size=(max(1, repetitions - 1), resamples))
    means: Floats = np.take_along_axis(replicates, drawn, axis=0).mean(axis=0)
    return means
