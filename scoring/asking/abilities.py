"""What a model behind an endpoint can do, found out by asking it a little."""

import asyncio
import json
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal

from scoring.asking import wire
from scoring.asking.failures import failure, names
from scoring.asking.request import Address, Request, Wanted
from scoring.asking.talking import client_for, secret_of

if TYPE_CHECKING:
    from openai import AsyncOpenAI

QUESTION = Request(
    "How well does this sentence read, from 1 to 5? Answer with the number alone.\n"
    "Sentence: The cat sat on the mat.\nAnswer:",
    max_tokens=16,
)
_SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"score": {"type": "integer"}},
        "required": ["score"],
        "additionalProperties": False,
    }
)
_LONG_ENOUGH = 256
_UNKNOWN_TO_IT = (400, 404, 405, 422, 500, 501)
"""What endpoints answer to what they do not know; everything else tells nothing of it."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """Of a model at an endpoint, over one API. None: not known."""

    temperature: bool | None = None
    """Whether it takes temperature 0, and not only its own."""
    token_limit: str | None = None
    """max_tokens, or max_completion_tokens, as reasoning models want."""
    n: bool | None = None
    """Several replies to one request."""
    logprobs: int | None = None
    """Tokens shown, with probabilities, in one place of a reply; 0: none."""
    json_schema: bool | None = None
    """Replies held to a JSON schema."""
    usage: bool | None = None
    """Tokens used are reported."""
    batches: bool | None = None
    """There is a Batch API."""

    @property
    def manner(self) -> wire.Manner:
        return wire.Manner(
            self.token_limit or "max_tokens", self.temperature is not False, self.logprobs or None
        )

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, stored: dict[str, Any] | None) -> "Abilities":
        """Also of what another version stored: what it did not know is not known."""
        known = {each.name for each in fields(cls)}
        return cls(**{name: value for name, value in (stored or {}).items() if name in known})


def unable(abilities: Abilities, requests: Iterable[Request], model: str = "it") -> str | None:
    """Why some of these requests cannot be served, in words that say what would work; None if they can.

    What is not known of the model is no reason.
    """
    for request in requests:
        if request.wanted is Wanted.LIKELIHOOD:
            return wire.NO_LIKELIHOODS
        if request.wanted is Wanted.FIRST_TOKEN and abilities.logprobs is not None and abilities.logprobs < 2:
            return wire.NO_PROBABILITIES
        if request.schema and abilities.json_schema is False:
            return (
                "the endpoint does not hold replies to a JSON schema (response_format), which structured "
                "replies need; what works is plain replies"
            )
        if abilities.temperature is False and request.temperature != wire.DEFAULT_TEMPERATURE:
            return wire.no_temperature(model, request.temperature)
    return None


def find_abilities(address: Address, key: str | None, question: Request = QUESTION) -> Abilities:
    """Asks at most nine short questions, one after the other.

    `question` is one that the endpoint should answer, for those that know only some. Where it refuses that
    one though it takes the key and the model, nothing is known. Raises EvaluatorError, as a run would, where
    there is no endpoint, the key or the model is wrong, or it is out of order.
    """
    secret = secret_of(address, key)
    with ThreadPoolExecutor(1) as thread:  # the caller's own may have a running loop, as a notebook's does
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
        question = replace(question, temperature=0.0 if found.temperature else wire.DEFAULT_TEMPERATURE)
        return replace(
            found,
            n=await self._gives_several(question, found.manner),
            logprobs=await self._alternatives(question, found.manner),
            json_schema=await self._holds_to_a_schema(question, found.manner),
            batches=batches,
        )

    async def _plainly(self, question: Request) -> Abilities | None:
        """What is known of a model that answers; None where it does not know the question."""
        import openai

        temperature, limit = True, "max_tokens"
        while True:
            asked = replace(question, temperature=0.0 if temperature else wire.DEFAULT_TEMPERATURE)
            try:
                answer = await self._ask(asked, wire.Manner(limit, temperature))
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
                [first, *_] = wire.replies(answer, asked)
                return Abilities(temperature, limit, usage=first.usage is not None)

    async def _gives_several(self, question: Request, manner: wire.Manner) -> bool | None:
        several = replace(question, temperature=wire.DEFAULT_TEMPERATURE)
        answer = await self._tried(several, manner, choices=2)
        return answer if answer is None or answer is False else len(wire.replies(answer, several)) > 1

    async def _alternatives(self, question: Request, manner: wire.Manner) -> int | None:
        asked = replace(question, wanted=Wanted.FIRST_TOKEN)
        for many in (wire.MOST_ALTERNATIVES, wire.FEWER_ALTERNATIVES):
            answer = await self._tried(asked, replace(manner, alternatives=many))
            if answer is None:
                return None
            if answer is not False:
                wrote = any(each.text for each in wire.replies(answer, question))
                return many if wire.alternatives_shown(answer) else 0 if wrote else None
        return 0

    async def _holds_to_a_schema(self, question: Request, manner: wire.Manner) -> bool | None:
        if self.address.api == "completions":
            return False
        asked = replace(question, schema=_SCHEMA, max_tokens=_LONG_ENOUGH)
        answer = await self._tried(asked, manner)
        if answer is None or answer is False:
            return answer
        [reply, *_] = wire.replies(answer, asked)
        if reply.problem and reply.text.lstrip()[:1] in ("", "{"):
            return None  # cut before it could be told
        try:
            score = json.loads(reply.text)
        except ValueError:
            return False
        return isinstance(score, dict) and set(score) == {"score"} and isinstance(score["score"], int)

    async def _has_batches(self) -> bool | None:
        import openai

        try:
            async with asyncio.timeout(self.address.timeout_s):
                listed = await self.client.get("/batches?limit=1", cast_to=object)
        except openai.APIStatusError as error:
            return False if error.status_code in _UNKNOWN_TO_IT else None
        except (openai.APIError, TimeoutError, ValueError):
            return None
        return isinstance(listed, dict) and isinstance(listed.get("data"), list)

    async def _tried(
        self, request: Request, manner: wire.Manner, choices: int = 1
    ) -> dict[str, Any] | Literal[False] | None:
        """The answer; False if the endpoint refuses such a question; None if that is not known."""
        import openai

        try:
            answer = await self._ask(request, manner, choices)
        except openai.APIStatusError as error:
            return False if error.status_code in _UNKNOWN_TO_IT else None
        except (openai.APIError, TimeoutError, ValueError):
            return None
        return answer if isinstance(answer, dict) and answer.get("choices") else None

    async def _ask(self, request: Request, manner: wire.Manner, choices: int = 1) -> object:
        content = wire.body(self.address, request, manner, choices)
        async with asyncio.timeout(self.address.timeout_s):
            return await self.client.post(wire.path(self.address.api), body=content, cast_to=object)
