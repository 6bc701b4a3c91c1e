"""Random-effects means against statsmodels, and the laws they obey."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from metaeval.stats.uncertainty.random_effects import random_effects

VACCINE = (
    (4, 119, 11, 128),
    (6, 300, 29, 274),
    (3, 228, 11, 209),
    (62, 13536, 248, 12619),
    (33, 5036, 47, 5761),
    (180, 1361, 372, 1079),
    (8, 2537, 10, 619),
    (505, 87886, 499, 87892),
    (29, 7470, 45, 7232),
    (17, 1699, 65, 1600),
    (186, 50448, 141, 27197),
    (5, 2493, 3, 2338),
    (27, 16886, 29, 17825),
)
"""Cases and others, vaccinated and not, in 13 trials of BCG: G. A. Colditz et al., JAMA 271, 1994."""
LOG_RISKS = [math.log(a / (a + b) / (c / (c + d))) for a, b, c, d in VACCINE]
VARIANCES = [1 / a - 1 / (a + b) + 1 / c - 1 / (c + d) for a, b, c, d in VACCINE]

STATSMODELS = {
    "vaccine": (
        LOG_RISKS,
        VARIANCES,
        (0.318068452205, -0.714968153493, 0.180892191538, 152.233008082373),
    ),
    "alike": (
        [0.31, 0.28, 0.35, 0.30],
        [0.01, 0.02, 0.015, 0.03],
        (0.0, 0.313333333333, 0.063245553203, 0.152222222222),
    ),
    "apart": (
        [-0.4, 0.1, 0.35, 0.8, 1.2],
        [0.002, 0.01, 0.004, 0.02, 0.001],
        (0.379193315702, 0.408211134798, 0.278017068650, 902.621710526316),
    ),
    "two alike": ([0.5, 0.55], [0.02, 0.03], (0.0, 0.52, 0.109544511501, 0.05)),
    "twelve": (
        [411e-3, 441e-3, 66e-3, 157e-3, 299e-3, 22e-2, 21e-2, 573e-3, 244e-3, 236e-3, 636e-3, 449e-3],
        [
            434e-5,
            1002e-5,
            1228e-5,
            1431e-5,
            3968e-5,
            2646e-5,
            1742e-5,
            3921e-5,
            345e-5,
            239e-5,
            1697e-5,
            78e-5,
        ],
        (0.014935633351, 0.324907878011, 0.046533753604, 39.331090504401),
    ),
}
"""Effects, variances, and τ², mean, standard error and Q by statsmodels 0.15.0 (`combine_effects`,
`method_re="iterated"`, iterated until τ² changed by less than 1e-14)."""


@pytest.mark.parametrize("name", STATSMODELS)
def test_mean_and_spread_equal_those_of_statsmodels(name: str) -> None:
    effects, variances, (tau_squared, mean, error, q) = STATSMODELS[name]

    found = random_effects(effects, np.sqrt(variances))

    assert found.tau_squared == pytest.approx(tau_squared, abs=1e-7)
    assert found.mean == pytest.approx(mean, abs=1e-7)
    assert found.error == pytest.approx(error, abs=1e-7)
    assert found.q == pytest.approx(q, abs=1e-7)


def test_share_of_heterogeneity_equals_that_of_metafor() -> None:
    """The documentation of metafor prints 92.22% for the vaccine trials, with the τ² of REML, 0.3132."""
    found = random_effects(LOG_RISKS, np.sqrt(VARIANCES))
    typical = found.tau_squared * (1 - found.i_squared) / found.i_squared

    assert 0.3132 / (0.3132 + typical) == pytest.approx(0.9222, abs=5e-5)
    assert found.heterogeneity_p < 1e-4


def test_intervals_are_students_with_one_degree_less_than_data_sets() -> None:
    found = random_effects(LOG_RISKS, np.sqrt(VARIANCES))
    quantile = t.ppf(0.975, 12)

    assert found.high - found.mean == pytest.approx(quantile * found.error)
    assert found.highest - found.mean == pytest.approx(
        quantile * math.sqrt(found.tau_squared + found.error**2)
    )
    assert found.p_value == pytest.approx(2 * t.sf(abs(found.mean / found.error), 12))


def test_two_data_sets_predict_no_third() -> None:
    found = random_effects([0.1, 0.5], [0.1, 0.1])

    assert math.isnan(found.lowest)
    assert math.isnan(found.highest)


@pytest.mark.parametrize(
    ("effects", "errors", "words"),
    [
        ([0.5], [0.1], "1 data sets: at least two"),
        ([0.5, 0.4], [0.1, 0.0], "above 0"),
        ([0.5, math.nan], [0.1, 0.1], "needs an effect"),
        ([0.5, 0.4], [0.1], "unequal|length"),
    ],
)
def test_data_sets_without_effect_or_error_are_refused(
    effects: list[float], errors: list[float], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        random_effects(effects, errors)


DATA_SETS = st.lists(
    st.tuples(st.floats(-2, 2).map(lambda x: round(x, 4)), st.floats(0.01, 1).map(lambda x: round(x, 4))),
    min_size=2,
    max_size=8,
)


@given(DATA_SETS)
def test_tau_squared_explains_the_spread(data_sets: list[tuple[float, float]]) -> None:
    effects, errors = map(np.array, zip(*data_sets, strict=True))

    found = random_effects(effects, errors)

    weights = 1 / (errors**2 + found.tau_squared)
    spread = float(weights @ (effects - found.mean) ** 2)
    expected = len(data_sets) - 1
    if found.tau_squared:
        assert spread == pytest.approx(expected, rel=1e-6)
    else:
        assert found.q <= expected + 1e-9
        assert found.error == pytest.approx(1 / math.sqrt((1 / errors**2).sum()))
    assert effects.min() - 1e-9 <= found.mean <= effects.max() + 1e-9
    assert 0 <= found.i_squared < 1


@given(DATA_SETS, st.floats(-3, 3), st.floats(0.1, 5), st.permutations(range(8)))
def test_result_moves_with_the_scale_and_not_with_the_order(
    data_sets: list[tuple[float, float]], shift: float, factor: float, places: list[int]
) -> None:
    effects, errors = map(np.array, zip(*data_sets, strict=True))
    order = [place for place in places if place < len(data_sets)]

    found = random_effects(effects, errors)
    moved = random_effects((effects * factor + shift)[order], (errors * factor)[order])

    assert moved.mean == pytest.approx(found.mean * factor + shift, abs=1e-6)
    assert moved.high - moved.low == pytest.approx((found.high - found.low) * factor, rel=1e-5)
    assert moved.tau_squared == pytest.approx(found.tau_squared * factor**2, rel=1e-5, abs=1e-8)
    assert moved.i_squared == pytest.approx(found.i_squared, abs=1e-5)
