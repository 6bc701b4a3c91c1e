"""Base of the evaluators that ask a language model."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from scoring.contract.evaluator import Evaluator, language_problem
from scoring.contract.items import Item
from scoring.contract.requests import Address, Asking, Reply, Request
from scoring.contract.scores import Scored
from scoring.prompts.prompt_length import at_most_tokens


class AskingEvaluator(Evaluator):
    """Makes the requests for a summary, and reads the replies separately.

    So requests can be counted, priced, shown, sent one by one or as a batch, or answered from a store.
    """

    asking: Asking | None = None
    """Source of replies instead of the model itself; a worker puts a store in front of it."""

    @property
    @abstractmethod
    def address(self) -> Address | None:
        """The hosted model's address; None for a local model."""

    @abstractmethod
    def model_itself(self) -> Asking:
        """Return the model, without a store in front of it."""

    @abstractmethod
    def requests(self, item: Item) -> list[Request]:
        """Return all requests for scoring the item; none if it cannot be scored."""

    @abstractmethod
    def read(self, item: Item, replies: Sequence[Reply]) -> Scored:
        """Return the item's scores from the replies to its `requests`, in order."""

    def is_asked_about(self, item: Item) -> bool:
        """Return whether the item is scored on a dimension: its article and language do not exclude it."""
        is_seen = len(self.seen.dimensions_of(item, self.dimensions)) == len(self.dimensions)
        return not is_seen and not language_problem(self, item.language)

    @abstractmethod
    def is_same_judge(self, params: Any) -> bool:
        """Return whether people would call a judge with these parameters, of this class, the same one.

        This one's dimensions are known, as after `fit`. It keeps the sealed labels of a version sealed.
        """

    def tokens_at_most(self, text: str) -> int:
        """Return an upper bound of the model's tokens for a text."""
        return at_most_tokens(text)

    def score(self, items: Sequence[Item]) -> list[Scored]:
        if not self.dimensions:
            raise RuntimeError(f"{self.name} scores only after fit(pool)")
        requests = [self.requests(item) for item in items]
        asked = [request for several in requests for request in several]
        replies = iter((self.asking or self.model_itself()).replies(asked) if asked else ())
        return [
            self.read(item, [next(replies) for _ in several])
            for item, several in zip(items, requests, strict=True)
        ]
