"""Drawing a round's gold summaries: unseen ones first, each answer as often as the others. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from random import Random

from annotation.protocol import Sheet

Seen = tuple[int, int]
"""The times a rater has seen a summary, and the last round of these. (0, 0) is unseen."""
Stratum = tuple[str, str]
"""A question and one of its gold answers."""


def sample_round(
    sheets: Mapping[int, Sheet], seen: Mapping[int, Seen], size: int, chance: Random
) -> list[int]:
    """Return at most `size` of the summaries in `sheets`, which holds their gold answers, in random order.

    Those seen least often and longest ago come first. Among equals the choice makes the answers to all
    questions as even as possible: it first raises the rarest answer, then the next rarest. It starts from a
    greedy choice and exchanges single summaries until no exchange helps.
    """

    def order(pk: int) -> Seen:
        return seen.get(pk, (0, 0))

    chosen: list[int] = []
    for _, equals in groupby(sorted(sheets, key=order), key=order):
        level = list(equals)
        room = size - len(chosen)
        if len(level) > room:
            chance.shuffle(level)
            level = _most_even(sheets, chosen, level, room)
        chosen += level
    chance.shuffle(chosen)
    return chosen


def unevenness(sheets: Mapping[int, Sheet], chosen: Sequence[int]) -> tuple[int, ...]:
    """Return how many answers come up 0 times among `chosen`, then once, twice and so on.

    Answers are those of all `sheets`, by question. The less of two tuples is the more even choice.
    """
    counts = _Counts(sheets, len(chosen))
    for pk in chosen:
        counts.add(pk, 1)
    times = Counter(counts.of.values())
    return tuple(times[number] for number in range(len(chosen) + 1))


def _most_even(sheets: Mapping[int, Sheet], kept: Sequence[int], level: list[int], room: int) -> list[int]:
    """Return `room` of `level` that are most even together with `kept`."""
    among = {pk: sheets[pk] for pk in [*kept, *level]}
    counts = _Counts(among, len(kept) + room)
    for pk in kept:
        counts.add(pk, 1)
    taken: list[int] = []
    left = list(level)
    for _ in range(room):
        best = min(left, key=counts.change)
        left.remove(best)
        taken.append(best)
        counts.add(best, 1)
    while _exchange_one(counts, taken, left):
        pass
    return taken


def _exchange_one(counts: "_Counts", taken: list[int], left: list[int]) -> bool:
    """Exchange one of `taken` for one of `left` if that is more even. Return whether it did."""
    for i, old in enumerate(taken):
        before = counts.total
        counts.add(old, -1)
        best = min(range(len(left)), key=lambda j: counts.change(left[j]), default=None)
        if best is not None and counts.total + counts.change(left[best]) < before:
            counts.add(left[best], 1)
            taken[i], left[best] = left[best], old
            return True
        counts.add(old, 1)
    return False


class _Counts:
    """A counter of answers, with `total`, a number that is less for a more even choice.

    In base `_base`, the digits of `total` are how many answers come up 0 times, once, twice and so on.
    """

    def __init__(self, sheets: Mapping[int, Sheet], size: int) -> None:
        self._strata = {pk: tuple(sheet.items()) for pk, sheet in sheets.items()}
        self.of: dict[Stratum, int] = {stratum: 0 for own in self._strata.values() for stratum in own}
        self._base = len(self.of) + 1
        self._size = size
        self.total = len(self.of) * self._weight(0)

    def _weight(self, times: int) -> int:
        return int(self._base ** (self._size - times))

    def change(self, pk: int) -> int:
        """Return by how much adding the summary changes `total`."""
        return sum(
            self._weight(self.of[stratum] + 1) - self._weight(self.of[stratum])
            for stratum in self._strata[pk]
        )

    def add(self, pk: int, times: int) -> None:
        for stratum in self._strata[pk]:
            self.total += self._weight(self.of[stratum] + times) - self._weight(self.of[stratum])
            self.of[stratum] += times
