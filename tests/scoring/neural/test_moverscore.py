"""The earth mover's distance compared with linear programming."""

import numpy as np
import pytest
from scipy.optimize import linprog

from scoring.neural.moverscore import transport_cost


def by_linear_programming(cost, supply, demand):
    """Move all mass of the lighter side; the heavier side gives at most what it has."""
    if supply.sum() > demand.sum():
        cost, supply, demand = cost.T, demand, supply
    rows, columns = cost.shape
    leaves = np.kron(np.eye(rows), np.ones((1, columns)))
    arrives = np.kron(np.ones((1, rows)), np.eye(columns))
    return linprog(cost.ravel(), A_eq=leaves, b_eq=supply, A_ub=arrives, b_ub=demand).fun


@pytest.mark.parametrize("ratio", [1.0, 1 + 1e-6, 1 - 1e-4, 0.5, 3.0])
def test_cost_is_the_optimum_of_the_linear_programme(ratio):
    generator = np.random.default_rng(1)
    cost = generator.random((7, 9))
    supply, demand = generator.random(7), generator.random(9)
    supply[2] = demand[4] = demand[5] = 0
    supply *= ratio * demand.sum() / supply.sum()
    assert transport_cost(cost, supply, demand) == pytest.approx(
        by_linear_programming(cost, supply, demand), abs=1e-9
    )


def test_points_without_mass_have_no_effect():
    cost = np.array([[1.0, np.inf], [2.0, np.nan]])
    assert transport_cost(cost, np.array([0.5, 0.5]), np.array([1.0, 0.0])) == pytest.approx(1.5)


def test_equal_distributions_cost_nothing():
    masses = np.array([0.2, 0.8])
    assert transport_cost(1 - np.eye(2), masses, masses) == 0


def test_side_without_mass_is_refused():
    cost = np.ones((2, 2))
    with pytest.raises(ValueError, match="no mass"):
        transport_cost(cost, np.zeros(2), np.ones(2))
    with pytest.raises(ValueError, match="no mass"):
        transport_cost(np.ones((0, 2)), np.ones(0), np.ones(2))


def test_infinite_cost_is_refused():
    with pytest.raises(ValueError, match="not finite"):
        transport_cost(np.array([[np.nan]]), np.ones(1), np.ones(1))
