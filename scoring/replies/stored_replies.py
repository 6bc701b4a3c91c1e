"""Replies stored in the database, so that nothing is paid for twice.

A reply belongs to one project and is identified by the digest of its request. Only the run that received them
reuses refusals, prompts that were too long and truncated replies; other runs send these requests again, since
the next reply may be complete. A complete reply without a readable score is reused.
"""

import collections
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal

from django.db import OperationalError, transaction
from django.db.models import F

from annotation.database.portions import portions
from scoring.contract.evaluator import EvaluatorError
from scoring.contract.requests import TOO_LONG, Address, Answering, Reply, Request, Usage
from scoring.endpoints.prices import Counter, Price, most_used
from scoring.inputs.items import CHUNK
from scoring.models import EndpointModel, Run, StoredReply
from scoring.prompts.marks import MarkScale, Unread
from scoring.prompts.replies import read_score
from scoring.replies.budgets import (
    BudgetInUse,
    OutOfBudget,
    locked,
    refuse_unpriced,
    release,
    reserve,
    settle,
)

NOT_FINAL = (Unread.REFUSED, Unread.FILTERED, Unread.TRUNCATED, TOO_LONG)
WRITING_ATTEMPTS, WRITING_PAUSE_S = 5, 0.5
_ANY_SCALE = MarkScale(0, 1, decimals=True)
_NOTHING = Decimal(0)
LONGEST_NAME = 200  # characters

logger = logging.getLogger(__name__)


def stored(project_id: int, digests: Iterable[str], run_id: int | None = None) -> dict[str, StoredReply]:
    """Return the project's replies that run `run_id` can use, by digest; None for a future run."""
    found: dict[str, StoredReply] = {}
    for wanted in portions(sorted(set(digests)), CHUNK):
        rows = StoredReply.objects.filter(project=project_id, request__in=wanted)
        found |= {row.request: row for row in rows if row.run_id == run_id is not None or is_final(row)}
    return found


def is_final(row: StoredReply) -> bool:
    """Return whether other runs than the one that received it can use the reply."""
    if row.problem:
        return row.problem not in NOT_FINAL
    return read_score(row.text, _ANY_SCALE).reason is not Unread.REFUSED


@dataclass(frozen=True)
class StoredReplies:
    """An Asking for one claim: uses stored replies, requests the others, and stores each reply at once."""

    model: EndpointModel
    """The project's row of the model at `address`."""
    address: Address
    run_id: int
    holder: str
    """The claim's token."""
    sender: Callable[[Sequence[Request]], Answering]
    """Makes the client for such requests; not called if all replies are stored."""
    price: Price | None
    count: Counter
    occasion: str = ""
    """Part of every request's digest, so that replies of other occasions are not reused."""

    def replies(self, requests: Sequence[Request]) -> list[Reply]:
        """Return one reply per request, in order; equal requests get the same one.

        Raises EvaluatorError, OutOfBudget and BudgetInUse. Replies received before are stored.
        """
        requests = [replace(request, occasion=self.occasion) for request in requests]
        digests = [request.digest(self.address) for request in requests]
        kept = self._stored(digests)
        of_others = sum(row.run_id != self.run_id for row in kept.values())
        missing = {
            digest: request for digest, request in zip(digests, requests, strict=True) if digest not in kept
        }
        if missing:
            self._ask(missing)
            kept |= self._stored(missing)
        if of_others:
            Run.objects.filter(pk=self.run_id).update(replies_reused=F("replies_reused") + of_others)
        return [_reply(kept[digest]) for digest in digests]

    def _stored(self, digests: Iterable[str]) -> dict[str, StoredReply]:
        return stored(self.model.endpoint.project_id, digests, self.run_id)

    def _ask(self, missing: Mapping[str, Request]) -> None:
        """Send the requests, in lots that the budget allows."""
        waiting = [
            _Pending(digest, request, most_used(request, self.count)) for digest, request in missing.items()
        ]
        sender = self.sender([each.request for each in waiting])
        if self.price is None:
            refuse_unpriced(self.run_id, self.address.model)
        with self._money():
            while waiting:
                costs = [self._cost(each.at_most) for each in waiting]
                number = reserve(self.run_id, self.holder, costs, at_once=self._at_once(missing.values()))
                lot, waiting = waiting[:number], waiting[number:]
                with closing(sender.arrivals([each.request for each in lot])) as arrivals:
                    for came in arrivals:
                        self._keep_patiently([(lot[place], reply) for place, reply in came])

    def _at_once(self, requests: Iterable[Request]) -> int:
        """Return the most requests that are sent and have no stored reply at any time.

        A model may answer requests that differ only in their sample in one call.
        """
        samples = collections.Counter(replace(request, sample=0) for request in requests)
        return self.model.endpoint.most_in_flight * max(samples.values())

    @contextmanager
    def _money(self) -> Iterator[None]:
        """End the reservation, except after an unexpected error: requests may have cost its money."""
        try:
            yield
        except (EvaluatorError, OutOfBudget, BudgetInUse):  # no request is in progress
            release(self.run_id, self.holder)
            raise
        release(self.run_id, self.holder)

    def _keep_patiently(self, came: "Sequence[tuple[_Pending, Reply]]") -> None:
        for _ in range(WRITING_ATTEMPTS - 1):
            try:
                self._keep(came)
                return
            except OperationalError:  # the replies are paid for
                logger.warning("Retrying to store replies of run %s.", self.run_id, exc_info=True)
                time.sleep(WRITING_PAUSE_S)
        self._keep(came)

    def keep(self, came: Sequence[tuple[Request, Reply]]) -> None:
        """Store replies received by other means than `replies`, and count their cost."""
        self._keep_patiently(
            [
                (_Pending(request.digest(self.address), request, most_used(request, self.count)), reply)
                for request, reply in came
            ]
        )

    def count_lost(self, used: Usage) -> None:
        """Count the cost of replies that can no longer be used."""
        with transaction.atomic():
            if run := locked(self.run_id):
                settle(run, self.holder, reserved=_NOTHING, cost=self._cost(used), used=used, replies=0)

    def _keep(self, came: "Sequence[tuple[_Pending, Reply]]") -> None:
        """Store the replies and count their cost; if another worker was faster, its reply stays."""
        in_lock_order = sorted(came, key=lambda each: each[0].digest)  # so that writers do not deadlock
        project_id = self.model.endpoint.project_id
        with transaction.atomic():
            run = locked(self.run_id)
            asked = EndpointModel.objects.filter(pk=self.model.pk).first()
            there = StoredReply.objects.filter(
                project=project_id, request__in=[wanted.digest for wanted, _ in in_lock_order]
            )
            outdated = [row.pk for row in there if row.run_id != self.run_id and not is_final(row)]
            StoredReply.objects.filter(pk__in=outdated).delete()
            StoredReply.objects.bulk_create(
                (self._row(wanted, reply, run, asked) for wanted, reply in in_lock_order),
                ignore_conflicts=True,
            )
            if run is not None:
                used = [
                    reply.usage or Usage(wanted.at_most.prompt_tokens, self.count(reply.text))
                    for wanted, reply in came
                ]
                settle(
                    run,
                    self.holder,
                    reserved=sum((self._cost(wanted.at_most) for wanted, _ in came), _NOTHING),
                    cost=sum((self._cost_of(wanted, reply) for wanted, reply in came), _NOTHING),
                    used=Usage(
                        sum(each.prompt_tokens for each in used), sum(each.completion_tokens for each in used)
                    ),
                    replies=len(came),
                )

    def _row(
        self, wanted: "_Pending", reply: Reply, run: Run | None, asked: EndpointModel | None
    ) -> StoredReply:
        return StoredReply(
            project_id=self.model.endpoint.project_id,
            request=wanted.digest,
            text=_storable(reply.text),
            problem=reply.problem or "",
            probabilities=dict(reply.probabilities),
            model=_storable(reply.model)[:LONGEST_NAME],
            asked=asked,
            prompt_tokens=reply.usage.prompt_tokens if reply.usage else None,
            prompt_tokens_at_most=most_used(wanted.request).prompt_tokens,
            completion_tokens=reply.usage.completion_tokens if reply.usage else None,
            cost=self._cost_of(wanted, reply) if self.price else None,
            run=run,
        )

    def _cost_of(self, wanted: "_Pending", reply: Reply) -> Decimal:
        """Return the reply's cost; without reported usage, the most that the request can cost."""
        return self._cost(reply.usage or wanted.at_most)

    def _cost(self, usage: Usage) -> Decimal:
        return self.price.cost(usage) if self.price else _NOTHING


@dataclass(frozen=True)
class _Pending:
    digest: str
    request: Request
    at_most: Usage


def _reply(row: StoredReply) -> Reply:
    usage = None
    if row.prompt_tokens is not None and row.completion_tokens is not None:
        usage = Usage(row.prompt_tokens, row.completion_tokens)
    return Reply(row.text, row.problem or None, row.probabilities, usage, row.model)


def _storable(text: str) -> str:
    """Return the text without what databases reject: NUL and lone surrogates."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()
