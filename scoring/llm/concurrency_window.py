"""The number of requests that an endpoint takes at once, learnt from its answers."""

import math
import os
import threading
import time

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
