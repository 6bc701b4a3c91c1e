"""A model behind an OpenAI-compatible endpoint, sent many requests at once from a thread of its own."""

import asyncio
import logging
import math
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from enum import Enum
from queue import SimpleQueue
from threading import Thread

import tenacity

from scoring.contract.evaluator import EvaluatorError
from scoring.contract.requests import Address, Arrivals, Reply, Request
from scoring.llm import openai_format
from scoring.llm.capabilities import Abilities, unable
from scoring.llm.errors import (
    failure,
    is_passing,
    is_too_many,
    is_unreachable,
    may_concern_one_prompt,
    pause_s,
    refusal_of_this_prompt,
    requested_pause_s,
)
from scoring.llm.one_request import ask, client_for, secret_of
from scoring.llm.rate_limits import Limits
from scoring.prompts.marks import Unread

_AT_FIRST = 8


class Window:
    """Requests under way at one endpoint from this process, and how many there may be.

    Grows by one for each answer until the first sign of overload, then by one for each round of answers;
    halves at a sign of overload, at most once a round (additive increase, multiplicative decrease: Chiu and
    Jain 1989, Jacobson 1988). Thread-safe.
    """

    def __init__(self) -> None:
        self.most = float(_AT_FIRST)
        self._under_way = 0
        self._is_full = False
        self._was_too_much = False
        self._cut_at = -math.inf
        self._closed_until = -math.inf
        self._answered_at = -math.inf
        self._lock = threading.Lock()

    def enter(self, bound: int) -> bool:
        """Take a place if one is free, of at most `bound`; the caller must `leave` it."""
        with self._lock:
            if self._under_way >= min(int(self.most), bound) or time.monotonic() < self._closed_until:
                return False
            self._under_way += 1
            self._is_full = self._under_way >= int(self.most)
            return True

    def leave(self) -> None:
        with self._lock:
            self._under_way -= 1

    def answered(self, bound: int) -> None:
        """Grow after an answer, unless the window was not full."""
        with self._lock:
            self._answered_at = time.monotonic()
            if self._is_full and self.most < bound:
                self.most += 1 / self.most if self._was_too_much else 1

    def too_many(self, sent_at: float, closed_s: float) -> None:
        """Shrink after an overload of a request sent at `sent_at` (monotonic); close for `closed_s`."""
        with self._lock:
            now = time.monotonic()
            self._closed_until = max(self._closed_until, now + closed_s)
            if sent_at > self._cut_at:
                self.most, self._was_too_much, self._cut_at = max(1.0, self.most / 2), True, now

    def silent_s(self, since: float) -> float:
        """Return seconds since `since` (monotonic) or since the latest answer, whichever is later."""
        return time.monotonic() - max(since, self._answered_at)


_windows: dict[str, Window] = {}
os.register_at_fork(after_in_child=lambda: _windows.clear())


def window_of(base_url: str) -> Window:
    """Return the window of an endpoint, one per process."""
    return _windows.setdefault(base_url, Window())


logger = logging.getLogger(__name__)

PATIENCE_S = 120.0
"""Seconds of retrying an endpoint that answers nobody, or one request that keeps failing."""
UNREACHABLE_S = 20.0
"""Seconds of retrying an endpoint that cannot be connected to. A process of the worker waits meanwhile."""
_POLL_S = 0.05
"""Seconds after which a waiting request checks again for room or an open endpoint."""
_CANCEL_AGAIN_S = 0.5
"""Seconds after which what is still under way is cancelled once more."""
_ALL_REFUSED = 32
"""Refusals without any answer after which the prompts cannot be the reason."""
_NO_LIMITS = Limits()


@dataclass(frozen=True)
class HostedModel:
    """A model behind an endpoint.

    Sends as many requests at once as the endpoint takes, at most `most_in_flight`. Retries what fails for the
    moment (rate limits, outages, broken connections, timeouts) with growing pauses, or when the endpoint
    says, for at most `patience_s` seconds, and an endpoint that cannot be reached for UNREACHABLE_S.
    """

    address: Address
    key: str | None = field(default=None, repr=False)
    """The API key; None to read it from the environment variable that the address names."""
    abilities: Abilities | None = None
    """The model's capabilities; None if unknown, so that only the plainest requests are sent."""
    most_in_flight: int = 32
    limits: Limits = _NO_LIMITS
    patience_s: float = field(default_factory=lambda: PATIENCE_S)
    has_answered: bool = False
    """True if the model is known to answer. Then it may refuse every prompt of a call without failing."""

    def __post_init__(self) -> None:
        if self.most_in_flight < 1:
            raise ValueError(f"most_in_flight: found {self.most_in_flight}, expected 1 or more")

    def replies(self, requests: Sequence[Request]) -> list[Reply]:
        """Return one reply per request, in order. Raises as `arrivals` does."""
        with closing(self.arrivals(requests)) as lots:
            came = {place: reply for lot in lots for place, reply in lot}
        return [came[place] for place in range(len(requests))]

    def arrivals(self, requests: Sequence[Request]) -> Arrivals:
        """Yield lists of (place in `requests`, reply) as replies arrive, in the calling thread.

        Raises EvaluatorError if a reply cannot be had: no further request is sent, and replies under way are
        awaited and yielded first. It is not permanent for outages, rate limits and timeouts, else permanent.
        Closing the iterator cancels what is under way; a loop that may end early must close it
        (contextlib.closing).
        """
        if not requests:
            return
        if self.abilities and (words := unable(self.abilities, requests, self.address.model)):
            raise EvaluatorError(words, permanent=True)
        sending = _Sending(self, secret_of(self.address, self.key))
        with sending.of(requests) as came:
            yield from came
        if sending.failure:
            raise sending.failure


class _Abandoned(Exception):
    """Another request failed for good, so this one is not sent."""


class _CallEnded(Enum):
    """The mark of a call that has brought all its replies or failed."""

    ENDED = "ended"


class _Sending:
    """Requests under way to one model, in an event loop on a thread of its own."""

    def __init__(self, model: HostedModel, secret: str) -> None:
        self._model, self._address, self._secret = model, model.address, secret
        self._abilities = model.abilities or Abilities()
        self._has_answered = model.has_answered
        self.failure: Exception | None = None
        """The reason why some requests were not answered; known when all replies have arrived."""

    @contextmanager
    def of(self, requests: Sequence[Request]) -> Iterator[Iterator[list[tuple[int, Reply]]]]:
        """Yield an iterator of places and replies as they arrive; leaving the block cancels the rest."""
        self._came: SimpleQueue[tuple[int, Reply] | _CallEnded | None] = SimpleQueue()
        self._loop = asyncio.new_event_loop()
        self._all: asyncio.Task[None] | None = None
        self._is_over = False
        thread = Thread(target=self._run, args=(requests,), name="asking", daemon=True)
        thread.start()
        try:
            yield self._arriving()
        finally:
            self._is_over = True
            while thread.is_alive():  # a library may swallow a cancellation while it connects
                with suppress(RuntimeError):  # the loop was done first
                    self._loop.call_soon_threadsafe(self._cancel)
                thread.join(_CANCEL_AGAIN_S)

    def _arriving(self) -> Iterator[list[tuple[int, Reply]]]:
        """Yield everything that arrived since the last step, at least one reply.

        Only the next step lets other calls take the places of those that have ended. So no more requests are
        without a stored reply than may be under way, even if the caller stores slowly.
        """
        is_over = False
        while not is_over:
            lot = [self._came.get()]
            while not self._came.empty():
                lot.append(self._came.get())
            if replies := [each for each in lot if isinstance(each, tuple)]:
                yield replies
            is_over = None in lot
            with suppress(RuntimeError):  # the loop was done first
                self._loop.call_soon_threadsafe(self._free, lot.count(_CallEnded.ENDED))

    def _free(self, ended: int) -> None:
        self._begun -= ended
        if self._all and not self._all.done():
            self._notifying = self._loop.create_task(self._notify())

    def _cancel(self) -> None:
        for task in asyncio.all_tasks(self._loop):
            task.cancel()

    def _run(self, requests: Sequence[Request]) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._send(requests))
        except asyncio.CancelledError:
            pass
        except Exception as error:
            self.failure = self.failure or error
        finally:
            self._came.put(None)

    async def _send(self, requests: Sequence[Request]) -> None:
        self._all = asyncio.current_task()
        self._window = window_of(self._address.base_url)
        self._changed = asyncio.Condition()
        self._begun = 0
        self._refused: list[tuple[Sequence[int], Exception]] = []
        self._client = client_for(self._address, self._secret)
        async with self._client, asyncio.TaskGroup() as group:
            for places in _calls(requests, merged=self._abilities.n is True):
                await self._until(self._may_begin)
                if self.failure or self._is_over:
                    break
                self._begun += 1
                group.create_task(self._answer(places, requests[places[0]]))
        self._report_refusals()

    def _may_begin(self) -> bool:
        return bool(self.failure) or self._begun < min(int(self._window.most), self._model.most_in_flight)

    async def _until(self, condition: Callable[[], bool]) -> None:
        async with self._changed:
            while not condition():
                with suppress(TimeoutError):
                    async with asyncio.timeout(_POLL_S):  # wait_for may swallow a cancellation
                        await self._changed.wait()

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def _answer(self, places: Sequence[int], request: Request) -> None:
        try:
            while places:  # an endpoint may give fewer replies than requested
                replies = await self._replies(request, len(places))
                for came in zip(places, replies, strict=False):
                    self._came.put(came)
                places = places[len(replies) :]
        except _Abandoned:
            pass
        except Exception as error:
            self._failed(places, failure(error, self._address, self._secret))
        finally:
            self._came.put(_CallEnded.ENDED)

    def _failed(self, places: Sequence[int], error: Exception) -> None:
        if may_concern_one_prompt(error.__cause__):
            self._refused.append((places, error))
            if self._has_answered or len(self._refused) < _ALL_REFUSED:
                return
        self.failure = self.failure or error

    def _report_refusals(self) -> None:
        """Turn refusals into replies if the model answered other prompts, else into a failure."""
        for places, error in self._refused:
            if not self._has_answered:
                self.failure = self.failure or error
                return
            logger.warning("%s prompts are refused: %s", len(places), error)
            for place in places:
                self._came.put((place, Reply("", Unread.REFUSED)))

    async def _replies(self, request: Request, choices: int) -> list[Reply]:
        """Return at least one reply, at most `choices`."""
        import openai

        try:
            answer = await self._with_retries(request, choices)
        except openai.APIStatusError as error:
            if reply := refusal_of_this_prompt(error):
                return [reply] * choices
            raise
        try:
            return openai_format.replies(answer, request)
        except ValueError as error:
            raise EvaluatorError(
                f"{self._address.base_url} does not answer as an OpenAI-compatible endpoint: {error}",
                permanent=True,
            ) from error

    async def _with_retries(self, request: Request, choices: int) -> object:
        """Return the answer, retrying as long as `patience_s` allows."""
        began, waited = 0.0, 0.0

        async def once() -> object:
            nonlocal began, waited
            waits_since = time.monotonic()
            await self._may_send(request, choices)
            began = began or time.monotonic()
            waited += time.monotonic() - waits_since
            return await self._once(request, choices)

        def is_enough(state: tenacity.RetryCallState) -> bool:
            own_s = (state.seconds_since_start or 0.0) - waited
            silent_s = self._window.silent_s(began)
            if state.outcome and is_unreachable(state.outcome.exception()) and silent_s > UNREACHABLE_S:
                return True
            return max(own_s, silent_s) + state.upcoming_sleep > self._model.patience_s

        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception(is_passing),
            wait=pause_s,
            stop=is_enough,
            sleep=self._pause,
            reraise=True,
        )
        return await retrying(once)

    async def _may_send(self, request: Request, choices: int) -> None:
        """Wait for the rate limits and for a place in the window."""
        limits = self._model.limits
        if limits.are_set:
            waits = limits.waits(self._address.base_url, request, choices)
            while (seconds := await asyncio.to_thread(next, waits, None)) is not None:
                await self._pause(seconds)
                if self.failure:
                    raise _Abandoned
        await self._until(lambda: bool(self.failure) or self._window.enter(self._model.most_in_flight))
        if self.failure:
            raise _Abandoned

    async def _once(self, request: Request, choices: int) -> object:
        """Return the answer of one attempt, and let the window learn from its outcome."""
        sent_at = time.monotonic()
        try:
            async with asyncio.timeout(self._address.timeout_s):
                answer = await ask(self._client, self._address, request, self._abilities.manner, choices)
        except Exception as error:
            if is_too_many(error):
                closed_s = min(requested_pause_s(error) or 0.0, self._model.patience_s)
                self._window.too_many(sent_at, closed_s)
            raise
        else:
            self._window.answered(self._model.most_in_flight)
            self._has_answered = True
            return answer
        finally:
            self._window.leave()
            await self._notify()

    async def _pause(self, seconds: float) -> None:
        ends = time.monotonic() + seconds
        await self._until(lambda: bool(self.failure) or time.monotonic() >= ends)


def _calls(requests: Sequence[Request], *, merged: bool) -> list[list[int]]:
    """Return the places of the requests that go out in one call.

    With `merged`, requests that differ only in `sample` share a call, except at temperature 0, where some
    servers refuse to give several replies.
    """
    calls: dict[object, list[int]] = {}
    for place, request in enumerate(requests):
        alike = replace(request, sample=0) if merged and request.temperature else place
        calls.setdefault(alike, []).append(place)
    return list(calls.values())
