"""The mean of several raters' numbers, used for all labels."""

import numpy as np
import numpy.typing as npt


def mean_labels(
    summaries: npt.NDArray[np.int64], numbers: npt.NDArray[np.float64], n_summaries: int
) -> npt.NDArray[np.float64]:
    """Return the mean number of each summary, shape (n_summaries,); nan without numbers.

    `summaries` and `numbers` have shape (n_answers,); summaries are codes below `n_summaries`. Numbers must
    ascend, so that the order of rows cannot change a sum.
    """
    times = np.bincount(summaries, minlength=n_summaries)
    sums = np.bincount(summaries, weights=numbers, minlength=n_summaries)
    means = np.full(n_summaries, np.nan)
    np.divide(sums, times, out=means, where=times > 0)
    return means
