"""Asks a model behind an OpenAI-compatible endpoint, many requests at once, from a thread of its own."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from scoring.asking.abilities import Abilities, unable
from scoring.asking.limits import Limits
from scoring.asking.request import Address, Arrivals, Reply, Request
from scoring.asking.sending import Sending
from scoring.asking.talking import secret_of
from scoring.contract import EvaluatorError

PATIENCE_S = 120.0
"""For how long an endpoint that answers nobody is tried, and one request that fails by itself."""

_NO_LIMITS = Limits()


@dataclass(frozen=True)
class Sender:
    """A hosted model.

    As many requests are under way at once as the endpoint bears, `most_in_flight` at most; what fails for
    the moment (limits, outages, broken connections, late answers) is tried again with growing pauses or
    when the endpoint says, for `patience_s` seconds at most.
    """

    address: Address
    key: str | None = field(default=None, repr=False)
    """None: it is in the environment variable that the address names."""
    abilities: Abilities | None = None
    """None: not known; then nothing but the plainest is relied on."""
    most_in_flight: int = 32
    limits: Limits = _NO_LIMITS
    patience_s: float = field(default_factory=lambda: PATIENCE_S)
    has_answered: bool = False
    """Whether the model is known to answer: then a lot of which it refuses all is a lot of refusals."""

    def __post_init__(self) -> None:
        if self.most_in_flight < 1:
            raise ValueError(f"most_in_flight: found {self.most_in_flight}, expected 1 or more")

    def replies(self, requests: Sequence[Request]) -> list[Reply]:
        """One reply per request, in order. Raises as `answers` does."""
        came = dict(self.answers(requests))
        return [came[place] for place in range(len(requests))]

    def answers(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
        """As `arrivals`, one by one."""
        with closing(self.arrivals(requests)) as lots:
            for lot in lots:
                yield from lot

    def arrivals(self, requests: Sequence[Request]) -> Arrivals:
        """Places in `requests` and replies, as they come; yielded in the calling thread, together with all
        others that have come since.

        Raises EvaluatorError if one cannot be had: then no other request is sent, and those under way are
        awaited and yielded first. Not permanent for outages, rate limits and timeouts, else permanent.
        Closing the iterator breaks off what is under way; a loop that may be left early closes it itself
        (contextlib.closing).
        """
        if not requests:
            return
        if self.abilities and (words := unable(self.abilities, requests, self.address.model)):
            raise EvaluatorError(words, permanent=True)
        sending = Sending(
            self.address,
            secret_of(self.address, self.key),
            self.abilities or Abilities(),
            self.most_in_flight,
            self.limits,
            self.patience_s,
            self.has_answered,
        )
        with sending.of(requests) as came:
            yield from came
        if sending.failure:
            raise sending.failure
