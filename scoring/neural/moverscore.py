"""Texts as heaps of weighted n-gram vectors, and the least work that moves one onto another."""

import os
import string
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from ot.lp.emd_wrap import emd_c

from scoring.neural.encoder import Encoder
from scoring.neural.rarity import weights_by_rarity

for _library in ("JAX", "CUPY", "TENSORFLOW"):
    # POT imports every array library it finds installed, which takes seconds; only numpy's arrays are used.
    os.environ.setdefault(f"POT_BACKEND_DISABLE_{_library}", "1")

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


STEPS_OF_MASS = 1_000_000


@dataclass(frozen=True)
class MoverForm:
    """One of the two published forms: layers, small constants, distance."""

    layers: int
    """Last blocks of the encoder; of several, the least, mean and greatest values are joined."""
    gram_epsilon: float
    norm_epsilon: float
    mass_epsilon: float
    squared: bool


FORMS = {
    "v1": MoverForm(layers=5, gram_epsilon=1e-5, norm_epsilon=1e-6, mass_epsilon=1e-5, squared=True),
    "v2": MoverForm(layers=1, gram_epsilon=1e-30, norm_epsilon=1e-30, mass_epsilon=1e-30, squared=False),
}


@dataclass(frozen=True)
class Heap:
    """A text's n-grams: vectors [n-grams, dimensions] of length about 1, weights [n-grams] >= 0."""

    vectors: NDArray[np.float32]
    weights: Floats
    share_read: float

    @property
    def is_weightless(self) -> bool:
        return not (self.weights > 0).any()

    @property
    def points(self) -> Floats:
        return self.vectors.astype(np.float64)

    @cached_property
    def width(self) -> float:
        """The greatest squared distance between two of the n-grams."""
        return float(_squared_distances(self.points, self.points).max())


class Heaps:
    """Makes heaps of texts with one encoder.

    `weights` has, for each side of the comparison, the weights of all ids of the vocabulary.
    """

    def __init__(
        self,
        folder: Path,
        precision: str,
        form: MoverForm,
        n_gram: int,
        stop_words: frozenset[str],
        keep_subwords: bool,
    ) -> None:
        self._encoder = Encoder(folder, precision)
        self._form = form
        self._n_gram = n_gram
        pieces = self._encoder.tokens.vocabulary
        left_out = stop_words | set(string.punctuation)
        self._kept = np.array(
            [piece not in left_out and (keep_subwords or "##" not in piece) for piece in pieces]
        )
        self.weights = dict.fromkeys(("summary", "other"), np.ones(len(pieces)))

    def count(self, side: str, texts: Iterable[str]) -> None:
        """Weigh a piece ln((N + 1) / (n + 1)) on that side if n of the N `texts` have it."""

        def ids_of(some: list[str]) -> Iterable[Sequence[int]]:
            return (read.ids for read in self._encoder.tokens.whole(some, self._encoder.limit))

        self.weights[side] = weights_by_rarity(texts, ids_of, len(self._kept))

    def of(self, texts: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Heap | None]:
        """Return the heap of each pair of side and text; None if the text ran out of memory."""
        distinct = list(dict.fromkeys(texts))
        read = self._encoder.tokens.whole([text for _, text in distinct], self._encoder.limit)
        last = self._encoder.layers
        layers = range(max(1, last + 1 - self._form.layers), last + 1)
        combine = _power_means if self._form.layers > 1 else None
        states = self._encoder.states([each.ids for each in read], layers, combine)
        return {
            (side, text): None
            if vectors is None
            else self._heap(vectors[0].float().cpu().numpy(), tokens.ids, side, tokens.share_read)
            for (side, text), tokens, vectors in zip(distinct, read, states, strict=True)
        }

    def _heap(self, vectors: NDArray[np.float32], ids: Sequence[int], side: str, share_read: float) -> Heap:
        places = np.array(ids)
        kept = np.flatnonzero(self._kept[places])
        if not len(kept):
            return Heap(vectors[:0], np.zeros(0), share_read)
        windows = np.lib.stride_tricks.sliding_window_view(kept, min(self._n_gram, len(kept)))
        weights = self.weights[side][places][windows]
        totals = weights.sum(axis=1)
        shares = (weights / (totals + self._form.gram_epsilon)[:, None]).astype(np.float32)
        grams = np.einsum("gn,gnd->gd", shares, vectors[windows])
        grams /= np.linalg.norm(grams, axis=1, keepdims=True) + np.float32(self._form.norm_epsilon)
        return Heap(grams, totals, share_read)


def likeness(one: Heap, other: Heap, form: MoverForm, rounded: bool = False) -> float:
    """Return the score of two heaps with weight, at most 1; nan if vectors are not finite.

    Masses are weights over their sum. With the first form's constant they fall short of 1 by slightly
    different amounts; the difference costs as much as the greatest distance. `rounded` takes masses in whole
    millionths, as the authors' solver does before version 1.1 of pyemd.
    """
    distances = _squared_distances(one.points, other.points)
    if not np.isfinite(distances).all():
        return float("nan")
    supply, demand = (each.weights / (each.weights.sum() + form.mass_epsilon) for each in (one, other))
    left_over = abs(supply.sum() - demand.sum())
    if rounded:
        steps = STEPS_OF_MASS / max(supply.sum(), demand.sum())
        supply, demand = (np.floor(masses * steps + 0.5) / steps for masses in (supply, demand))
    if not form.squared:
        return 1 / (1 + transport_cost(np.sqrt(distances), supply, demand))
    farthest = max(distances.max(), one.width, other.width)
    return float(1 - transport_cost(distances, supply, demand) - left_over * farthest)


def _power_means(states: torch.Tensor) -> torch.Tensor:
    """Return [sequences, 1, tokens, 3 x dimensions] from [sequences, layers, tokens, dimensions]."""
    unit = states.float()
    unit = unit / unit.norm(dim=-1, keepdim=True)
    return torch.cat([unit.amin(dim=1), unit.mean(dim=1), unit.amax(dim=1)], dim=-1).unsqueeze(1)


def _squared_distances(one: Floats, other: Floats) -> Floats:
    """Return squared distances in double precision; in single, equal vectors would leave noise."""
    products = (one**2).sum(axis=1)[:, None] + (other**2).sum(axis=1) - 2 * one @ other.T
    return np.maximum(products, 0)
