"""Results computed in the background: each once, in turn, and only while they are needed."""

import threading

import pytest
from django.db import transaction

from metaeval.live.background import BackgroundResults, ComputationProgress, Key, Pending, part_done

SOON_S = 120


class Slow:
    """A computation that waits for its `go` event and counts its calls."""

    def __init__(self, result="result"):
        self.result = result
        self.begun = threading.Event()
        self.go = threading.Event()
        self.times = 0

    def __call__(self):
        self.times += 1
        self.begun.set()
        assert self.go.wait(SOON_S)
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


@pytest.fixture
def results(transactional_db):
    return BackgroundResults()


def key(revision=1, request="table", project=1):
    return Key(project, revision, request)


def threads():
    return [thread for thread in threading.enumerate() if thread.name == "background results"]


def wait_for_threads():
    for thread in threads():
        thread.join(SOON_S)


def test_quick_results_are_returned_at_once(results):
    assert results.ready_or_start(key(), lambda: 7, SOON_S) == 7
    assert results.progress(key()) is None


def test_slow_results_are_pending_until_they_are_done(results):
    slow = Slow()
    assert results.ready_or_start(key(), slow, 0) == Pending()
    assert results.progress(key()) == ComputationProgress(0, 1)
    slow.go.set()
    assert results.ready_or_start(key(), slow, SOON_S) == "result"
    assert results.progress(key()) is None


def test_a_computation_says_how_many_of_its_parts_are_done(results):
    halves = Slow(), Slow()

    def compute():
        for half in halves:
            half()
            part_done()
        assert results.progress(key()) == ComputationProgress(2, 2)
        return "both"

    results.ready_or_start(key(), compute, 0, parts=2)
    assert halves[0].begun.wait(SOON_S)
    assert (found := results.progress(key())) == ComputationProgress(0, 2)
    assert (found.left, found.in_words) == (2, " (0 of 2 done)")
    halves[0].go.set()
    assert halves[1].begun.wait(SOON_S)
    assert (found := results.progress(key())) == ComputationProgress(1, 2)
    assert (found.left, found.in_words) == (1, " (1 of 2 done)")
    halves[1].go.set()
    assert results.ready_or_start(key(), compute, SOON_S) == "both"
    assert results.progress(key()) is None


def test_a_computation_of_one_part_says_nothing_and_is_never_without_one_left():
    assert ComputationProgress(0, 1).in_words == ""
    assert ComputationProgress(2, 2).left == 1


def test_concurrent_requests_share_one_computation(results):
    slow = Slow()
    answers = []

    def ask():
        answers.append(results.ready_or_start(key(), slow, SOON_S))

    asking = [threading.Thread(target=ask) for _ in range(20)]
    for thread in asking:
        thread.start()
    slow.go.set()
    for thread in asking:
        thread.join(SOON_S)
    assert answers == ["result"] * 20
    assert slow.times == 1


def test_each_request_has_its_own_result(results):
    assert results.ready_or_start(key(request="table"), lambda: 1, SOON_S) == 1
    assert results.ready_or_start(key(request="other"), lambda: 2, SOON_S) == 2
    assert results.ready_or_start(key(project=2), lambda: 3, SOON_S) == 3


def test_an_error_is_raised_for_every_caller_without_recomputing(results):
    slow = Slow(ZeroDivisionError("no items"))
    slow.go.set()
    for _ in range(2):
        with pytest.raises(ZeroDivisionError, match="no items"):
            results.ready_or_start(key(), slow, SOON_S)
    assert slow.times == 1
    assert results.ready_or_start(key(2), lambda: "goes on", SOON_S) == "goes on"


def test_an_outdated_computation_in_the_queue_is_never_started(results):
    running, outdated, of_another_project = Slow(), Slow(), Slow("other")
    results.ready_or_start(key(1), running, 0)
    assert running.begun.wait(SOON_S)
    assert results.ready_or_start(key(2), outdated, 0) == Pending()
    assert results.ready_or_start(key(1, project=2), of_another_project, 0) == Pending()
    assert results.ready_or_start(key(3), lambda: "newest", 0) == Pending()
    assert results.progress(key(2)) is None
    assert results.progress(key(1, project=2)) == ComputationProgress(0, 1)
    running.go.set()
    of_another_project.go.set()
    assert results.ready_or_start(key(3), lambda: "never", SOON_S) == "newest"
    assert outdated.times == 0
    assert of_another_project.times == 1


def test_waiting_with_a_timeout_for_an_outdated_result_gives_pending(results):
    running, outdated = Slow(), Slow()
    results.ready_or_start(key(1), running, 0)
    assert running.begun.wait(SOON_S)
    heard = []
    waiting = threading.Thread(target=lambda: heard.append(results.ready_or_start(key(2), outdated, 1)))
    results.ready_or_start(key(2), outdated, 0)
    waiting.start()
    results.ready_or_start(key(3), lambda: "newest", 0)
    running.go.set()
    waiting.join(SOON_S)
    assert heard == [Pending()]


def test_waiting_without_timeout_returns_the_outdated_result(results):
    running = Slow()
    results.ready_or_start(key(1), running, 0)
    assert running.begun.wait(SOON_S)
    assert results.result(key(2), lambda: "outdated", 0) is None
    heard = []
    waiting = threading.Thread(target=lambda: heard.append(results.result(key(2), lambda: "outdated", None)))
    waiting.start()
    results.ready_or_start(key(3), lambda: "newest", 0)
    running.go.set()
    waiting.join(SOON_S)
    assert heard == ["outdated"]


def test_the_latest_earlier_result_is_available_until_the_new_one(results):
    assert results.latest_before(key(1)) is None
    assert results.ready_or_start(key(1), lambda: "first", SOON_S) == "first"
    assert results.ready_or_start(key(2), lambda: "second", SOON_S) == "second"
    slow = Slow("third")
    assert results.ready_or_start(key(3), slow, 0) == Pending()
    assert results.latest_before(key(3)) == "second"
    assert results.latest_before(key(2)) is None, "dropped once a later result exists"
    slow.go.set()
    assert results.ready_or_start(key(3), slow, SOON_S) == "third"
    assert results.latest_before(key(3)) == "second"
    assert results.latest_before(key(4)) == "third"


def test_an_earlier_result_must_have_the_same_request_and_project(results):
    results.ready_or_start(key(1), lambda: "table", SOON_S)
    results.ready_or_start(key(2, request="other"), lambda: "other", SOON_S)
    assert results.latest_before(key(2)) == "table", "another request does not drop it"
    assert results.latest_before(key(2, project=2)) is None
    assert results.latest_before(key(2, request="other")) is None


def test_an_error_is_not_an_earlier_result(results):
    with pytest.raises(ZeroDivisionError):
        results.ready_or_start(key(1), lambda: 1 / 0, SOON_S)
    assert results.latest_before(key(2)) is None


def test_an_outdated_computation_in_progress_becomes_an_earlier_result(results):
    running = Slow("of the first")
    results.ready_or_start(key(1), running, 0)
    assert running.begun.wait(SOON_S)
    present = Slow()
    results.ready_or_start(key(2), present, 0)
    running.go.set()
    assert present.begun.wait(SOON_S)
    assert results.latest_before(key(2)) == "of the first"
    present.go.set()


def test_the_thread_ends_when_the_queue_is_empty(results):
    for revision in range(5):
        results.ready_or_start(key(revision), lambda: 1, SOON_S)
        assert len(threads()) <= 1
    wait_for_threads()
    assert threads() == []
    assert results.ready_or_start(key(9), lambda: 2, SOON_S) == 2


def test_only_the_latest_results_are_kept(transactional_db):
    results = BackgroundResults(kept=3)
    times = {}

    def ask(number):
        def compute():
            times[number] = times.get(number, 0) + 1
            return number

        return results.ready_or_start(key(request=number), compute, SOON_S)

    for number in range(5):
        assert ask(number) == number
    ask(4)
    assert times[4] == 1
    ask(0)
    assert times[0] == 2


def test_results_within_a_transaction_are_computed_at_once_and_not_kept(results):
    with transaction.atomic():
        assert results.ready_or_start(key(), lambda: "rolled back", 0) == "rolled back"
    assert results.ready_or_start(key(), lambda: "committed", SOON_S) == "committed"
