"""The Batch API over the wire: a file of requests, answered as files within a day at a lower price."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Any

from scoring.contract.evaluator import EvaluatorError
from scoring.contract.requests import Address, Reply, Request
from scoring.llm import openai_format
from scoring.llm.addresses import is_on_this_machine
from scoring.llm.capabilities import Abilities
from scoring.llm.errors import failure, refusal_in
from scoring.llm.one_request import certificates, secret_of

if TYPE_CHECKING:
    from openai import OpenAI

LISTED = 2_000
"""Batches to search for one; endpoints list the latest first."""


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
        with self._client() as client:
            return client.files.create(file=file, purpose="batch").id

    def start(self, file: str) -> str:
        """Start a batch over an uploaded file and return its name."""
        path: Any = f"/v1{openai_format.path(self.address.api)}"
        with self._client() as client:
            return client.batches.create(input_file_id=file, endpoint=path, completion_window="24h").id

    def find(self, file: str) -> str | None:
        """Return the batch started over this file, if it is among the first LISTED ones."""
        with self._client() as client:
            listed = islice(client.batches.list(limit=100), LISTED)
            return next((each.id for each in listed if each.input_file_id == file), None)

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
            with self._client() as client:
                found = client.batches.retrieve(batch)
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
        with self._client() as client:
            for file in status.files:
                for row in map(json.loads, client.files.content(file).content.splitlines()):
                    name = row["custom_id"]
                    found = _reply_in(row, requests[name]) if name in requests else None
                    if isinstance(found, Reply):
                        replies[name] = found
                    elif found is not None:
                        failures[name] = found
        return BatchReplies(replies, failures)

    def cancel(self, batch: str) -> None:
        with self._client() as client:
            client.batches.cancel(batch)

    @contextmanager
    def _client(self) -> Iterator["OpenAI"]:
        from openai import DefaultHttpxClient, OpenAI

        base_url, secret = self.address.base_url, secret_of(self.address, self.key)
        client = OpenAI(
            base_url=base_url,
            api_key=secret,
            max_retries=0,
            timeout=self.address.timeout_s,
            http_client=DefaultHttpxClient(verify=certificates(), trust_env=not is_on_this_machine(base_url)),
        )
        with client:
            try:
                yield client
            except Exception as error:
                raise failure(error, self.address, secret) from error


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
