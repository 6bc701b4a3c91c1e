"""The Batch API over the wire: a file of requests, answered as files within a day at a lower price."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

from annotation.texts.nested_json import read_json
from scoring.contract.evaluator import EvaluatorError
from scoring.contract.requests import Address, Reply, Request
from scoring.llm import openai_format
from scoring.llm.capabilities import Abilities
from scoring.llm.errors import failure, refusal_in
from scoring.llm.one_request import MOST_BYTES, client_for, secret_of

if TYPE_CHECKING:
    from openai import AsyncOpenAI

LISTED = 2_000
"""Batches to search for one; endpoints list the latest first."""
FILE_S = 900.0
"""Seconds that a file, or the search for a batch, may take if its parts arrive in time."""
MOST_FILE_BYTES = 512 * 2**20
"""Bytes of one file of replies, which is read line by line: 26 kB for each of 20,000."""

T = TypeVar("T")


class UnknownBatch(EvaluatorError):
    """The endpoint does not have this batch, or not any more."""


class BatchState(StrEnum):
    """The state of a batch. The last four are final."""

    UNDER_WAY = "under way"
    DONE = "done"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    FAILED = "failed"


_STATES = {"completed": BatchState.DONE, **{each.value: each for each in BatchState}}
"""The endpoint's names of states; all others are under way."""


@dataclass(frozen=True, slots=True)
class BatchStatus:
    """The progress of a batch at the endpoint."""

    state: BatchState
    answered: int
    refused: int
    words: str = ""
    """The reason why the whole batch failed."""
    files: tuple[str, ...] = ()
    """The endpoint's names of the files with replies and errors."""


@dataclass(frozen=True, slots=True)
class BatchReplies:
    """Results by request name. Requests in neither mapping must be sent again."""

    replies: Mapping[str, Reply]
    failures: Mapping[str, str]
    """The reason why there is no reply: the endpoint's message, such as a timeout."""


@dataclass(frozen=True)
class BatchFiles:
    """One model's batches. Methods raise EvaluatorError as a HostedModel does, and retry nothing."""

    address: Address
    key: str | None = field(default=None, repr=False)
    abilities: Abilities | None = None

    def upload(self, requests: Mapping[str, Request]) -> str:
        """Upload a file of requests and return its name at the endpoint.

        Names of requests have at most 64 characters, such as digests.
        """
        file = ("requests.jsonl", self.lines(requests))

        async def upload(client: "AsyncOpenAI") -> str:
            return (await client.files.create(file=file, purpose="batch")).id

        return self._done(upload, FILE_S)

    def start(self, file: str) -> str:
        """Start a batch over an uploaded file and return its name."""
        path: Any = f"/v1{openai_format.path(self.address.api)}"

        async def start(client: "AsyncOpenAI") -> str:
            batch = await client.batches.create(input_file_id=file, endpoint=path, completion_window="24h")
            return batch.id

        return self._done(start)

    def find(self, file: str) -> str | None:
        """Return the batch started over this file, if it is among the first LISTED ones."""

        async def find(client: "AsyncOpenAI") -> str | None:
            seen = 0
            async for each in client.batches.list(limit=100):
                seen += 1
                if each.input_file_id == file:
                    return each.id
                if seen == LISTED:
                    break
            return None

        return self._done(find, FILE_S)

    def lines(self, requests: Mapping[str, Request]) -> bytes:
        """Return the content of the file: one line of JSON per request."""
        manner = (self.abilities or Abilities()).manner
        rows = (
            {
                "custom_id": name,
                "method": "POST",
                "url": f"/v1{openai_format.path(self.address.api)}",
                "body": openai_format.body(self.address, request, manner),
            }
            for name, request in requests.items()
        )
        return b"".join(json.dumps(row).encode() + b"\n" for row in rows)

    def status(self, batch: str) -> BatchStatus:
        """Return the state of a batch. Raises UnknownBatch if the endpoint does not have it."""
        from openai import NotFoundError

        try:
            found = self._done(lambda client: client.batches.retrieve(batch))
        except EvaluatorError as error:
            if isinstance(error.__cause__, NotFoundError):
                raise UnknownBatch(str(error), permanent=True) from error
            raise
        counts = found.request_counts
        errors = (found.errors.data if found.errors else None) or []
        return BatchStatus(
            _STATES.get(found.status, BatchState.UNDER_WAY),
            answered=counts.completed if counts else 0,
            refused=counts.failed if counts else 0,
            words="; ".join(each.message or each.code or "" for each in errors),
            files=tuple(name for name in (found.output_file_id, found.error_file_id) if name),
        )

    def fetch(self, status: BatchStatus, requests: Mapping[str, Request]) -> BatchReplies:
        """Return replies to the submitted requests; only some if the batch expired or was cancelled."""
        replies: dict[str, Reply] = {}
        failures: dict[str, str] = {}

        async def fetch(client: "AsyncOpenAI") -> None:
            for file in status.files:
                async with client.files.with_streaming_response.content(file) as response:
                    async for line in _lines(response.iter_bytes()):
                        name, found = _found_in(line, requests)
                        if isinstance(found, Reply):
                            replies[name] = found
                        elif found is not None:
                            failures[name] = found

        self._done(fetch, FILE_S, MOST_FILE_BYTES)
        return BatchReplies(replies, failures)

    def cancel(self, batch: str) -> None:
        self._done(lambda client: client.batches.cancel(batch))

    def _done(
        self,
        work: "Callable[[AsyncOpenAI], Awaitable[T]]",
        limit_s: float = 0.0,
        most_bytes: int = MOST_BYTES,
    ) -> T:
        """Return what `work` returns within the address's timeout, or within `limit_s` if that is longer."""
        secret = secret_of(self.address, self.key)
        address = replace(self.address, timeout_s=max(self.address.timeout_s, limit_s))

        async def with_client() -> T:
            try:
                async with (
                    asyncio.timeout(address.timeout_s),
                    client_for(address, secret, most_bytes) as client,
                ):
                    return await work(client.with_options(timeout=self.address.timeout_s))
            except Exception as error:
                raise failure(error, address, secret) from error

        return asyncio.run(with_client())


async def _lines(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the lines that are not blank. Raises ValueError for one too long to be a reply."""
    begun = b""
    async for piece in pieces:
        *lines, begun = (begun + piece).split(b"\n")
        for line in lines:
            if line.strip():
                yield line
        if len(begun) > MOST_BYTES:
            raise ValueError(f"a line of more than {MOST_BYTES:,} bytes")
    if begun.strip():
        yield begun


def _found_in(line: bytes, requests: Mapping[str, Request]) -> tuple[str, Reply | str | None]:
    """Return the request's name, and its reply or why there is none; None for an unknown name."""
    row = read_json(line)
    try:
        name = row["custom_id"]
        return name, _reply_in(row, requests[name]) if name in requests else None
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"a line has another form ({error})") from error


def _reply_in(row: Mapping[str, Any], request: Request) -> Reply | str:
    """Return the reply in a line of a file, or why there is none."""
    response = row.get("response") or {}
    body = response.get("body") or {}
    if response.get("status_code") == 200:
        try:
            return openai_format.replies(body, request)[0]
        except (EvaluatorError, ValueError) as error:
            return f"unreadable answer: {error}"
    told = row.get("error") or (body.get("error") if isinstance(body, dict) else None) or {}
    code, message = told.get("code"), str(told.get("message") or told)
    return refusal_in(response.get("status_code", 0), code, message) or message
