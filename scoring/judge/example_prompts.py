"""The rated examples of a prompt, for each dimension."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from scoring.contract.evaluator import EvaluatorError
from scoring.contract.items import PoolExample
from scoring.judge.dimensions import Dimension
from scoring.judge.prompt_length import ContextWindow
from scoring.judge.prompting import Prompting
from scoring.judge.sampling import draw, in_random_order, place_in_draw

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
