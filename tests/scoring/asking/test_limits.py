"""Limits a minute, counted by several processes together."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from redis import Redis

from scoring.asking import limits as limits_module
from scoring.asking.limits import Limits, expected_tokens, in_folder, in_memory, in_redis
from scoring.asking.request import Request
from scoring.asking.sender import Sender
from scoring.contract import EvaluatorError

URL = "http://127.0.0.1/v1"
SHORT = Request("p" * 100, max_tokens=10)
ROOT = Path(__file__).resolve().parents[3]
TAKES_WHAT_THERE_IS = """
import sys, time
from pathlib import Path
from redis import Redis
from scoring.asking.limits import Limits, in_folder, in_redis
from scoring.asking.request import Request
kind, place = sys.argv[1:]
stores = in_folder(Path(place)) if kind == "folder" else in_redis(Redis(port=int(place)))
limits = Limits(requests_per_minute=600, stores=stores)
taken, began = 0, time.time()
while next(limits.waits("http://127.0.0.1/v1", Request("p")), None) is None:
    taken += 1
print(taken, began, time.time())
"""


@pytest.fixture(autouse=True)
def nothing_counted(monkeypatch):
    monkeypatch.setattr(limits_module, "_in_this_process", {})


def is_taken(limits, request=SHORT):
    return next(limits.waits(URL, request), None) is None


def taken_by_two_processes(kind, place):
    """How many requests both took together until each was refused one, and for how many seconds in all."""
    command = [sys.executable, "-c", TAKES_WHAT_THERE_IS, kind, str(place)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    processes = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) for _ in range(2)
    ]
    told = [[float(each) for each in process.communicate()[0].split()] for process in processes]
    counts, begins, ends = zip(*told, strict=True)
    return sum(counts), max(ends) - min(begins)


class TestTogether:
    def test_two_processes_share_a_file(self, tmp_path):
        count, seconds = taken_by_two_processes("folder", tmp_path)
        assert 60 <= count <= 60 + 9 * seconds + 1

    def test_two_processes_share_redis(self, redis_port):
        count, seconds = taken_by_two_processes("redis", redis_port)
        assert 60 <= count <= 60 + 9 * seconds + 1

    def test_what_one_took_the_other_waits_for(self, tmp_path, redis_port):
        for stores in (in_memory, in_folder(tmp_path), in_redis(Redis(port=redis_port))):
            one, other = Limits(1, stores=stores), Limits(1, stores=stores)
            assert is_taken(one)
            [wait] = [next(other.waits(URL, SHORT))]
            assert 50 < wait <= 61

    def test_what_cannot_be_counted_is_not_sent(self, tmp_path, server):
        limits = Limits(10, stores=in_folder(tmp_path / "gone"))
        with pytest.raises(EvaluatorError, match="cannot be counted") as raised:
            Sender(server.address(), limits=limits).replies([SHORT])
        assert not raised.value.permanent
        assert server.asked == []

    def test_endpoints_are_counted_apart(self, tmp_path):
        limits = Limits(1, stores=in_folder(tmp_path))
        assert is_taken(limits)
        assert next(limits.waits("http://127.0.0.2/v1", SHORT), None) is None
        assert not is_taken(limits)


class TestTokens:
    def test_a_prompt_and_its_longest_replies_count(self):
        assert expected_tokens(Request("word " * 100, max_tokens=10)) == 125 + 10
        assert expected_tokens(Request("word " * 100, max_tokens=10), choices=3) == 125 + 30

    def test_a_request_larger_than_a_helping_is_taken_in_several(self):
        limits = Limits(tokens_per_minute=200)
        waits = limits.waits(URL, SHORT)
        assert 0 < next(waits) < 61

    def test_one_that_no_minute_has_room_for_is_refused_in_words(self):
        with pytest.raises(EvaluatorError, match=r"limit for .* is 20 a minute: raise the limit") as raised:
            is_taken(Limits(tokens_per_minute=20))
        assert raised.value.permanent

    @settings(max_examples=60, deadline=None)
    @given(st.integers(1, 5000), st.lists(st.tuples(st.integers(1, 60), st.integers(0, 40)), max_size=80))
    def test_no_minute_sees_more_than_the_limit(self, limit, arrivals):
        """Arrivals of so many units, so many seconds apart, against a clock of our own."""
        store, now, taken = limits_module.InMemoryStateStore(), 1_000_000.0, []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(limits_module.time, "time_ns", lambda: int(now * 1e9))
            for units, pause in arrivals:
                now += pause
                at_once = min(units, max(1, limit // 10))
                for wait in limits_module._waits(store, limit, at_once):
                    now += wait
                taken.append((now, at_once))
        for moment, _ in taken:
            assert sum(units for other, units in taken if moment - 60 < other <= moment) <= limit


class TestSending:
    def test_a_sender_keeps_them(self, server):
        limits = Limits(requests_per_minute=1)
        assert len(Sender(server.address(), limits=limits).replies([SHORT])) == 1
        assert next(limits.waits(server.base_url, SHORT)) > 0

    def test_waiting_for_the_limit_is_broken_off_when_it_is_closed(self, server):
        limits = Limits(requests_per_minute=10)
        answers = Sender(server.address(), limits=limits).answers([Request("a", max_tokens=1)] * 3)
        next(answers)
        began = time.monotonic()
        answers.close()
        assert time.monotonic() - began < 5
        assert len(server.asked) == 1
