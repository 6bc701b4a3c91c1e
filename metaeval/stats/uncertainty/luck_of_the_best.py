"""How far the best of several would stand out by luck alone, were all of them equally good."""

import numpy as np

from metaeval.stats.arrays import Floats


def luck_of_the_best(replicates: Floats) -> float:
    """What the highest of several values is expected to lie above their common truth, were they all equal.

    Each row is moved to have the mean 0, as if nobody were better than anybody; what is left are the errors
    of the same resamples, alike as far as the evaluators err alike. The mean over resamples of the highest
    one. It is 0 for one row, grows with their number, and shrinks with more labels.

    Parameters
    ----------
    replicates : (evaluators, resamples) values in the same resamples for all; nan where undefined. Resamples
        in which a value is undefined are left out.

    Returns
    -------
    float
        In the unit of the values, 0 or more; nan where no resample is left.

    Source: the bootstrap of the maximum, as in H. White, "A reality check for data snooping", Econometrica
    68, 2000.
    """
    defined = replicates[:, ~np.isnan(replicates).any(axis=0)]
    if not defined.size:
        return float("nan")
    errors = defined - defined.mean(axis=1, keepdims=True)
    return float(errors.max(axis=0).mean())
