"""The treatment of NaN from a model: one input has no result, and the others keep theirs."""

from collections.abc import Callable, Sequence
from typing import TypeVar

Input = TypeVar("Input")
Result = TypeVar("Result")


class NotFinite(ArithmeticError):
    """A model gave no finite number where a choice depends on it."""


def isolate_not_finite(
    inputs: Sequence[Input], compute: Callable[[Sequence[Input]], list[Result]], without: Result
) -> list[Result]:
    """Return the results of `compute`, one for each input; `without` for each that raises NotFinite.

    `compute` is given all inputs, and each by itself if that raises NotFinite.
    """
    try:
        return compute(inputs)
    except NotFinite:
        if len(inputs) == 1:
            return [without]
    return [isolate_not_finite([each], compute, without)[0] for each in inputs]
