"""The summaries in one region of the plot of labels and scores, such as those that one dot stands for."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotation.errors import DomainError
from metaeval.choices import Control
from metaeval.refuse_unknown import refuse_unknown
from metaeval.snapshot import Snapshot
from metaeval.stats.arrays import Floats, Ints
from metaeval.summaries.pair_choices import Pair, PairChoices, chosen_pair, pair_controls, pairs_of
from metaeval.summaries.ranked_pairs import RankedPairs

SORTS = {
    "-apart": "furthest apart first",
    "-score": "highest score first",
    "score": "lowest score first",
    "-label": "highest label first",
    "label": "lowest label first",
}


@dataclass(frozen=True)
class RegionChoices(PairChoices):
    only: tuple[str, ...] = ()
    """Keys of the evaluators that were compared: what one of them has seen is left out. None for all."""
    score_from: str = ""
    score_to: str = ""
    label_from: str = ""
    label_to: str = ""
    """Ends of the region, which are in it; empty for none."""
    sort: str = "-apart"


@dataclass(frozen=True, eq=False)
class RegionPage:
    choices: RegionChoices
    pair: Pair
    controls: Sequence[Control]
    pairs: RankedPairs
    seen: dict[str, int]
    listed: Ints
    """Places among the pairs."""

    @property
    def limits(self) -> list[str]:
        """The region in words; empty if it is everything."""
        ends = (
            ("score", self.choices.score_from, self.choices.score_to),
            ("label", self.choices.label_from, self.choices.label_to),
        )
        return [f"{name} {_in_words(low, high)}" for name, low, high in ends if low or high]


def region_page(snapshot: Snapshot, choices: RegionChoices) -> RegionPage | None:
    """The page for these choices; None if no evaluator scores any question yet.

    Raises DomainError for a choice that does not exist and an end that is not a number.
    """
    refuse_unknown("sort", choices.sort, tuple(SORTS))
    pair = chosen_pair(snapshot, choices)
    if pair is None:
        return None
    pairs, seen = pairs_of(snapshot, choices, pair, choices.only)
    inside = _between(pairs.scores, choices, "score") & _between(pairs.labels, choices, "label")
    return RegionPage(
        choices=choices,
        pair=pair,
        controls=[
            *pair_controls(snapshot, choices, pair),
            Control("sort", "Order", list(SORTS.items()), choices.sort),
        ],
        pairs=pairs,
        seen=seen,
        listed=_sorted(pairs, np.flatnonzero(inside), choices.sort),
    )


def _between(values: Floats, choices: RegionChoices, name: str) -> np.ndarray:
    low = _number(f"{name}_from", getattr(choices, f"{name}_from"), -math.inf)
    high = _number(f"{name}_to", getattr(choices, f"{name}_to"), math.inf)
    return (values >= low) & (values <= high)


def _number(name: str, text: str, none: float) -> float:
    if not text:
        return none
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise DomainError(f"{name}: found {text[:40]!r}, expected a number")
    return number


def _sorted(pairs: RankedPairs, places: Ints, sort: str) -> Ints:
    """Equal ones stay in the order of summaries."""
    by = {"apart": np.abs(pairs.ahead), "score": pairs.scores, "label": pairs.labels}[sort.removeprefix("-")]
    keys = -by[places] if sort.startswith("-") else by[places]
    return places[np.argsort(keys, kind="stable")]


def _in_words(low: str, high: str) -> str:
    if low and high:
        return low if low == high else f"from {low} to {high}"
    return f"{low} or more" if low else f"{high} or less"
