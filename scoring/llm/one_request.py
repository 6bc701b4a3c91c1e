"""One request over the wire, written as the model accepts it."""

import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from scoring.contract.evaluator import EvaluatorError
from scoring.contract.requests import Address, Request, Wanted
from scoring.llm import openai_format
from scoring.llm.addresses import NO_KEY, is_nearby
from scoring.llm.errors import names, refusal_of_this_prompt, words_of

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI

KEY = re.compile(r"[!-~]+")
"""The characters that a header can carry. Libraries quote a header that they refuse, key and all."""
MOST_BYTES = 4 * 2**20
"""Bytes of one decoded answer. Read as JSON, an answer can take more than twenty times its size in memory."""
_manners: dict[Address, openai_format.Manner] = {}
"""The manners that models accepted after they refused another; lives as long as the process."""


def secret_of(address: Address, key: str | None) -> str:
    """Return the key given, or the environment's, or NO_KEY for a local endpoint.

    Raises EvaluatorError, permanent and without the key, if a key is missing or no header can carry it.
    """
    secret = key or os.environ.get(address.api_key_env)
    if not secret and is_nearby(address.base_url):
        return NO_KEY
    if not secret:
        raise EvaluatorError(
            f"there is no key for {address.base_url}: the environment variable {address.api_key_env} is not "
            "set (any text will do if the endpoint needs no key)",
            permanent=True,
        )
    if not KEY.fullmatch(secret):
        raise EvaluatorError(
            f"the environment variable {address.api_key_env} holds no valid key: it has white space or other "
            "characters that no header can carry",
            permanent=True,
        )
    return secret


def client_for(address: Address, secret: str, most_bytes: int = MOST_BYTES) -> "AsyncOpenAI":
    """Return a client that retries nothing and waits CONNECT_S to connect. Other timeouts are the caller's.

    Its answers have at most `most_bytes` bytes, and otherwise it is limited as EndpointTransport says.
    """
    import httpx2
    from openai import AsyncOpenAI

    from scoring.llm.transport import CONNECT_S, EndpointTransport

    http_client = httpx2.AsyncClient(
        transport=EndpointTransport(address.base_url, address.reach, most_bytes),
        follow_redirects=False,
        trust_env=False,
    )
    return AsyncOpenAI(
        base_url=address.base_url,
        api_key=secret,
        max_retries=0,
        timeout=httpx2.Timeout(None, connect=CONNECT_S),
        http_client=http_client,
    )


async def ask(
    client: "AsyncOpenAI", address: Address, request: Request, manner: openai_format.Manner, choices: int = 1
) -> object:
    """Return the answer as JSON; `client` retries nothing.

    `manner` holds until the process learns of another. If the model refuses max_tokens, a temperature that is
    its own anyway, or so many alternatives, the request is sent again at once without. Raises what the client
    raises, and EvaluatorError, permanent, if the model does not take the temperature.
    """
    import openai

    manner = _manners.get(address, manner)
    refused: list[APIStatusError] = []
    while True:
        content = openai_format.body(address, request, manner, choices)
        try:
            answer = await client.post(openai_format.path(address.api), body=content, cast_to=object)
        except openai.APIStatusError as error:
            refused.append(error)
            other = _other_manner(manner, error, request, address.model)
            if other is None:
                # A refusal of max_completion_tokens would hide why that name was tried.
                raise refused[0 if names(error, "max_completion_tokens") else -1] from None
            manner = other
        else:
            if refused:
                _manners[address] = manner
            return answer


def _other_manner(
    manner: openai_format.Manner, error: "APIStatusError", request: Request, model: str
) -> openai_format.Manner | None:
    """Return how to write the request after this refusal; None if the refusal has another reason."""
    if refusal_of_this_prompt(error):
        return None
    if manner.token_limit == "max_tokens" and names(error, "max_tokens"):
        return replace(manner, token_limit="max_completion_tokens")
    if manner.takes_temperature and names(error, "temperature"):
        if request.temperature != openai_format.DEFAULT_TEMPERATURE:
            words = openai_format.no_temperature(model, request.temperature)
            raise EvaluatorError(f"{words} (it says: {words_of(error)[:200]})", permanent=True) from error
        return replace(manner, takes_temperature=False)
    if manner.alternatives is None and request.wanted is Wanted.FIRST_TOKEN and names(error, "top_logprobs"):
        return replace(manner, alternatives=openai_format.FEWER_ALTERNATIVES)
    return None
