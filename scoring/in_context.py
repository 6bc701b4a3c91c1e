"""The rated examples that a prompt shows, for each dimension: as many as asked for, if they fit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scoring.contract import EvaluatorError, PoolExample
from scoring.dimensions import Dimension
from scoring.prompt_length import ContextWindow
from scoring.prompting import Prompting
from scoring.sampling import draw, in_random_order


@dataclass(frozen=True)
class InContext:
    """How examples are drawn, and into what they must fit."""

    count: int
    seed: int
    stratified: bool
    prompting: Prompting
    context: ContextWindow

    def drawn(
        self, dimensions: Mapping[str, Dimension], pool: Sequence[PoolExample]
    ) -> dict[str, list[PoolExample]]:
        """Name of the dimension -> its examples, in the order of the prompt.

        The same come from `pool` and from the drawn examples alone. Raises EvaluatorError, permanent, where
        the pool has too few articles, or the examples do not fit: then it says how many would.
        """
        shuffled = in_random_order(pool, self.seed)
        found = {name: self._draw(judged, shuffled, self.count) for name, judged in dimensions.items()}
        fitting = {name: self._fitting(dimensions[name], shuffled, each) for name, each in found.items()}
        dimension, most = min(fitting.items(), key=lambda each: each[1])
        if most < self.count:
            raise EvaluatorError(
                f"parameter 'examples': found {self.count}, expected "
                f"{f'at most {most}' if most else 'a larger context, since not even 1 fits'}: with a summary "
                f"to judge as long as the longest of them, more examples of {dimension} do not fit into "
                f"{self.context.tokens} tokens (context_tokens)",
                permanent=True,
            )
        return found

    def _draw(self, judged: Dimension, shuffled: Sequence[PoolExample], count: int) -> list[PoolExample]:
        usable = [
            each
            for each in shuffled
            if judged.name in each.labels and each.summary.strip() and judged.beside(each) is not None
        ]
        drawn = draw(usable, judged.name, count, self.seed, stratified=self.stratified)
        if len(drawn) < count:
            raise EvaluatorError(
                f"{judged.name} needs {count} labelled examples of different articles, with the "
                f"{judged.sees}; the pool has {len(drawn)}",
                permanent=True,
            )
        return drawn

    def _fitting(
        self, judged: Dimension, shuffled: Sequence[PoolExample], drawn: Sequence[PoolExample]
    ) -> int:
        """The largest number of examples, at most those drawn, that fits; 0 if none does."""
        while drawn and not self._fits(judged, drawn):
            fewer = len(drawn) - 1
            drawn = self._draw(judged, shuffled, fewer) if fewer else ()
        return len(drawn)

    def _fits(self, judged: Dimension, drawn: Sequence[PoolExample]) -> bool:
        """Whether the examples leave room for an item as long as the longest of them, and for the reply."""
        longest = max(drawn, key=lambda each: len(self.prompting.prompt(judged, (), each)))
        return self.context.holds(self.prompting.system, self.prompting.prompt(judged, drawn, longest))
