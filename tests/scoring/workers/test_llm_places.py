"""Places of a worker's processes for hosted models."""

import os
import signal
from collections.abc import Iterator

import pytest

from scoring.workers import llm_places


@pytest.fixture(autouse=True)
def _no_places_afterwards() -> Iterator[None]:
    yield
    llm_places.set_up([], 1)


def finds_place_elsewhere(*, is_killed: bool = False) -> bool:
    """Return whether another process of the worker finds a place; it may be killed while it has one."""
    child = os.fork()
    if not child:
        with llm_places.place() as has_place:
            if has_place and is_killed:
                os.kill(os.getpid(), signal.SIGKILL)
            os._exit(0 if has_place else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 1


def test_one_process_of_a_shared_worker_finds_no_place():
    llm_places.set_up(["cpu", "llm"], 3)
    with llm_places.place() as has_place:
        assert has_place
        assert finds_place_elsewhere()
    llm_places.set_up(["cpu", "llm"], 2)
    with llm_places.place() as has_place:
        assert has_place
        assert not finds_place_elsewhere()
    assert finds_place_elsewhere()


def test_place_of_a_killed_process_is_free_again():
    llm_places.set_up(["cpu", "llm"], 2)
    assert finds_place_elsewhere(is_killed=True)
    with llm_places.place() as has_place:
        assert has_place


@pytest.mark.parametrize(("queues", "processes"), [(["llm"], 2), (["cpu", "llm"], 1), (["cpu", "gpu"], 2)])
def test_all_processes_find_a_place_where_none_can_be_kept_free(queues, processes):
    llm_places.set_up(queues, processes)
    with llm_places.place() as has_place:
        assert has_place
        assert finds_place_elsewhere()
