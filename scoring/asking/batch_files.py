"""The Batch API: requests handed in as a file, replies fetched as files within a day, at a lower price."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Any

from scoring.asking import wire
from scoring.asking.abilities import Abilities
from scoring.asking.addresses import is_on_this_machine
from scoring.asking.failures import failure, refusal_in
from scoring.asking.request import Address, Reply, Request
from scoring.asking.talking import secret_of
from scoring.contract import EvaluatorError

if TYPE_CHECKING:
    from openai import OpenAI

MOST_REQUESTS, MOST_BYTES = 50_000, 200_000_000
"""Of one batch, as OpenAI takes it."""
LISTED = 2_000
"""Batches among which one is looked for; endpoints list the latest first."""


class UnknownBatch(EvaluatorError):
    """The endpoint does not have it, or not any more."""


class BatchState(StrEnum):
    """Where a batch is; after the last four nothing more comes."""

    UNDER_WAY = "under way"
    DONE = "done"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    FAILED = "failed"


_STATES = {
    "completed": BatchState.DONE,
    "expired": BatchState.EXPIRED,
    "cancelled": BatchState.CANCELLED,
    "failed": BatchState.FAILED,
}


@dataclass(frozen=True, slots=True)
class BatchLook:
    """What the endpoint tells of a batch."""

    state: BatchState
    asked: int
    answered: int
    refused: int
    words: str = ""
    """Why it failed as a whole."""
    files: tuple[str, ...] = ()
    """Names, at the endpoint, of the files with replies and with errors."""


@dataclass(frozen=True, slots=True)
class BatchReplies:
    """By the names that the requests were handed in under; those in neither are to be asked again."""

    replies: Mapping[str, Reply]
    failures: Mapping[str, str]
    """Why there is no reply: the endpoint's words, or that it came too late."""


@dataclass(frozen=True)
class BatchFiles:
    """One model's batches. Every method raises EvaluatorError as a Sender does; nothing is tried twice."""

    address: Address
    key: str | None = field(default=None, repr=False)
    abilities: Abilities | None = None

    def upload(self, requests: Mapping[str, Request]) -> str:
        """The new file's name at the endpoint. `requests` by names of at most 64 characters, such as digests.

        Raises EvaluatorError, permanent, for more than MOST_REQUESTS or MOST_BYTES.
        """
        content = self.lines(requests)
        if len(requests) > MOST_REQUESTS or len(content) > MOST_BYTES:
            raise EvaluatorError(
                f"a batch takes at most {MOST_REQUESTS} requests and {MOST_BYTES // 1_000_000} MB; found "
                f"{len(requests)} and {len(content) // 1_000_000} MB: hand them in as several",
                permanent=True,
            )
        with self._client() as client:
            return client.files.create(file=("requests.jsonl", content), purpose="batch").id

    def start(self, file: str) -> str:
        """The name of a new batch over an uploaded file."""
        path: Any = f"/v1{wire.path(self.address.api)}"
        with self._client() as client:
            return client.batches.create(input_file_id=file, endpoint=path, completion_window="24h").id

    def find(self, file: str) -> str | None:
        """The batch over this file, if one was started; among the LISTED first that the endpoint lists."""
        with self._client() as client:
            listed = islice(client.batches.list(limit=100), LISTED)
            return next((each.id for each in listed if each.input_file_id == file), None)

    def lines(self, requests: Mapping[str, Request]) -> bytes:
        """The file: a line of JSON for each request."""
        manner = (self.abilities or Abilities()).manner
        rows = (
            {
                "custom_id": name,
                "method": "POST",
                "url": f"/v1{wire.path(self.address.api)}",
                "body": wire.body(self.address, request, manner),
            }
            for name, request in requests.items()
        )
        return b"".join(json.dumps(row).encode() + b"\n" for row in rows)

    def look(self, batch: str) -> BatchLook:
        """Raises UnknownBatch where the endpoint has none of this name."""
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
        return BatchLook(
            _STATES.get(found.status, BatchState.UNDER_WAY),
            asked=counts.total if counts else 0,
            answered=counts.completed if counts else 0,
            refused=counts.failed if counts else 0,
            words="; ".join(each.message or each.code or "" for each in errors),
            files=tuple(name for name in (found.output_file_id, found.error_file_id) if name),
        )

    def fetch(self, look: BatchLook, requests: Mapping[str, Request]) -> BatchReplies:
        """What came to the requests, as they were handed in; some of it where it expired or was cancelled."""
        replies: dict[str, Reply] = {}
        failures: dict[str, str] = {}
        with self._client() as client:
            for file in look.files:
                for line in client.files.content(file).content.splitlines():
                    self._read(json.loads(line), requests, replies, failures)
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
            http_client=DefaultHttpxClient(trust_env=not is_on_this_machine(base_url)),
        )
        with client:
            try:
                yield client
            except Exception as error:
                raise failure(error, self.address, secret) from error

    def _read(
        self,
        row: Mapping[str, Any],
        requests: Mapping[str, Request],
        replies: dict[str, Reply],
        failures: dict[str, str],
    ) -> None:
        name = row["custom_id"]
        if name not in requests:
            return
        response = row.get("response") or {}
        body = response.get("body") or {}
        if response.get("status_code") == 200:
            try:
                replies[name] = wire.replies(body, requests[name])[0]
            except (EvaluatorError, ValueError) as error:
                failures[name] = f"unreadable answer: {error}"
            return
        told = row.get("error") or (body.get("error") if isinstance(body, dict) else None) or {}
        code, message = told.get("code"), str(told.get("message") or told)
        if reply := refusal_in(response.get("status_code", 0), code, message):
            replies[name] = reply
        else:
            failures[name] = message
