"""Parametrised cases of which some are left to the thorough run."""

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def with_further(each_run: Collection[Any], every: Iterable[Any]) -> list[Any]:
    """Return every case; those that are not among `each_run` have the mark thorough. Tuples are spread."""
    cases = list(every)
    assert all(case in cases for case in each_run)
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)),
            marks=[] if case in each_run else [pytest.mark.thorough],
        )
        for case in cases
    ]
