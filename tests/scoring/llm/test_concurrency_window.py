"""The number of concurrent requests, adapted to the endpoint's answers."""

import os
import time

from hypothesis import given
from hypothesis import strategies as st

from scoring.llm import client
from scoring.llm.client import Window, window_of


def enter_all(window, bound=100):
    count = 0
    while window.enter(bound):
        count += 1
    return count


def answer(window, count, bound=100):
    for _ in range(count):
        window.answered(bound)
        window.leave()


def test_window_doubles_each_round_until_overload():
    window = Window()
    first = enter_all(window)
    answer(window, first)
    second = enter_all(window)
    assert second == 2 * first
    window.too_many(time.monotonic(), 0.0)
    answer(window, second)
    third = enter_all(window)
    assert second / 2 < third <= second / 2 + 2


def test_window_halves_once_per_round():
    window = Window()
    sent_at = time.monotonic()
    for _ in range(5):
        window.too_many(sent_at, 0.0)
    assert window.most == 4


def test_window_has_always_room_for_one():
    window = Window()
    for _ in range(20):
        window.too_many(time.monotonic(), 0.0)
    assert window.enter(100)
    assert not window.enter(100)


def test_unused_window_does_not_grow():
    window = Window()
    for _ in range(50):
        assert window.enter(100)
        answer(window, 1)
    assert enter_all(window) == 8


def test_window_stays_closed_as_long_as_the_endpoint_requests():
    window = Window()
    window.too_many(time.monotonic(), 60.0)
    assert not window.enter(100)


@given(st.lists(st.sampled_from(["enter", "answer", "too many"]), max_size=200), st.integers(1, 40))
def test_requests_in_flight_stay_within_the_bound(steps, bound):
    window, under_way = Window(), 0
    for step in steps:
        if step == "enter":
            under_way += window.enter(bound)
        elif step == "answer" and under_way:
            answer(window, 1, bound)
            under_way -= 1
        elif step == "too many":
            window.too_many(time.monotonic(), 0.0)
        assert under_way <= bound


def test_an_endpoint_has_one_window():
    assert window_of("http://127.0.0.1:1/v1") is window_of("http://127.0.0.1:1/v1")
    assert window_of("http://127.0.0.1:1/v1") is not window_of("http://127.0.0.1:2/v1")


def test_forked_worker_starts_with_a_new_window():
    window_of("http://127.0.0.1:1/v1").enter(100)
    if not (child := os.fork()):
        os._exit(int(bool(client._windows)))
    assert os.waitpid(child, 0)[1] == 0
