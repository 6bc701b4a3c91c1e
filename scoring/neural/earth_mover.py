"""Earth mover's distance: the least work that moves one distribution of mass onto another."""

import os

import numpy as np
from numpy.typing import NDArray

for _library in ("JAX", "CUPY", "TENSORFLOW"):
    # POT imports every array library it finds installed, which takes seconds; only numpy's arrays are used.
    os.environ.setdefault(f"POT_BACKEND_DISABLE_{_library}", "1")

from ot.lp.emd_wrap import emd_c  # noqa: E402 - after the settings that it reads

Floats = NDArray[np.float64]

_OPTIMAL = 1
_ITERATIONS = 10**9
_ROUNDING = 1e-12


def transport_cost(cost: Floats, supply: Floats, demand: Floats) -> float:
    """Return the least sum of mass times cost that moves all mass of the lighter side.

    `cost` is [sources, sinks]; `supply` and `demand` are the masses of each, none negative. Exact, by the
    network simplex. Raises ValueError if a side has no mass or a cost is not finite.
    """
    sources, sinks = supply > 0, demand > 0
    if not sources.any() or not sinks.any():
        raise ValueError("one side has no mass: there is nothing to move")
    supply, demand, cost = supply[sources], demand[sinks], cost[np.ix_(sources, sinks)]
    if not np.isfinite(cost).all():
        raise ValueError("some costs are not finite")
    surplus = supply.sum() - demand.sum()
    if abs(surplus) <= _ROUNDING * supply.sum():
        demand = demand * (supply.sum() / demand.sum())
    elif surplus > 0:
        demand = np.append(demand, surplus)
        cost = np.hstack([cost, np.zeros((len(supply), 1))])
    else:
        supply = np.append(supply, -surplus)
        cost = np.vstack([cost, np.zeros((1, len(demand)))])
    _, total, _, _, outcome = emd_c(supply, demand, np.ascontiguousarray(cost), _ITERATIONS, 1, None, None)
    if outcome != _OPTIMAL:
        raise ArithmeticError(f"the network simplex ended without an optimum (code {outcome})")
    return float(total)
