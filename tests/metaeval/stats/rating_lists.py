"""Random lists of (unit, rater, answer) in which no rater rates a unit twice."""

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
    """Return units, raters and answers as three vectors."""
    return tuple(np.array(ratings, dtype=np.int64).reshape(-1, 3).T)


def counts_of(units, answers, *, n_units, n_answers):
    """Return how often each unit got each answer, (units, answers)."""
    codes = np.asarray(units, dtype=np.int64) * n_answers + np.asarray(answers, dtype=np.int64)
    return np.bincount(codes, minlength=n_units * n_answers).reshape(n_units, n_answers)


def units_of(ratings):
    """Return {rater: answer} for each unit with two ratings or more."""
    units = {}
    for unit, rater, answer in ratings:
        units.setdefault(unit, {})[rater] = answer
    return [unit for unit in units.values() if len(unit) > 1]
