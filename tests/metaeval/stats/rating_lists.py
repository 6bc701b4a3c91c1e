"""Ratings for the laws of agreement: lists of (unit, rater, answer), no rater twice on a unit."""

import numpy as np
from hypothesis import strategies as st

N_ANSWERS = 3

rated = st.lists(
    st.tuples(st.integers(0, 7), st.integers(0, 4), st.integers(0, N_ANSWERS - 1)),
    min_size=1,
    max_size=30,
    unique_by=lambda rating: rating[:2],
)


def columns(ratings):
    """Units, raters and answers as three vectors."""
    return tuple(np.array(ratings, dtype=np.int64).reshape(-1, 3).T)


def units_of(ratings):
    """Of units with two ratings or more: {rater: answer}."""
    units = {}
    for unit, rater, answer in ratings:
        units.setdefault(unit, {})[rater] = answer
    return [unit for unit in units.values() if len(unit) > 1]
