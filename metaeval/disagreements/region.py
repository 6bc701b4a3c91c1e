"""The summaries in a region of the scatter plot, such as those of one dot."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotation.errors import DomainError
from metaeval.disagreements.pair_choices import ListChoices, Pair, chosen_pair, list_controls, pairs_of
from metaeval.disagreements.ranked_pairs import RankedPairs
from metaeval.live.choices import Control
from metaeval.snapshot.snapshot import Snapshot
from metaeval.stats.arrays import Floats, Ints
from metaeval.stats.check_choice import check_choice

SORTS = {
    "-apart": "largest disagreement first",
    "-score": "highest score first",
    "score": "lowest score first",
    "-label": "highest label first",
    "label": "lowest label first",
}


@dataclass(frozen=True)
class RegionChoices(ListChoices):
    only: tuple[str, ...] = ()
    """Keys of the compared evaluators, whose seen articles are left out; none for all."""
    score_from: str = ""
    score_to: str = ""
    label_from: str = ""
    label_to: str = ""
    """Ends of the region, included; empty for none."""
    sort: str = "-apart"


@dataclass(frozen=True, eq=False)
class RegionPage:
    choices: RegionChoices
    pair: Pair
    controls: Sequence[Control]
    pairs: RankedPairs
    seen: dict[str, int]
    listed: Ints
    """Indices among the pairs."""

    @property
    def limits(self) -> list[str]:
        """The region in words; empty if it has no ends."""
        ends = (
            ("score", self.choices.score_from, self.choices.score_to),
            ("label", self.choices.label_from, self.choices.label_to),
        )
        return [f"{name} {_in_words(low, high)}" for name, low, high in ends if low or high]


def region_page(snapshot: Snapshot, choices: RegionChoices) -> RegionPage | None:
    """Return the page for these choices; None if no evaluator scores any question yet.

    Raises DomainError for a choice that does not exist or an end that is not a number.
    """
    check_choice("sort", choices.sort, tuple(SORTS))
    pair = chosen_pair(snapshot, choices)
    if pair is None:
        return None
    pairs, seen = pairs_of(snapshot, choices, pair)
    inside = _between(pairs.scores, choices, "score") & _between(pairs.labels, choices, "label")
    return RegionPage(
        choices=choices,
        pair=pair,
        controls=[
            *list_controls(snapshot, choices, pair),
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
    """Return the indices sorted, ties in the order of summaries."""
    by = {"apart": np.abs(pairs.ahead), "score": pairs.scores, "label": pairs.labels}[sort.removeprefix("-")]
    keys = -by[places] if sort.startswith("-") else by[places]
    return places[np.argsort(keys, kind="stable")]


def _in_words(low: str, high: str) -> str:
    if low and high:
        return low if low == high else f"from {low} to {high}"
    return f"{low} or more" if low else f"{high} or less"
