"""Samples of summaries for rechecks."""

import random
from collections.abc import Collection, Mapping

PARTS = 10


def evenly_over_scores(scores: Mapping[int, float], number: int, seed: int) -> list[int]:
    """Return up to `number` ids, ascending, whose scores are spread evenly over their range.

    The range from the lowest to the highest score is divided into PARTS of equal width. In turn, each part
    contributes one of its ids, drawn with `seed`, while it has any.
    """
    if not scores:
        return []
    low, high = min(scores.values()), max(scores.values())
    parts: dict[int, list[int]] = {}
    for pk, score in sorted(scores.items()):
        place = int((score - low) / (high - low) * PARTS) if high > low else 0
        parts.setdefault(min(place, PARTS - 1), []).append(pk)
    draw = random.Random(seed)
    queues = [draw.sample(ids, len(ids)) for _, ids in sorted(parts.items())]
    dealt = [queue[turn] for turn in range(max(map(len, queues))) for queue in queues if turn < len(queue)]
    return sorted(dealt[:number])


def at_random(ids: Collection[int], number: int, seed: int) -> list[int]:
    """Return up to `number` of the ids, ascending, drawn with `seed` regardless of their scores.

    Drift rechecks compare old replies with new ones. A sample chosen by the old scores would overrepresent
    extreme ones, which regress to the mean, so that an unchanged model would seem to have changed.
    """
    return sorted(random.Random(seed).sample(sorted(ids), min(number, len(ids))))
