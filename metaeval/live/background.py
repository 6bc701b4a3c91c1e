"""Slow results, computed once in the background and kept while they are current.

A page shows its values at once and its slow results when they are ready (see `news.stamp`). Until then it
may show those of an earlier revision and say so (see `latest_before`).
"""

import math
import sys
from collections import deque
from collections.abc import Callable, Hashable
from concurrent.futures import Future, wait
from functools import partial
from threading import Lock, Thread, local
from typing import Any, NamedTuple, TypeVar

from django.db import connection

from annotation.errors import Busy
from annotation.models import Project
from metaeval.live.shared_results import SHARED, Tell

Result = TypeVar("Result")

KEPT_RESULTS = 64
MOST_FOR_STRANGERS = 4
"""Unfinished results for readers who are not members. A page asks for two."""
BUSY_S = 5
"""Seconds after which a reader may try again who found too many unfinished."""
SOON = 0.3
"""Seconds that a page waits for its results."""
SWITCH_S = 0.0005
"""Seconds between thread switches. A request releases the interpreter hundreds of times; at Python's default
of 5 ms it would wait that long each time."""


class Key(NamedTuple):
    """The key of a result. Equal keys stand for the same computation."""

    project: int
    """Primary key."""
    revision: int
    request: Hashable
    """Everything else that the result depends on, such as the reader's choices."""
    is_published: bool = False
    """True if the reader is no member: published results leave something out."""

    @classmethod
    def of(cls, project: Project, revision: int, *request: Hashable) -> "Key":
        """Return the key of a result for the project's reader."""
        return cls(project.pk, revision, request, project.only_published)


class Pending(NamedTuple):
    """Stands for a result that is not ready yet."""


class ComputationProgress(NamedTuple):
    """The parts of an unfinished computation."""

    done: int
    parts: int

    @property
    def left(self) -> int:
        return max(1, self.parts - self.done)

    @property
    def in_words(self) -> str:
        """The number of parts that are done, in brackets after a space; empty if there is only one."""
        return f" ({self.done} of {self.parts} done)" if self.parts > 1 else ""


class _Outcome(Future[Any]):
    """The result of a computation, or what is known of it before."""

    def __init__(self, parts: int) -> None:
        super().__init__()
        self.parts = parts
        self.done_parts = 0

    def hear(self, done_parts: int) -> None:
        self.done_parts = max(self.done_parts, done_parts)


class BackgroundResults:
    """A queue of computations and their results.

    One thread computes one result after the other and ends when the queue is empty. A single thread leaves
    the machine's other cores to the web server and the workers.
    """

    def __init__(self, kept: int = KEPT_RESULTS, most_unfinished: float = math.inf) -> None:
        self._kept = kept
        self._most_unfinished = most_unfinished
        self._lock = Lock()
        self._outcomes: dict[Key, _Outcome] = {}
        """In the order of the requests."""
        self._queue: deque[tuple[Key, _Outcome, Callable[[], Any]]] = deque()
        """Computations that have not begun."""
        self._is_working = False

    def ready_or_start(
        self, key: Key, compute: Callable[[], Result], wait_s: float | None = SOON, *, parts: int = 1
    ) -> Result | Pending:
        """Return the result, or `Pending` if it is not ready after `wait_s` seconds (None: no limit).

        Raises Busy if too many others are unfinished. Errors of `compute` are raised here for every caller.
        It runs in another thread or process: its arrays must not change, it must not use the database, and
        its result must be one that can be pickled. It calls `part_done` for each of its `parts`. Queued
        computations for earlier revisions of the project are dropped. Within a transaction the result is
        computed at once and not kept, since the transaction may be rolled back.
        """
        if connection.in_atomic_block:
            return compute()
        with self._lock:
            outcome = self._outcomes.get(key)
            if outcome is None:
                outcome = self._start(key, compute, parts)
        wait([outcome], timeout=wait_s)
        if not outcome.done() or outcome.cancelled():
            return Pending()
        result: Result = outcome.result()
        return result

    def result(
        self, key: Key, compute: Callable[[], Result], wait_s: float | None = SOON, *, parts: int = 1
    ) -> Result | None:
        """Return the result, or None while it is pending; with `wait_s` None, always a result."""
        found = self.ready_or_start(key, compute, wait_s, parts=parts)
        if not isinstance(found, Pending):
            return found
        # The computation was dropped for a newer revision, but this caller waits for its own.
        return compute() if wait_s is None else None

    def progress(self, key: Key) -> ComputationProgress | None:
        """Return how far the result is; None unless it is being computed or in the queue."""
        with self._lock:
            outcome = self._outcomes.get(key)
            if outcome is None or outcome.done():
                return None
            return ComputationProgress(outcome.done_parts, outcome.parts)

    def latest_before(self, key: Key) -> Any | None:
        """Return the result of the latest earlier revision with the same request, or None."""
        with self._lock:
            earlier = self._latest_finished(before=key.revision).get((key.project, key.request))
            return self._outcomes[earlier].result() if earlier else None

    def _latest_finished(self, *, before: int) -> dict[tuple[int, Hashable], Key]:
        """Return the latest key before that revision with a result, by project and request."""
        finished = (key for key, outcome in self._outcomes.items() if _is_finished(outcome))
        earlier = sorted((key for key in finished if key.revision < before), key=lambda key: key.revision)
        return {(key.project, key.request): key for key in earlier}

    def _start(self, asked: Key, compute: Callable[[], Any], parts: int) -> _Outcome:
        shown_meanwhile = set(self._latest_finished(before=asked.revision).values())
        for key, other in list(self._outcomes.items()):
            is_outdated = key.project == asked.project and key.revision < asked.revision
            if is_outdated and key not in shown_meanwhile and (other.cancel() or other.done()):
                if other.cancelled():
                    other.set_running_or_notify_cancel()  # wakes those who wait for it
                del self._outcomes[key]
        self._queue = deque(each for each in self._queue if not each[1].cancelled())  # frees their arrays
        if sum(not other.done() for other in self._outcomes.values()) >= self._most_unfinished:
            raise Busy("The server is computing results for other readers.", BUSY_S)
        done = [key for key, other in self._outcomes.items() if other.done()]
        for key in done[: max(0, len(done) + 1 - self._kept)]:
            del self._outcomes[key]
        outcome = self._outcomes[asked] = _Outcome(parts)
        self._queue.append((asked, outcome, compute))
        if not self._is_working:
            Thread(target=self._work, name="background results", daemon=True).start()
            self._is_working = True
        return outcome

    def _work(self) -> None:
        sys.setswitchinterval(SWITCH_S)  # of the whole process
        while True:
            with self._lock:
                if not self._queue:
                    self._is_working = False
                    return
                key, outcome, compute = self._queue.popleft()
                outcome.set_running_or_notify_cancel()  # from now on it cannot be cancelled
            try:
                outcome.set_result(SHARED.once(key, partial(_told, compute), outcome.hear))
            except BaseException as error:
                outcome.set_exception(error)
            del outcome, compute  # frees their arrays


_computation = local()


def part_done() -> None:
    """Tell readers that one more part of this thread's computation is done."""
    tell = getattr(_computation, "tell", None)
    if tell is not None:
        _computation.done += 1
        tell(_computation.done)


def _told(compute: Callable[[], Result], tell: Tell) -> Result:
    _computation.tell, _computation.done = tell, 0
    return compute()


def _is_finished(outcome: _Outcome) -> bool:
    return outcome.done() and not outcome.cancelled() and outcome.exception() is None


LONG = BackgroundResults()
SHORT = BackgroundResults()
"""A queue for results of at most a second, which should not wait behind those of a minute."""
STRANGERS = BackgroundResults(most_unfinished=MOST_FOR_STRANGERS)
"""The queue of readers who are not members, so that members neither wait for them nor lose kept results."""


def queue_of(key: Key, members: BackgroundResults) -> BackgroundResults:
    """Return the queue for this result: that of `members`, or that of strangers."""
    return STRANGERS if key.is_published else members


def progress_of(key: Key) -> ComputationProgress | None:
    """Return how far the result is; None unless this process waits for it."""
    return next((found for queue in (LONG, SHORT, STRANGERS) if (found := queue.progress(key))), None)
