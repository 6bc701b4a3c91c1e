"""Results that the processes of a web server compute once for all of them."""

import errno
import multiprocessing
import os
import pickle
import shutil
import signal
import threading
from pathlib import Path

import pytest

from metaeval.live.background import Key
from metaeval.live.choices import ComparisonChoices
from metaeval.live.shared_results import KEPT_FILES, SharedResults

SOON_S = 60
KEY = Key(1, 2, (ComparisonChoices(systems=("a", "b")), "intervals"))
processes = multiprocessing.get_context("fork")


@pytest.fixture
def folder(tmp_path):
    own = tmp_path / "results"
    own.mkdir()
    return own


@pytest.fixture
def shared(folder):
    results = SharedResults()
    results.share(str(folder))
    return results


class Elsewhere:
    """A computation in another process, which waits for `go` and tells that one part is done."""

    def __init__(self, shared):
        self.begun, self.go = processes.Event(), processes.Event()
        self.process = processes.Process(target=shared.once, args=(KEY, self.compute, print))
        self.process.start()
        assert self.begun.wait(SOON_S)

    def compute(self, tell):
        tell(1)
        self.begun.set()
        assert self.go.wait(SOON_S)
        return os.getpid()


def never(_tell):
    raise AssertionError("computed again")


def test_a_result_is_computed_once(shared):
    assert shared.once(KEY, lambda _: {"value": 7}, print) == {"value": 7}
    assert shared.once(KEY, never, print) == {"value": 7}
    other = KEY._replace(revision=3)
    assert shared.once(other, lambda _: 8, print) == 8


def test_another_process_waits_and_hears_how_far_it_is(shared):
    elsewhere = Elsewhere(shared)
    heard = []

    def hear(parts):
        heard.append(parts)
        elsewhere.go.set()

    assert shared.once(KEY, never, hear) == elsewhere.process.pid
    elsewhere.process.join(SOON_S)
    assert set(heard) == {1}


def test_a_process_that_dies_leaves_the_computation_to_the_next(shared):
    elsewhere = Elsewhere(shared)
    found = []
    waiting = threading.Thread(target=lambda: found.append(shared.once(KEY, lambda _: "here", print)))
    waiting.start()
    os.kill(elsewhere.process.pid, signal.SIGKILL)
    waiting.join(SOON_S)
    assert found == ["here"]


def test_an_error_is_not_kept(shared):
    with pytest.raises(ZeroDivisionError):
        shared.once(KEY, lambda _: 1 / 0, print)
    assert shared.once(KEY, lambda _: "now it works", print) == "now it works"


def test_only_the_latest_files_are_kept(shared, folder):
    for number in range(KEPT_FILES + 3):
        shared.once(number, lambda _: "old", print)
    files = list(folder.iterdir())
    assert {path.suffix for path in files} == {"", ".lock"}
    assert len(files) == 2 * KEPT_FILES
    assert shared.once(number, never, print) == "old"
    assert shared.once(0, lambda _: "new", print) == "new"


def test_a_folder_that_was_cleaned_away_costs_only_the_sharing(shared, folder):
    shutil.rmtree(folder)
    assert shared.once(KEY, lambda tell: tell(1) or "computed", print) == "computed"
    folder.mkdir()  # by somebody else, who might put anything into it
    assert shared.once(KEY, lambda _: "computed again", print) == "computed again"
    assert list(folder.iterdir()) == []


class Malice:
    """Leaves a file where it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


@pytest.mark.parametrize("signature", [b"", b"0" * 32, "of another"])
def test_what_these_processes_have_not_signed_is_never_unpickled(shared, folder, signature):
    shared.once(KEY, lambda _: "ours", print)
    shared.once("another key", lambda _: "theirs", print)
    ours, theirs = sorted((path for path in folder.iterdir() if not path.suffix), key=age)
    if signature == "of another":
        ours.write_bytes(theirs.read_bytes())
    else:
        ours.write_bytes(signature + pickle.dumps(Malice(folder.parent / "it ran")))
    assert shared.once(KEY, lambda _: "computed again", print) == "computed again"
    assert not (folder.parent / "it ran").exists()
    assert shared.once(KEY, never, print) == "computed again"


def age(path):
    return path.stat().st_mtime_ns


def test_a_full_disk_costs_only_the_sharing(shared, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shared, "_keep", refuse)
    assert shared.once(KEY, lambda _: "computed", print) == "computed"


def test_without_a_folder_each_process_computes_its_own():
    alone = SharedResults()
    heard = []
    assert alone.once(KEY, lambda tell: tell(1) or "own", heard.append) == "own"
    assert heard == [1]
    assert alone.once(KEY, lambda _: "again", print) == "again"
