"""The spread of repetitions of one evaluator, such as a judge with other examples."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

DEFINITION = (
    "Mean, standard deviation (n − 1) and range over repetitions that differ by chance alone, such as their"
    " seeds. It says how much one repetition may differ from another on the same articles; the interval of"
    " each says how much it may differ on other articles."
)


@dataclass(frozen=True)
class Spread:
    """Spread over two repetitions or more. All nan, with a reason, if there are fewer."""

    mean: float
    sd: float
    low: float
    high: float
    repetitions: int
    reason: str = ""


def spread(values: Sequence[float]) -> Spread:
    """Return mean, standard deviation (n - 1) and range over repetitions.

    `values` are coefficients, one per repetition; nan (undefined) does not count.

    >>> spread([0.2, 0.3, 0.4])
    Spread(mean=0.3, sd=0.1, low=0.2, high=0.4, repetitions=3, reason='')
    """
    defined = np.array([value for value in values if not math.isnan(value)])
    if len(defined) < 2:
        reason = f"{len(defined)} of the repetitions {'has' if len(defined) == 1 else 'have'} a value"
        return Spread(math.nan, math.nan, math.nan, math.nan, len(defined), reason)
    mean, sd = float(defined.mean()), float(defined.std(ddof=1))
    return Spread(mean, sd, float(defined.min()), float(defined.max()), len(defined))
