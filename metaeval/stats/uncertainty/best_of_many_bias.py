"""The lead that the best of several evaluators would have by chance alone."""

import numpy as np

from metaeval.stats.arrays import Floats


def best_of_many_bias(replicates: Floats) -> float:
    """Return by how much the highest of several values would exceed their common truth by chance.

    Each row is centred at 0, as if all evaluators were equal. What remains are the errors of the same
    resamples, which correlate as far as the evaluators err alike. The result is the mean over resamples of
    the highest row. It is 0 for one row, grows with their number, and shrinks with more labels.

    Parameters ---------- replicates : (evaluators, resamples) values in the same resamples; nan where
    undefined. Resamples in which a value is undefined are left out.

    Returns a value of 0 or more in the unit of the values; nan where no resample is left.

    Source: the bootstrap of the maximum, as in H. White, "A reality check for data snooping", Econometrica
    68, 2000.
    """
    defined = replicates[:, ~np.isnan(replicates).any(axis=0)]
    if not defined.size:
        return float("nan")
    errors = defined - defined.mean(axis=1, keepdims=True)
    return float(errors.max(axis=0).mean())
