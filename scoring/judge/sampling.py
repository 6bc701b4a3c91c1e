"""Draws of in-context examples from labelled summaries.

Every draw is stable: without any of the summaries that were not drawn, the same ones are drawn again. So the
pool need not be kept.
"""

import hashlib
import math
from collections.abc import Collection, Iterable, Sequence

from scoring.contract.items import PoolExample

BUCKETS = 4


def in_random_order(pool: Iterable[PoolExample], seed: int) -> list[PoolExample]:
    """Return `pool` in an order that depends only on the seed and the examples' ids."""
    return sorted(pool, key=lambda example: place_in_draw(seed, example.id))


def draw(
    shuffled: Sequence[PoolExample], dimension: str, count: int, seed: int, *, stratified: bool
) -> list[PoolExample]:
    """Draw `count` examples of different articles, or fewer if there are no more articles.

    Uniform: in the order of `shuffled`, the first example of each article. Stratified: labels fall into the
    buckets [0, .25], (.25, .5], (.5, .75] and (.75, 1], and each bucket has `count` / 4 places, rounded up.
    As many places are filled as there are articles for, over all assignments of articles to places, evenly if
    there are more places than `count`. Examples of any bucket replace missing ones.
    """
    if not stratified:
        return _first_of_each_article(shuffled, count)
    drawn = _one_for_each(_fillable_places(shuffled, dimension, count, seed))
    taken = {example.article_id for example in drawn}
    others = (example for example in shuffled if example.article_id not in taken)
    drawn += _first_of_each_article(others, count - len(drawn))
    return in_random_order(drawn, seed)


def bucket(label: float) -> int:
    """Return the bucket, 0 to 3, of a label from 0 to 1; a boundary belongs to the lower one."""
    return max(0, math.ceil(label * BUCKETS) - 1)


def _fillable_places(
    shuffled: Sequence[PoolExample], dimension: str, count: int, seed: int
) -> list[list[PoolExample]]:
    """Return the candidates for each place that its bucket can fill, at most `count` places.

    A place needs no more candidates than there are places: one of them is always left for it.
    """
    by_bucket: list[list[PoolExample]] = [[] for _ in range(BUCKETS)]
    for example in shuffled:
        by_bucket[bucket(example.labels[dimension])].append(example)
    candidates = [_first_of_each_article(examples, count) for examples in by_bucket]
    turns = sorted(range(BUCKETS), key=lambda number: place_in_draw(seed, f"bucket {number}"))
    places: list[list[PoolExample]] = []
    for _ in range(math.ceil(count / BUCKETS)):
        for number in turns:
            if len(places) < count and _can_be_filled([*places, candidates[number]]):
                places.append(candidates[number])
    return places


def _one_for_each(places: Sequence[Sequence[PoolExample]]) -> list[PoolExample]:
    """Return the first candidate per place, in turn, that leaves an article for each later place."""
    drawn: list[PoolExample] = []
    taken: set[str] = set()
    for number, candidates in enumerate(places):
        later = places[number + 1 :]
        chosen = next(
            example
            for example in candidates
            if example.article_id not in taken and _can_be_filled(later, {*taken, example.article_id})
        )
        drawn.append(chosen)
        taken.add(chosen.article_id)
    return drawn


def _can_be_filled(places: Sequence[Sequence[PoolExample]], taken: Collection[str] = ()) -> bool:
    """Return whether each place can have its own article that is not `taken`.

    Bipartite matching by Kuhn's algorithm.
    """
    articles = [[each.article_id for each in place if each.article_id not in taken] for place in places]
    holder: dict[str, int] = {}

    def fill(place: int, tried: set[str]) -> bool:
        for article in sorted(articles[place], key=holder.__contains__):
            if article in tried:
                continue
            tried.add(article)
            if article not in holder or fill(holder[article], tried):
                holder[article] = place
                return True
        return False

    return all(fill(place, set()) for place in range(len(places)))


def _first_of_each_article(shuffled: Iterable[PoolExample], count: int) -> list[PoolExample]:
    first: dict[str, PoolExample] = {}
    for example in shuffled:
        if len(first) == count:
            break
        first.setdefault(example.article_id, example)
    return list(first.values())


def place_in_draw(seed: int, name: str) -> str:
    """Return a sort key for a random order that is stable when names are added or removed."""
    return hashlib.sha256(f"{seed}\n{name}".encode()).hexdigest()
