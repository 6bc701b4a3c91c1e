"""The number that each answer of a scale stands for, checked."""

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import Floats, number_vector


def answer_numbers(scale: str, numbers: npt.ArrayLike | None, n_answers: int) -> Floats:
    """Return the ascending number of each answer, (n_answers,); by default 0, 1, 2 ...

    Raises ValueError where the interval scale has none, and unless they are one for each answer and ascend.
    """
    if numbers is None:
        if scale == "interval":
            raise ValueError("the interval scale needs the number that each answer stands for")
        return np.arange(n_answers, dtype=np.float64)
    checked = number_vector("numbers", numbers)
    if len(checked) != n_answers:
        raise ValueError(
            f"numbers must hold one number for each of the {n_answers} answers, not {len(checked)}"
        )
    if not (np.diff(checked) > 0).all() or np.isnan(checked).any():
        raise ValueError(f"numbers must ascend with the answers, not {checked.tolist()}")
    return checked


def unit_range(numbers: Floats) -> Floats:
    """Return the numbers rescaled to 0 to 1, so that their squares stay finite.

    A single number becomes 0.
    """
    spread = numbers[-1:] - numbers[:1]
    return (numbers - numbers[:1]) / np.where(spread > 0, spread, 1.0)
