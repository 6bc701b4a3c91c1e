"""The abilities of a model behind an endpoint, found out with a few short requests."""

import asyncio
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal

from annotation.texts.nested_json import read_json
from scoring.contract.evaluator import EvaluatorError
from scoring.contract.requests import Address, Request, Wanted
from scoring.llm import openai_format
from scoring.llm.errors import failure, names
from scoring.llm.one_request import client_for, secret_of
from scoring.prompts.marks import MARKS

if TYPE_CHECKING:
    from openai import AsyncOpenAI

QUESTION = Request(
    "How well does this sentence read, from 1 to 5? Answer with the number alone.\n"
    "Sentence: The cat sat on the mat.\nAnswer:",
    max_tokens=16,
)
_LONG_ENOUGH = 256
_NO_BATCH = "batch_0000000000000000000000000000"
"""A name in the form of OpenAI's that no endpoint gives."""
_UNKNOWN_TO_IT = (400, 404, 405, 422, 500, 501)
"""Statuses that mean an unknown feature; any other error says nothing about it."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """The abilities of a model at an endpoint, over one API. None: unknown."""

    temperature: bool | None = None
    """True if it accepts temperature 0, and not only its default."""
    token_limit: str | None = None
    """max_tokens, or max_completion_tokens for reasoning models."""
    n: bool | None = None
    """True if it gives several replies to one request."""
    logprobs: int | None = None
    """The most alternative tokens with probabilities at one position of a reply; 0: none."""
    json_schema: bool | None = None
    """True if it holds replies to a JSON schema."""
    usage: bool | None = None
    """True if it reports the tokens used."""
    batches: bool | None = None
    """True if there is a Batch API."""

    @property
    def manner(self) -> openai_format.Manner:
        return openai_format.Manner(
            self.token_limit or "max_tokens", self.temperature is not False, self.logprobs or None
        )

    @classmethod
    def from_json(cls, stored: dict[str, Any] | None) -> "Abilities":
        """Read stored abilities; those that another version did not store are unknown."""
        known = {each.name for each in fields(cls)}
        return cls(**{name: value for name, value in (stored or {}).items() if name in known})


def unable(abilities: Abilities, requests: Iterable[Request], model: str = "it") -> str | None:
    """Return why some of these requests cannot be served and what would work, or None.

    An unknown ability is no reason.
    """
    for request in requests:
        if request.wanted is Wanted.LIKELIHOOD:
            return openai_format.NO_LIKELIHOODS
        if request.wanted is Wanted.FIRST_TOKEN and abilities.logprobs is not None and abilities.logprobs < 2:
            return openai_format.NO_PROBABILITIES
        if request.schema and abilities.json_schema is False:
            return (
                "the endpoint does not support JSON schemas (response_format), which structured replies "
                "need: use plain replies"
            )
        if abilities.temperature is False and request.temperature != openai_format.DEFAULT_TEMPERATURE:
            return openai_format.no_temperature(model, request.temperature)
    return None


def find_abilities(address: Address, key: str | None, question: Request = QUESTION) -> Abilities:
    """Return what the model can do, found out with at most ten short requests in turn.

    `question` is one that the endpoint should answer, for endpoints that know only some. If it refuses that
    one although key and model are right, nothing is known. Raises EvaluatorError, as a run would, if the
    endpoint cannot be reached, the key or the model is wrong, or it is out of order.
    """
    secret = secret_of(address, key)
    with ThreadPoolExecutor(1) as thread:  # the caller's thread may have a running loop, as in a notebook
        return thread.submit(asyncio.run, _find(address, secret, question)).result()


async def _find(address: Address, secret: str, question: Request) -> Abilities:
    async with client_for(address, secret) as client:
        try:
            return await _Probe(client, address).abilities(question)
        except Exception as error:
            raise failure(error, address, secret) from error


@dataclass(frozen=True)
class _Probe:
    client: "AsyncOpenAI"
    address: Address

    async def abilities(self, question: Request) -> Abilities:
        found, batches = await self._plainly(question), await self._has_batches()
        if found is None:
            return Abilities(batches=batches)
        question = replace(
            question, temperature=0.0 if found.temperature else openai_format.DEFAULT_TEMPERATURE
        )
        return replace(
            found,
            n=await self._gives_several(question, found.manner),
            logprobs=await self._alternatives(question, found.manner),
            json_schema=await self._holds_to_a_schema(question, found.manner),
            batches=batches,
        )

    async def _plainly(self, question: Request) -> Abilities | None:
        """Return the basic abilities of a model that answers; None if it does not know the question."""
        import openai

        temperature, limit = True, "max_tokens"
        while True:
            asked = replace(question, temperature=0.0 if temperature else openai_format.DEFAULT_TEMPERATURE)
            try:
                answer = await self._ask(asked, openai_format.Manner(limit, temperature))
            except openai.APIStatusError as error:
                if limit == "max_tokens" and names(error, "max_tokens"):
                    limit = "max_completion_tokens"
                elif temperature and names(error, "temperature"):
                    temperature = False
                elif error.status_code in _UNKNOWN_TO_IT and error.code != "model_not_found":
                    return None
                else:
                    raise
            else:
                [first, *_] = openai_format.replies(answer, asked)
                return Abilities(temperature, limit, usage=first.usage is not None)

    async def _gives_several(self, question: Request, manner: openai_format.Manner) -> bool | None:
        several = replace(question, temperature=openai_format.DEFAULT_TEMPERATURE)
        answer = await self._tried(several, manner, choices=2)
        return (
            answer if answer is None or answer is False else len(openai_format.replies(answer, several)) > 1
        )

    async def _alternatives(self, question: Request, manner: openai_format.Manner) -> int | None:
        asked = replace(question, wanted=Wanted.FIRST_TOKEN)
        for many in (openai_format.MOST_ALTERNATIVES, openai_format.FEWER_ALTERNATIVES):
            answer = await self._tried(asked, replace(manner, alternatives=many))
            if answer is None:
                return None
            if answer is not False:
                wrote = any(each.text for each in openai_format.replies(answer, question))
                return many if openai_format.alternatives_shown(answer) else 0 if wrote else None
        return 0

    async def _holds_to_a_schema(self, question: Request, manner: openai_format.Manner) -> bool | None:
        if self.address.api == "completions":
            return False
        asked = replace(question, schema=MARKS["1-5"].schema, max_tokens=_LONG_ENOUGH)
        answer = await self._tried(asked, manner)
        if answer is None or answer is False:
            return answer
        [reply, *_] = openai_format.replies(answer, asked)
        if reply.problem and reply.text.lstrip()[:1] in ("", "{"):
            return None  # truncated too early to tell
        try:
            score = read_json(reply.text)
        except ValueError:
            return False
        return isinstance(score, dict) and set(score) == {"score"} and isinstance(score["score"], int)

    async def _has_batches(self) -> bool | None:
        """Return whether it lists batches and nothing else, and denies having one that nobody started.

        Servers and proxies exist that answer any address, or an unknown one with a list of their models.
        """
        listed = await self._fetched("/batches?limit=1")
        if listed is None or listed is False:
            return listed
        batches = listed.get("data") if isinstance(listed, dict) else None
        if not isinstance(batches, list) or not all(
            isinstance(each, dict) and each.get("object") == "batch" for each in batches
        ):
            return False
        invented = await self._fetched(f"/batches/{_NO_BATCH}")
        return None if invented is None else invented is False

    async def _fetched(self, path: str) -> object:
        """Return the answer to GET; False if the endpoint does not know the path; None if that is unknown."""
        import openai

        try:
            async with asyncio.timeout(self.address.timeout_s):
                return await self.client.get(path, cast_to=object)
        except openai.APIStatusError as error:
            return False if error.status_code in _UNKNOWN_TO_IT else None
        except (openai.APIError, EvaluatorError, TimeoutError, ValueError):
            return None

    async def _tried(
        self, request: Request, manner: openai_format.Manner, choices: int = 1
    ) -> dict[str, Any] | Literal[False] | None:
        """Return the answer; False if the endpoint refuses such a request; None if that is unknown."""
        import openai

        try:
            answer = await self._ask(request, manner, choices)
        except openai.APIStatusError as error:
            return False if error.status_code in _UNKNOWN_TO_IT else None
        except (openai.APIError, EvaluatorError, TimeoutError, ValueError):
            return None
        return answer if isinstance(answer, dict) and answer.get("choices") else None

    async def _ask(self, request: Request, manner: openai_format.Manner, choices: int = 1) -> object:
        content = openai_format.body(self.address, request, manner, choices)
        async with asyncio.timeout(self.address.timeout_s):
            return await self.client.post(openai_format.path(self.address.api), body=content, cast_to=object)
