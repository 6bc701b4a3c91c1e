"""Requests under way: an event loop on a thread of its own, and what comes of it."""

import asyncio
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from queue import SimpleQueue
from threading import Thread

import tenacity

from scoring.asking import wire
from scoring.asking.abilities import Abilities
from scoring.asking.congestion import window_of
from scoring.asking.failures import failure, may_concern_one_prompt, refusal_of_this_prompt
from scoring.asking.limits import Limits
from scoring.asking.request import Address, Reply, Request
from scoring.asking.retrying import asked_pause_s, is_passing, is_too_many, pause_s
from scoring.asking.talking import Talk, client_for
from scoring.contract import EvaluatorError
from scoring.judge.marks import Unread

logger = logging.getLogger(__name__)

_LOOK_S = 0.05
"""How often a waiting request looks whether another thread made room, or the endpoint is open again."""
_ALL_REFUSED = 32
"""Refusals without any answer after which it is plain that not the prompts are the reason."""


class _Abandoned(Exception):
    """Another request failed for good, so this one is not sent (again)."""


@dataclass
class Sending:
    """One lot of requests to one model."""

    address: Address
    secret: str = field(repr=False)
    abilities: Abilities
    most_in_flight: int
    limits: Limits
    patience_s: float
    has_answered: bool
    """Whether the model has answered such requests before: then what it refuses is the prompts' affair."""
    failure: Exception | None = None
    """Why some were not answered; known when all has come."""

    @contextmanager
    def of(self, requests: Sequence[Request]) -> Iterator[Iterator[list[tuple[int, Reply]]]]:
        """Places and replies, as they come; leaving the block early breaks off the rest."""
        self._came: SimpleQueue[tuple[int, Reply] | None] = SimpleQueue()
        self._loop = asyncio.new_event_loop()
        self._all: asyncio.Task[None] | None = None
        self._is_over = False
        thread = Thread(target=self._run, args=(requests,), name="asking", daemon=True)
        thread.start()
        try:
            yield self._coming()
        finally:
            self._is_over = True
            with suppress(RuntimeError):  # the loop was done first
                self._loop.call_soon_threadsafe(self._break_off)
            thread.join()

    def _coming(self) -> Iterator[list[tuple[int, Reply]]]:
        """All that has come since the last look, one at least."""
        while (first := self._came.get()) is not None:
            lot = [first]
            while not self._came.empty():
                if (another := self._came.get()) is None:
                    yield lot
                    return
                lot.append(another)
            yield lot

    def _break_off(self) -> None:
        if self._all:
            self._all.cancel()

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
        self._window = window_of(self.address.base_url)
        self._changed = asyncio.Condition()
        self._begun = 0
        self._refused: list[tuple[Sequence[int], Exception]] = []
        client = client_for(self.address, self.secret)
        self._talk = Talk(client, self.address, self.abilities.manner)
        async with client, asyncio.TaskGroup() as group:
            for places in _calls(requests, merged=self.abilities.n is True):
                await self._until(self._may_begin)
                if self.failure or self._is_over:
                    break
                self._begun += 1
                group.create_task(self._answer(places, requests[places[0]]))
        self._tell_refusals()

    def _may_begin(self) -> bool:
        return bool(self.failure) or self._begun < min(int(self._window.most), self.most_in_flight)

    async def _until(self, condition: Callable[[], bool]) -> None:
        async with self._changed:
            while not condition():
                with suppress(TimeoutError):
                    async with asyncio.timeout(_LOOK_S):  # wait_for may swallow a cancellation
                        await self._changed.wait()

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def _answer(self, places: Sequence[int], request: Request) -> None:
        try:
            while places:  # an endpoint may give fewer replies than it was asked for
                replies = await self._replies(request, len(places))
                for came in zip(places, replies, strict=False):
                    self._came.put(came)
                places = places[len(replies) :]
        except _Abandoned:
            pass
        except Exception as error:
            self._failed(places, failure(error, self.address, self.secret))
        finally:
            self._begun -= 1
            await self._notify()

    def _failed(self, places: Sequence[int], error: Exception) -> None:
        if may_concern_one_prompt(error.__cause__):
            self._refused.append((places, error))
            if self.has_answered or len(self._refused) < _ALL_REFUSED:
                return
        self.failure = self.failure or error

    def _tell_refusals(self) -> None:
        """What was refused while others were answered is a refusal of these prompts."""
        for places, error in self._refused:
            if not self.has_answered:
                self.failure = self.failure or error
                return
            logger.warning("%s prompts are refused: %s", len(places), error)
            for place in places:
                self._came.put((place, Reply("", Unread.REFUSED)))

    async def _replies(self, request: Request, choices: int) -> list[Reply]:
        """At least one."""
        import openai

        try:
            answer = await self._patiently(request, choices)
        except openai.APIStatusError as error:
            if reply := refusal_of_this_prompt(error):
                return [reply] * choices
            raise
        try:
            return wire.replies(answer, request)
        except ValueError as error:
            raise EvaluatorError(
                f"{self.address.base_url} does not answer as an OpenAI-compatible endpoint: {error}",
                permanent=True,
            ) from error

    async def _patiently(self, request: Request, choices: int) -> object:
        """The answer, after as many tries as it takes."""
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
            return max(own_s, self._window.silent_s(began)) + state.upcoming_sleep > self.patience_s

        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception(is_passing),
            wait=pause_s,
            stop=is_enough,
            sleep=self._pause,
            reraise=True,
        )
        return await retrying(once)

    async def _may_send(self, request: Request, choices: int) -> None:
        """Waits for the limits and for a place in the window."""
        if self.limits.are_set:
            waits = self.limits.waits(self.address.base_url, request, choices)
            while (seconds := await asyncio.to_thread(next, waits, None)) is not None:
                await self._pause(seconds)
                if self.failure:
                    raise _Abandoned
        await self._until(lambda: bool(self.failure) or self._window.enter(self.most_in_flight))
        if self.failure:
            raise _Abandoned

    async def _once(self, request: Request, choices: int) -> object:
        """One try in a place of the window, which learns from how it went."""
        sent_at = time.monotonic()
        try:
            async with asyncio.timeout(self.address.timeout_s):
                answer = await self._talk.ask(request, choices)
        except Exception as error:
            if is_too_many(error):
                closed_s = min(asked_pause_s(error) or 0.0, self.patience_s)
                self._window.too_many(sent_at, closed_s)
            raise
        else:
            self._window.answered(self.most_in_flight)
            self.has_answered = True
            return answer
        finally:
            self._window.leave()
            await self._notify()

    async def _pause(self, seconds: float) -> None:
        ends = time.monotonic() + seconds
        await self._until(lambda: bool(self.failure) or time.monotonic() >= ends)


def _calls(requests: Sequence[Request], *, merged: bool) -> list[list[int]]:
    """Places of the requests that go out in one call: merged are draws that differ in `sample` alone.

    Not at temperature 0, where some servers refuse to give several replies.
    """
    calls: dict[object, list[int]] = {}
    for place, request in enumerate(requests):
        alike = replace(request, sample=0) if merged and request.temperature else place
        calls.setdefault(alike, []).append(place)
    return list(calls.values())
