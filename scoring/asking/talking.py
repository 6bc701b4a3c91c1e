"""One request over the wire, in the manner that the model wants."""

import os
import re
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING

from scoring.asking import wire
from scoring.asking.addresses import NO_KEY, is_nearby, is_on_this_machine
from scoring.asking.failures import names, refusal_of_this_prompt, words_of
from scoring.asking.request import Address, Request, Wanted
from scoring.contract import EvaluatorError

if TYPE_CHECKING:
    from ssl import SSLContext

    from openai import APIStatusError, AsyncOpenAI

KEY = re.compile(r"[!-~]+")
"""What can stand in a header. Libraries quote a header that they refuse, key and all."""
_PLAIN = wire.Manner()
_manners: dict[Address, wire.Manner] = {}
"""As models said when spoken to otherwise; for as long as the process lives."""


def secret_of(address: Address, key: str | None) -> str:
    """The key given, or the environment's, or NO_KEY for an endpoint nearby.

    Raises EvaluatorError, permanent and without the key, if there is none for another one, and for one in the
    environment that no header can carry.
    """
    secret = key or os.environ.get(address.api_key_env)
    if not secret and is_nearby(address.base_url):
        return NO_KEY
    if not secret:
        raise EvaluatorError(
            f"there is no key for {address.base_url}: the environment variable {address.api_key_env} is not "
            "set (any text will do for an endpoint that asks for no key)",
            permanent=True,
        )
    if not KEY.fullmatch(secret):
        raise EvaluatorError(
            f"the environment variable {address.api_key_env} holds no key: white space or other characters "
            "that no header can carry",
            permanent=True,
        )
    return secret


def client_for(address: Address, secret: str) -> "AsyncOpenAI":
    """One that tries nothing twice and waits for ever, as whoever uses it says how long.

    It goes past the environment's proxy to this machine, which no proxy can reach.
    """
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient

    http_client = DefaultAsyncHttpxClient(
        verify=_certificates(), trust_env=not is_on_this_machine(address.base_url)
    )
    return AsyncOpenAI(
        base_url=address.base_url,
        api_key=secret,
        max_retries=0,
        timeout=None,
        http_client=http_client,
    )


@cache
def _certificates() -> "SSLContext":
    """Read once, as that takes longer than many an answer."""
    import httpx2

    return httpx2.create_ssl_context()


@dataclass(frozen=True)
class Talk:
    """With one model, over a client that retries nothing."""

    client: "AsyncOpenAI" = field(repr=False)
    address: Address
    manner: wire.Manner = _PLAIN
    """Taken where the process has learnt of no other."""

    async def ask(self, request: Request, choices: int = 1) -> object:
        """The answer, as JSON.

        A model that refuses max_tokens, a temperature that is its own anyway, or so many alternatives is
        asked again at once without. Raises what the client raises, and EvaluatorError, permanent, where the
        model does not take the temperature.
        """
        import openai

        manner = _manners.get(self.address, self.manner)
        refused: list[APIStatusError] = []
        while True:
            content = wire.body(self.address, request, manner, choices)
            try:
                answer = await self.client.post(wire.path(self.address.api), body=content, cast_to=object)
            except openai.APIStatusError as error:
                refused.append(error)
                other = _other(manner, error, request, self.address.model)
                if other is None:
                    # What it says of a name that it does not know would hide why it was tried.
                    raise refused[0 if names(error, "max_completion_tokens") else -1] from None
                manner = other
            else:
                if refused:
                    _manners[self.address] = manner
                return answer


def _other(manner: wire.Manner, error: "APIStatusError", request: Request, model: str) -> wire.Manner | None:
    """How to ask after this refusal; None if it is not about manners."""
    if refusal_of_this_prompt(error):
        return None
    if manner.token_limit == "max_tokens" and names(error, "max_tokens"):
        return replace(manner, token_limit="max_completion_tokens")
    if manner.takes_temperature and names(error, "temperature"):
        if request.temperature != wire.DEFAULT_TEMPERATURE:
            words = wire.no_temperature(model, request.temperature)
            raise EvaluatorError(f"{words} (it says: {words_of(error)[:200]})", permanent=True) from error
        return replace(manner, takes_temperature=False)
    if manner.alternatives is None and request.wanted is Wanted.FIRST_TOKEN and names(error, "top_logprobs"):
        return replace(manner, alternatives=wire.FEWER_ALTERNATIVES)
    return None
