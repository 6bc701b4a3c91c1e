"""Limits on what readers who are not members may have computed from published results.

A process of the web server keeps their answers, so that a question costs once, and computes few new ones at a
time. What takes longer goes to a queue of their own, `background.STRANGERS`.
"""

import math
from collections import OrderedDict, deque
from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Any, Generic, NamedTuple, TypeVar

from django.db import connection

from annotation.errors import Busy, DomainError, TooManyRequests
from metaeval.live.background import BUSY_S, Key
from metaeval.snapshot.snapshot import Snapshot

MOST_RESAMPLES = 1_000
NEW_PER_MINUTE = 30
"""Answers a minute that are computed for one address. Kept ones are not counted."""
MINUTE_S = 60.0
MOST_AT_ONCE = 2
"""Answers that are computed at once. The server's other threads are left to members."""
KEPT_ANSWERS = 64
KEPT_S = 600.0
"""Seconds for which an answer is kept: a project's name, for example, changes without a new revision."""
KNOWN_ADDRESSES = 10_000

Result = TypeVar("Result")


def refuse_resamples(snapshot: Snapshot, resamples: int) -> None:
    """Raise DomainError for more resamples than published results are computed with."""
    if snapshot.is_published and resamples > MOST_RESAMPLES:
        raise DomainError(
            f"resamples: found {resamples:,}, expected at most {MOST_RESAMPLES:,} for published results. "
            "Members of the project may ask for more."
        )


class Computed(NamedTuple, Generic[Result]):
    """A computed answer."""

    result: Result
    is_final: bool = True
    """False if the same question may have another answer soon, or if it is for one reader alone."""
    is_news: bool = True
    """False if nothing was computed, because the reader's page shows all there is."""


class _KeptAnswer(NamedTuple):
    result: Any
    until: float


class AnswersToStrangers:
    """The answers that a process keeps for strangers, and the limits on new ones."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: dict[Key, _KeptAnswer] = {}
        self._asked: OrderedDict[str, deque[float]] = OrderedDict()
        """Address -> times of its new answers, the latest `NEW_PER_MINUTE`; the latest address last."""
        self._at_once = 0

    def answer(self, key: Key, address: str, compute: Callable[[], Computed[Result]]) -> Result:
        """Return the kept answer to an equal question, or compute it.

        Raises TooManyRequests if this address got too many new answers within a minute, and Busy while too
        many are being computed. Within a transaction, which may be rolled back, no answer is kept.
        """
        with self._lock:
            kept = self._kept.get(key)
            if kept and monotonic() < kept.until:
                found: Result = kept.result
                return found
            self._admit(address)
        try:
            answer = compute()
        finally:
            with self._lock:
                self._at_once -= 1
        with self._lock:
            if not answer.is_news and self._asked.get(address):
                self._asked[address].pop()
            if answer.is_final and not connection.in_atomic_block:
                self._keep(key, answer.result)
        return answer.result

    def _admit(self, address: str) -> None:
        now = monotonic()
        times = self._asked.setdefault(address, deque(maxlen=NEW_PER_MINUTE))
        self._asked.move_to_end(address)
        while len(self._asked) > KNOWN_ADDRESSES:
            self._asked.popitem(last=False)
        if len(times) == NEW_PER_MINUTE and now - times[0] < MINUTE_S:
            raise TooManyRequests(
                f"Your address asked for more than {NEW_PER_MINUTE} new results within a minute.",
                math.ceil(MINUTE_S - (now - times[0])),
            )
        if self._at_once >= MOST_AT_ONCE:
            raise Busy("The server is computing results for other readers.", BUSY_S)
        times.append(now)
        self._at_once += 1

    def _keep(self, key: Key, result: Any) -> None:
        outdated = [
            each for each in self._kept if each.project == key.project and each.revision < key.revision
        ]
        for each in [key, *outdated]:
            self._kept.pop(each, None)
        while len(self._kept) >= KEPT_ANSWERS:
            del self._kept[next(iter(self._kept))]
        self._kept[key] = _KeptAnswer(result, monotonic() + KEPT_S)


ANSWERS = AnswersToStrangers()
