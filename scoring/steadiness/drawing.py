"""Which summaries are asked again: some of every height of score, or any."""

import random
from collections.abc import Collection, Mapping

PARTS = 10


def evenly_over_scores(scores: Mapping[int, float], number: int, seed: int) -> list[int]:
    """Up to `number` ids, in ascending order, of scores spread as evenly over their range as there are any.

    The range from the lowest to the highest score is cut into PARTS of equal width; they are gone through in
    turn, and each gives one of its ids, drawn with `seed`, as long as it has some.
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
    """Up to `number` of the ids, in ascending order, drawn with `seed` whatever they scored.

    For replies that later ones are compared with: drawn by their height, rare ones would be there for their
    own noise, from which any later reply falls back, and a model that is the same would seem to have changed.
    """
    return sorted(random.Random(seed).sample(sorted(ids), min(number, len(ids))))
