"""Rate limits per minute, shared by several processes."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.contract.evaluator import EvaluatorError
from scoring.contract.requests import Request
from scoring.llm import rate_limits as limits_module
from scoring.llm.client import HostedModel
from scoring.llm.rate_limits import Limits, expected_tokens, in_folder, in_memory, in_redis

URL = "http://127.0.0.1/v1"
SHORT = Request("p" * 100, max_tokens=10)
ROOT = Path(__file__).resolve().parents[3]
TAKE_ALL = """
import sys, time
from pathlib import Path
from scoring.llm.rate_limits import Limits, in_folder, in_redis
from scoring.contract.requests import Request
kind, place = sys.argv[1:]
stores = in_folder(Path(place)) if kind == "folder" else in_redis(place)
limits = Limits(requests_per_minute=600, stores=stores)
taken, began = 0, time.time()
while next(limits.waits("http://127.0.0.1/v1", Request("p")), None) is None:
    taken += 1
print(taken, began, time.time())
"""


@pytest.fixture(autouse=True)
def reset_counts(monkeypatch):
    monkeypatch.setattr(limits_module, "_in_this_process", {})


def is_taken(limits, request=SHORT):
    return next(limits.waits(URL, request), None) is None


def taken_by_two_processes(kind, place):
    """Return how many requests both processes took until refused, and the seconds they needed."""
    command = [sys.executable, "-c", TAKE_ALL, kind, str(place)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    processes = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) for _ in range(2)
    ]
    told = [[float(each) for each in process.communicate()[0].split()] for process in processes]
    counts, begins, ends = zip(*told, strict=True)
    return sum(counts), max(ends) - min(begins)


class TestSharedLimits:
    def test_processes_share_a_file_of_limits(self, tmp_path):
        count, seconds = taken_by_two_processes("folder", tmp_path)
        assert 60 <= count <= 60 + 9 * seconds + 1

    def test_processes_share_limits_in_redis(self, redis_server):
        count, seconds = taken_by_two_processes("redis", redis_server.url)
        assert 60 <= count <= 60 + 9 * seconds + 1

    def test_limit_is_shared_by_all_holders(self, tmp_path, redis_server):
        for stores in (in_memory, in_folder(tmp_path), in_redis(redis_server.url)):
            one, other = Limits(1, stores=stores), Limits(1, stores=stores)
            assert is_taken(one)
            [wait] = [next(other.waits(URL, SHORT))]
            assert 50 < wait <= 61

    def test_request_is_not_sent_if_counting_fails(self, tmp_path, server):
        limits = Limits(10, stores=in_folder(tmp_path / "gone"))
        with pytest.raises(EvaluatorError, match="cannot be counted") as raised:
            HostedModel(server.address(), limits=limits).replies([SHORT])
        assert not raised.value.permanent
        assert server.asked == []

    def test_endpoints_have_separate_limits(self, tmp_path):
        limits = Limits(1, stores=in_folder(tmp_path))
        assert is_taken(limits)
        assert next(limits.waits("http://127.0.0.2/v1", SHORT), None) is None
        assert not is_taken(limits)


class TestTokens:
    def test_prompt_and_longest_replies_count(self):
        assert expected_tokens(Request("word " * 100, max_tokens=10)) == 125 + 10
        assert expected_tokens(Request("word " * 100, max_tokens=10), choices=3) == 125 + 30

    def test_large_request_is_taken_in_parts(self):
        limits = Limits(tokens_per_minute=200)
        waits = limits.waits(URL, SHORT)
        assert 0 < next(waits) < 61

    def test_request_beyond_a_minutes_limit_is_refused(self):
        with pytest.raises(EvaluatorError, match=r"limit for .* is 20 a minute: raise the limit") as raised:
            is_taken(Limits(tokens_per_minute=20))
        assert raised.value.permanent

    @given(st.integers(1, 5000), st.lists(st.tuples(st.integers(1, 60), st.integers(0, 40)), max_size=80))
    def test_no_minute_has_more_than_the_limit(self, limit, arrivals):
        """Each arrival is a number of units after a pause in seconds, on a simulated clock."""
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
    def test_hosted_model_keeps_the_limits(self, server):
        limits = Limits(requests_per_minute=1)
        assert len(HostedModel(server.address(), limits=limits).replies([SHORT])) == 1
        assert next(limits.waits(server.base_url, SHORT)) > 0

    def test_closing_cancels_waiting_for_the_limit(self, server):
        limits = Limits(requests_per_minute=1)
        arrivals = HostedModel(server.address(), limits=limits).arrivals([Request("a", max_tokens=1)] * 3)
        next(arrivals)
        began = time.monotonic()
        arrivals.close()
        assert time.monotonic() - began < 30
        assert len(server.asked) == 1
