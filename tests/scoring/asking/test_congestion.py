"""How many requests go out at once, as the endpoint answers."""

import os
import time

from hypothesis import given
from hypothesis import strategies as st

from scoring.asking import congestion
from scoring.asking.congestion import Window, window_of


def entered(window, bound=100):
    count = 0
    while window.enter(bound):
        count += 1
    return count


def answer(window, count, bound=100):
    for _ in range(count):
        window.answered(bound)
        window.leave()


def test_it_doubles_with_each_round_until_it_was_too_much():
    window = Window()
    first = entered(window)
    answer(window, first)
    second = entered(window)
    assert second == 2 * first
    window.too_many(time.monotonic(), 0.0)
    answer(window, second)
    third = entered(window)
    assert second / 2 < third <= second / 2 + 2


def test_it_halves_once_for_all_that_were_sent_before():
    window = Window()
    sent_at = time.monotonic()
    for _ in range(5):
        window.too_many(sent_at, 0.0)
    assert window.most == 4


def test_there_is_always_room_for_one():
    window = Window()
    for _ in range(20):
        window.too_many(time.monotonic(), 0.0)
    assert window.enter(100)
    assert not window.enter(100)


def test_it_does_not_grow_by_what_was_not_tried():
    window = Window()
    for _ in range(50):
        assert window.enter(100)
        answer(window, 1)
    assert entered(window) == 8


def test_it_is_closed_for_as_long_as_the_endpoint_says():
    window = Window()
    window.too_many(time.monotonic(), 60.0)
    assert not window.enter(100)


@given(st.lists(st.sampled_from(["enter", "answer", "too many"]), max_size=200), st.integers(1, 40))
def test_never_more_than_the_bound_are_under_way(steps, bound):
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


def test_a_forked_worker_begins_anew():
    window_of("http://127.0.0.1:1/v1").enter(100)
    if not (child := os.fork()):
        os._exit(int(bool(congestion._windows)))
    assert os.waitpid(child, 0)[1] == 0
