"""Asks a model behind an OpenAI-compatible endpoint, many requests at once, from a thread of its own."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from scoring.asking.request import Address, Reply, Request
from scoring.asking.sending import Sending
from scoring.contract import EvaluatorError

PATIENCE_S = 120.0
"""For how long an endpoint that answers nobody is tried, and one request that fails by itself."""


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
    most_in_flight: int = 32
    patience_s: float = field(default_factory=lambda: PATIENCE_S)

    def replies(self, requests: Sequence[Request]) -> list[Reply]:
        """One reply per request, in order. Raises as `answers` does."""
        came = dict(self.answers(requests))
        return [came[place] for place in range(len(requests))]

    def answers(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
        """Place in `requests` and reply, as they come; yielded in the calling thread.

        Raises EvaluatorError if one cannot be had: then no other request is sent, and those under way are
        awaited and yielded first. Not permanent for outages, rate limits and timeouts, else permanent.
        Closing the iterator breaks off what is under way.
        """
        if not requests:
            return
        sending = Sending(self.address, self._secret(), self.most_in_flight, self.patience_s)
        with sending.of(requests) as came:
            yield from came
        if sending.failure:
            raise sending.failure

    def _secret(self) -> str:
        secret = self.key or os.environ.get(self.address.api_key_env)
        if not secret:
            raise EvaluatorError(
                f"the environment variable {self.address.api_key_env} is not set (any text will do for an "
                "endpoint that asks for no key)",
                permanent=True,
            )
        return secret
