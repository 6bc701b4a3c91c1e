"""Requests and tokens a minute at an endpoint, counted together by all processes."""

import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from pyrate_limiter import Duration, InMemoryStateStore, Rate, RateItem, StateBucket, StateStore, TokenBucket
from pyrate_limiter import WallClock as _WallClock

from scoring.contract.evaluator import EvaluatorError
from scoring.contract.requests import Request
from scoring.prompts.prompt_length import at_most_tokens

Stores = Callable[[str], StateStore]
"""Bucket's name -> the store of its state."""

_AT_ONCE = 10
"""A bucket holds a tenth of a minute's limit and fills by the other nine tenths each minute.

So no minute exceeds the limit, wherever it begins.
"""
_BUSY_S = 30.0
_SCHEMA = "CREATE TABLE IF NOT EXISTS bucket (name TEXT PRIMARY KEY, state TEXT NOT NULL)"

_in_this_process: dict[str, StateStore] = {}


def in_memory(name: str) -> StateStore:
    """Return a store for one process."""
    return _in_this_process.setdefault(name, InMemoryStateStore())


def in_folder(folder: Path) -> Stores:
    """Return stores for all processes of one machine: a small SQLite file in this folder."""
    return lambda name: _FileStore(folder / "rate_limits.sqlite3", name)


@cache
def in_redis(url: str) -> Stores:
    """Return stores for all processes that reach this Redis; their clocks must agree."""
    from pyrate_limiter import RedisStateStore
    from redis import Redis

    client = Redis.from_url(url)
    return lambda name: RedisStateStore(client, f"rate_limit:{name}")


@dataclass(frozen=True)
class Limits:
    """An endpoint's limits a minute; None: no limit."""

    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    stores: Stores = field(default=in_memory, repr=False)

    @property
    def are_set(self) -> bool:
        return bool(self.requests_per_minute or self.tokens_per_minute)

    def waits(self, base_url: str, request: Request, choices: int = 1) -> Iterator[float]:
        """Yield seconds to wait until the request may be sent; it is counted by then.

        A request counts for the estimated tokens of its prompt and for its longest replies. Raises
        EvaluatorError: permanent if that exceeds the limit of a minute, else if the store fails.
        """
        tokens = expected_tokens(request, choices)
        if self.tokens_per_minute and tokens > self.tokens_per_minute:
            raise EvaluatorError(
                f"a request takes about {tokens} tokens, and the limit for {base_url} is "
                f"{self.tokens_per_minute} a minute: raise the limit, or use fewer or shorter examples",
                permanent=True,
            )
        try:
            for unit, limit, units in (
                ("requests", self.requests_per_minute, 1),
                ("tokens", self.tokens_per_minute, tokens),
            ):
                if limit:
                    yield from _waits(self.stores(f"{unit}:{base_url}"), limit, units)
        except Exception as error:  # of whatever keeps the count
            raise EvaluatorError(
                f"requests to {base_url} cannot be counted against their limit: {error}", permanent=False
            ) from error


def expected_tokens(request: Request, choices: int = 1) -> int:
    """Return half of the safe bound, which is what English takes. More shows in the endpoint's 429."""
    return at_most_tokens(request.system + request.prompt) // 2 + request.max_tokens * choices


def _waits(store: StateStore, limit: int, units: int) -> Iterator[float]:
    """Yield waits while taking the units in parts that the bucket holds."""
    at_once = max(1, limit // _AT_ONCE)
    rate = Rate(max(1, limit - at_once), Duration.MINUTE, burst=at_once)
    bucket = StateBucket([rate], TokenBucket(), store, _WallClock())
    while units:
        item = RateItem("", time.time_ns() // 1_000_000, weight=min(units, at_once))
        if bucket.put(item):
            units -= item.weight
        else:
            wait = bucket.waiting(item)
            assert isinstance(wait, int)
            yield wait / 1000


class _FileStore(StateStore):
    """A bucket's state in a row of a file, locked while it is read and changed."""

    default_clock = _WallClock()

    def __init__(self, file: Path, name: str) -> None:
        self._file, self._name = file, name

    def check(self, algorithm: Any, rates: list[Rate], now: int, weight: int) -> Any:
        with closing(self._opened()) as connection:
            connection.execute("BEGIN IMMEDIATE")
            before = self._state(connection, algorithm, rates)
            after, decision = algorithm.step(rates, before, now, weight)
            connection.execute("REPLACE INTO bucket VALUES (?, ?)", (self._name, json.dumps(after)))
            connection.execute("COMMIT")
            return decision

    def read(self, algorithm: Any, rates: list[Rate]) -> Any:
        with closing(self._opened()) as connection:
            return self._state(connection, algorithm, rates)

    def reset(self) -> None:
        with closing(self._opened()) as connection:
            connection.execute("DELETE FROM bucket WHERE name = ?", (self._name,))

    def _opened(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._file, timeout=_BUSY_S, isolation_level=None)
        connection.execute("PRAGMA synchronous = OFF")  # a power cut may forget the minute before it
        connection.execute(_SCHEMA)
        return connection

    def _state(self, connection: sqlite3.Connection, algorithm: Any, rates: list[Rate]) -> Any:
        row = connection.execute("SELECT state FROM bucket WHERE name = ?", (self._name,)).fetchone()
        return tuple(json.loads(row[0])) if row else algorithm.initial(rates)
