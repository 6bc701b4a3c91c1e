"""The rated examples of a prompt, for each dimension, drawn from labelled summaries.

Every draw is stable: without any of the summaries that were not drawn, the same ones are drawn again. So the
pool need not be kept.
"""

import hashlib
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from scoring.contract.evaluator import EvaluatorError
from scoring.contract.items import PoolExample
from scoring.prompts.dimensions import Dimension
from scoring.prompts.prompt import Prompting
from scoring.prompts.prompt_length import ContextWindow

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


Examples = Mapping[Dimension, Sequence[PoolExample]]


@dataclass(frozen=True)
class ExampleDraw:
    """Settings for drawing examples, with the context window they must fit."""

    count: int
    articles: int
    """Articles that all dimensions draw from, at least `count`; 0: all of the pool."""
    seed: int
    stratified: bool
    prompting: Prompting
    context: ContextWindow

    def drawn(
        self, dimensions: Mapping[str, Dimension], pool: Sequence[PoolExample]
    ) -> dict[str, list[PoolExample]]:
        """Return name of the dimension -> its examples, in the order of the prompt.

        `pool` and the drawn examples alone give the same ones. Raises EvaluatorError, permanent, if the pool
        has too few articles, or the examples do not fit; the message says how many would.
        """
        shuffled = in_random_order(pool, self.seed)
        usable = {
            each: [example for example in shuffled if self.prompting.serves(each, example)]
            for each in dimensions.values()
        }
        found = self._drawn(usable, self.count)
        if self._too_long(found):
            self._refuse(usable)
        return {each.name: list(examples) for each, examples in found.items()}

    def _drawn(self, usable: Examples, count: int) -> Examples:
        chosen = self._chosen_articles(usable.values(), count)
        return {
            judged: self._draw(judged, [each for each in examples if each.article_id in chosen], count)
            for judged, examples in usable.items()
        }

    def _chosen_articles(self, usable: Collection[Sequence[PoolExample]], count: int) -> set[str]:
        """Return some articles with an example for each dimension, or all if these would be too few.

        A pool with no more articles than wanted is returned whole: it may be what was drawn.
        """
        by_dimension = [{example.article_id for example in examples} for examples in usable]
        every = set().union(*by_dimension)
        wanted = max(self.articles, count)
        common = set(every).intersection(*by_dimension)
        if not self.articles or len(every) <= wanted or len(common) < count:
            return every
        return set(
            sorted(common, key=lambda article: place_in_draw(self.seed, f"article {article}"))[:wanted]
        )

    def _draw(self, judged: Dimension, usable: Sequence[PoolExample], count: int) -> list[PoolExample]:
        drawn = draw(usable, judged.name, count, self.seed, stratified=self.stratified)
        if len(drawn) < count:
            raise EvaluatorError(
                f"{judged.name} needs {count} labelled examples of different articles, with the "
                f"{judged.sees}{self.prompting.wants_of_labels}; the pool has {len(drawn)}: "
                "use fewer examples, get more articles rated, or choose other dimensions",
                permanent=True,
            )
        return drawn

    def _refuse(self, usable: Examples) -> NoReturn:
        """Raise an error that says how many examples fit, found by bisection as pools may be large."""
        fitting, too_many = 0, self.count
        while too_many - fitting > 1:
            middle = (fitting + too_many) // 2
            if self._too_long(self._drawn(usable, middle)):
                too_many = middle
            else:
                fitting = middle
        expected = f"at most {fitting}" if fitting else "a larger context, since not even 1 fits"
        dimension = self._too_long(self._drawn(usable, too_many))
        raise EvaluatorError(
            f"parameter 'examples': found {self.count}, expected {expected}: with a summary to judge as long "
            f"as the longest of them, more examples of {dimension} do not fit into {self.context.tokens} "
            "tokens (context_tokens)",
            permanent=True,
        )

    def _too_long(self, drawn: Examples) -> str | None:
        """Return the first dimension whose examples do not fit."""
        return next((each.name for each, examples in drawn.items() if not self._fits(each, examples)), None)

    def _fits(self, judged: Dimension, drawn: Sequence[PoolExample]) -> bool:
        """Return whether the examples leave room for an item as long as the longest, and for the reply."""
        longest = max(drawn, key=lambda each: len(self.prompting.prompt(judged, (), each)))
        return self.context.holds(self.prompting.system, self.prompting.prompt(judged, drawn, longest))
