"""Results that take longer than a page should wait: computed once in the background, kept while current.

A page shows its point values at once, and what comes from here when it is there: see `views.answers.stamp`.
Until then it may show what there was last, as being of that revision: see `latest_before`.
"""

import sys
from collections import deque
from collections.abc import Callable, Hashable
from concurrent.futures import Future, wait
from threading import Lock, Thread
from typing import Any, NamedTuple, TypeVar

from django.db import connection

Result = TypeVar("Result")

KEPT_RESULTS = 64
SWITCH_S = 0.0005
"""Seconds after which a computing thread hands the interpreter over. A request lets go of it hundreds of
times, and with Python's 5 ms would wait as long each time."""


class Key(NamedTuple):
    """What a result is of. Two requests with equal keys are the same computation."""

    project: int
    """Primary key."""
    revision: int
    request: Hashable
    """All else that the result depends on, such as the choices of the page's reader."""


class Pending(NamedTuple):
    """In place of a result that is not there yet: ask again."""


class BackgroundResults:
    """One thread computes, one result after the other; it ends when nothing is left to do.

    One thread, because the machine's other cores are the web server's and the workers'.
    """

    def __init__(self, kept: int = KEPT_RESULTS) -> None:
        self._kept = kept
        self._lock = Lock()
        self._outcomes: dict[Key, Future[Any]] = {}
        """In the order in which they were asked for."""
        self._line: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        """What nobody has begun to compute."""
        self._is_working = False

    def ready_or_start(
        self, key: Key, compute: Callable[[], Result], wait_s: float | None = 0.3
    ) -> Result | Pending:
        """The result, or `Pending` if it takes longer than `wait_s` from now; it is then computed meanwhile.
        None waits for it however long it takes.

        Whatever `compute` raises is raised here, each time that somebody asks. It runs in another thread, so
        it works on arrays that nobody changes and does not touch the database. What waits in line for an
        earlier revision of the same project is not computed any more.

        Within a transaction the result is computed at once and not kept: it may stand on what is rolled back.
        """
        if connection.in_atomic_block:
            return compute()
        with self._lock:
            outcome = self._outcomes.get(key)
            if outcome is None:
                outcome = self._start(key, compute)
        wait([outcome], timeout=wait_s)
        if not outcome.done() or outcome.cancelled():
            return Pending()
        result: Result = outcome.result()
        return result

    def is_pending(self, key: Key) -> bool:
        """Whether it is being computed, or waits in line for that, in this process."""
        with self._lock:
            outcome = self._outcomes.get(key)
            return outcome is not None and not outcome.done()

    def latest_before(self, key: Key) -> Any | None:
        """The result of the latest earlier revision, with all else equal; None if none is there."""
        with self._lock:
            earlier = self._latest_finished(before=key.revision).get((key.project, key.request))
            return self._outcomes[earlier].result() if earlier else None

    def _latest_finished(self, *, before: int) -> dict[tuple[int, Hashable], Key]:
        """The latest revision before that one for which something was computed without error, of each project
        and request."""
        finished = (key for key, outcome in self._outcomes.items() if _is_finished(outcome))
        earlier = sorted((key for key in finished if key.revision < before), key=lambda key: key.revision)
        return {(key.project, key.request): key for key in earlier}

    def _start(self, asked: Key, compute: Callable[[], Any]) -> Future[Any]:
        shown_meanwhile = set(self._latest_finished(before=asked.revision).values())
        for key, other in list(self._outcomes.items()):
            is_outdated = key.project == asked.project and key.revision < asked.revision
            if is_outdated and key not in shown_meanwhile and (other.cancel() or other.done()):
                del self._outcomes[key]
        # What was given up need not be passed over, and holds arrays.
        self._line = deque(each for each in self._line if not each[0].cancelled())
        done = [key for key, other in self._outcomes.items() if other.done()]
        for key in done[: max(0, len(done) + 1 - self._kept)]:
            del self._outcomes[key]
        outcome = self._outcomes[asked] = Future()
        self._line.append((outcome, compute))
        if not self._is_working:
            Thread(target=self._work, name="background results", daemon=True).start()
            self._is_working = True
        return outcome

    def _work(self) -> None:
        sys.setswitchinterval(SWITCH_S)  # of the whole process
        while True:
            with self._lock:
                if not self._line:
                    self._is_working = False
                    return
                outcome, compute = self._line.popleft()
            if not outcome.set_running_or_notify_cancel():
                continue
            try:
                outcome.set_result(compute())
            except BaseException as error:
                outcome.set_exception(error)


def _is_finished(outcome: Future[Any]) -> bool:
    return outcome.done() and not outcome.cancelled() and outcome.exception() is None


LONG = BackgroundResults()
SHORT = BackgroundResults()
"""For what takes a second at most, and would otherwise stand in line behind what takes a minute."""
ready_or_start = LONG.ready_or_start


def is_pending(key: Key) -> bool:
    """Whether it is being computed, or waits in line for that, in this process."""
    return LONG.is_pending(key) or SHORT.is_pending(key)
