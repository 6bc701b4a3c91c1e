"""Base of the evaluators that ask a language model; who answers is handed to them."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from scoring.asking.request import Address, Asking, Reply, Request
from scoring.contract import Evaluator, Item, Scored, language_problem
from scoring.judge.prompt_length import at_most_tokens


class AskingEvaluator(Evaluator):
    """First says what it would ask of a summary, then reads the replies.

    So the same requests can be counted, priced, shown, sent one by one or in a file, or found in a store.
    """

    asking: Asking | None = None
    """Who answers instead of the model itself, asked directly; a worker puts a store before it."""

    @property
    @abstractmethod
    def address(self) -> Address | None:
        """Where the hosted model is asked; None for a local one."""

    @abstractmethod
    def model_itself(self) -> Asking:
        """The model, asked directly."""

    @abstractmethod
    def requests(self, item: Item) -> list[Request]:
        """All that scoring the item asks; nothing where it cannot be scored."""

    @abstractmethod
    def read(self, item: Item, replies: Sequence[Reply]) -> Scored:
        """The item's scores from the replies to its `requests`, in their order."""

    def is_asked_about(self, item: Item) -> bool:
        """Whether the item is scored: it is of no article learnt from, in no language that is not judged."""
        return item.article_id not in self.seen.article_ids and not language_problem(self, item.language)

    @abstractmethod
    def is_same_judge(self, params: Any) -> bool:
        """Whether a person would call a judge with these parameters, of this class, the same as this one.

        Of this one the dimensions are known, as after `fit`. So a version's sealed labels stay sealed.
        """

    def tokens_at_most(self, text: str) -> int:
        """How many tokens the model makes of a text, or more."""
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
