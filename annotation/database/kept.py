"""Results that a process keeps because the rows behind them never change."""

from collections.abc import Callable, Hashable
from functools import lru_cache, wraps
from typing import TypeVar

from django.db import connection

T = TypeVar("T")

KEPT_RESULTS = 4096


def kept(function: Callable[..., T]) -> Callable[..., T]:
    """Remember what `function` returned for these arguments, which must be hashable; errors are not kept.

    Nothing is kept from inside a transaction: if it is rolled back, other rows may get the ids that it used.
    """
    remembering = lru_cache(KEPT_RESULTS)(function)

    @wraps(function)
    def call(*args: Hashable) -> T:
        return function(*args) if connection.in_atomic_block else remembering(*args)

    return call
