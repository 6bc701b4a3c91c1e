"""Replies kept in the database: what has been paid for is not asked again, whatever becomes of the worker.

A reply belongs to its project alone, and is known by the digest of its request. What is no answer is kept for
the run that got it, and another run asks again: refusals of the model or of the endpoint, prompts that were
too long, and replies that broke off, since a model that thinks may come to the point another time. An answer
that cannot be read is an answer.
"""

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from decimal import Decimal

from django.db import OperationalError, transaction
from django.db.models import F

from scoring.asking.request import TOO_LONG, Address, Answering, Reply, Request, Usage
from scoring.contract import EvaluatorError
from scoring.endpoints.budgets import (
    BudgetInUse,
    OutOfBudget,
    locked,
    refuse_unpriced,
    release,
    reserve,
    settle,
)
from scoring.endpoints.prices import Counter, Price, most_used
from scoring.items import CHUNK
from scoring.judge.marks import MarkScale, Unread
from scoring.judge.replies import read_score
from scoring.models import EndpointModel, Run, StoredReply

NOT_FINAL = (Unread.REFUSED, Unread.FILTERED, Unread.TRUNCATED, TOO_LONG)
WRITING_ATTEMPTS, WRITING_PAUSE_S = 5, 0.5
_ANY_SCALE = MarkScale(0, 1, decimals=True)
_NOTHING = Decimal(0)
LONGEST_NAME = 200  # characters

logger = logging.getLogger(__name__)


def stored(project_id: int, digests: Iterable[str], run_id: int | None = None) -> dict[str, StoredReply]:
    """Digest -> the project's reply, where there is one that serves run `run_id` (None: a run to come)."""
    wanted = sorted(set(digests))
    found: dict[str, StoredReply] = {}
    for start in range(0, len(wanted), CHUNK):
        rows = StoredReply.objects.filter(project=project_id, request__in=wanted[start : start + CHUNK])
        found |= {row.request: row for row in rows if row.run_id == run_id is not None or is_final(row)}
    return found


def is_final(row: StoredReply) -> bool:
    """Whether the reply serves other runs than the one that got it."""
    if row.problem:
        return row.problem not in NOT_FINAL
    return read_score(row.text, _ANY_SCALE).reason is not Unread.REFUSED


@dataclass(frozen=True)
class StoredReplies:
    """An Asking for one claim: looks into the store, asks for the rest, and keeps each reply as it comes."""

    model: EndpointModel
    """What the project knows of the model at `address`."""
    address: Address
    run_id: int
    holder: str
    """The claim's token."""
    sender: Callable[[Sequence[Request]], Answering]
    """Makes whoever is asked for such requests; not called where all replies are stored."""
    price: Price | None
    count: Counter

    def replies(self, requests: Sequence[Request]) -> list[Reply]:
        """One reply per request, in order; equal requests get the same one.

        Raises EvaluatorError where the model does, OutOfBudget and BudgetInUse. What has come is kept.
        """
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
        """In as many lots as the budget makes of it."""
        waiting = [
            _Wanted(digest, request, most_used(request, self.count)) for digest, request in missing.items()
        ]
        sender = self.sender([each.request for each in waiting])
        if self.price is None:
            refuse_unpriced(self.run_id, self.address.model)
        with self._money():
            while waiting:
                costs = [self._cost(each.at_most) for each in waiting]
                number = reserve(self.run_id, self.holder, costs) if self.price else len(waiting)
                lot, waiting = waiting[:number], waiting[number:]
                with closing(sender.arrivals([each.request for each in lot])) as arrivals:
                    for came in arrivals:
                        self._keep_patiently([(lot[place], reply) for place, reply in came])

    @contextmanager
    def _money(self) -> Iterator[None]:
        """Gives back what is set aside in the end; not what broken-off requests may have cost."""
        try:
            yield
        except (EvaluatorError, OutOfBudget, BudgetInUse):  # nothing is under way any more
            release(self.run_id, self.holder)
            raise
        release(self.run_id, self.holder)

    def _keep_patiently(self, came: "Sequence[tuple[_Wanted, Reply]]") -> None:
        for _ in range(WRITING_ATTEMPTS - 1):
            try:
                self._keep(came)
                return
            except OperationalError:  # a busy database; the replies are paid for
                logger.warning("Replies of run %s are written again.", self.run_id, exc_info=True)
                time.sleep(WRITING_PAUSE_S)
        self._keep(came)

    def keep(self, came: Sequence[tuple[Request, Reply]]) -> None:
        """Store replies that came another way than by `replies`, and count what they cost."""
        self._keep_patiently(
            [
                (_Wanted(request.digest(self.address), request, most_used(request, self.count)), reply)
                for request, reply in came
            ]
        )

    def count_lost(self, used: Usage) -> None:
        """Count what replies have cost that nobody can read any more."""
        with transaction.atomic():
            if run := locked(self.run_id):
                settle(run, self.holder, reserved=_NOTHING, cost=self._cost(used), used=used, replies=0)

    def _keep(self, came: "Sequence[tuple[_Wanted, Reply]]") -> None:
        """Store the replies and count what they cost; where another worker was faster, its reply stays."""
        in_turn = sorted(came, key=lambda each: each[0].digest)  # so that writers wait for each other
        project_id = self.model.endpoint.project_id
        with transaction.atomic():
            run = locked(self.run_id)
            asked = EndpointModel.objects.filter(pk=self.model.pk).first()
            there = StoredReply.objects.filter(
                project=project_id, request__in=[wanted.digest for wanted, _ in in_turn]
            )
            outdated = [row.pk for row in there if row.run_id != self.run_id and not is_final(row)]
            StoredReply.objects.filter(pk__in=outdated).delete()
            StoredReply.objects.bulk_create(
                (self._row(wanted, reply, run, asked) for wanted, reply in in_turn), ignore_conflicts=True
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
        self, wanted: "_Wanted", reply: Reply, run: Run | None, asked: EndpointModel | None
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

    def _cost_of(self, wanted: "_Wanted", reply: Reply) -> Decimal:
        """Where the endpoint tells no usage, the request is taken to have cost the most it can."""
        return self._cost(reply.usage or wanted.at_most)

    def _cost(self, usage: Usage) -> Decimal:
        return self.price.cost(usage) if self.price else _NOTHING


@dataclass(frozen=True)
class _Wanted:
    digest: str
    request: Request
    at_most: Usage


def _reply(row: StoredReply) -> Reply:
    usage = None
    if row.prompt_tokens is not None and row.completion_tokens is not None:
        usage = Usage(row.prompt_tokens, row.completion_tokens)
    return Reply(row.text, row.problem or None, row.probabilities, usage, row.model)


def _storable(text: str) -> str:
    """Without what no database takes: NUL, and halves of characters."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()
