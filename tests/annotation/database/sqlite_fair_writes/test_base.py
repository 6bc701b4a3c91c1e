import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from django.db import OperationalError, connection, connections, transaction

from annotation.database.consistent_read import consistent_read
from annotation.database.sqlite_fair_writes import base

ROOT = Path(__file__).resolve().parents[4]
HOLD = """
import fcntl, os, sys, time
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(60)
"""

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif("connection.vendor != 'sqlite'", reason="turns are taken only on SQLite"),
]


def turn_file() -> str:
    return f"{connection.settings_dict['NAME']}-turn"


@pytest.fixture
def short_timeout(monkeypatch) -> None:
    """Give up after a fifth of a second."""
    monkeypatch.setitem(connection.settings_dict["OPTIONS"], "timeout", 0.2)


def begin_in_thread() -> list[str]:
    """Begin a transaction in another thread and return the outcome."""
    outcome: list[str] = []

    def begin() -> None:
        try:
            with transaction.atomic():
                outcome.append("began")
        except OperationalError as error:
            outcome.append(str(error))
        finally:
            connections.close_all()

    thread = threading.Thread(target=begin)
    thread.start()
    thread.join()
    return outcome


def test_a_transaction_begins_as_soon_as_the_previous_one_ends():
    began: list[float] = []

    def begin() -> None:
        with transaction.atomic():
            began.append(time.monotonic())
        connections.close_all()

    with transaction.atomic():
        threads = [threading.Thread(target=begin) for _ in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(0.3)
        assert began == []
        ended = time.monotonic()
    for thread in threads:
        thread.join()
    assert len(began) == 4
    assert max(began) - ended < 15


def test_waiting_too_long_for_another_thread_raises_database_is_locked(monkeypatch, short_timeout):
    taken = threading.Lock()
    taken.acquire()
    monkeypatch.setitem(base._turns, turn_file(), taken)
    with pytest.raises(OperationalError, match="locked"), transaction.atomic():
        pass


def test_another_process_holds_the_turn_until_it_is_killed(short_timeout):
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, turn_file()], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(OperationalError, match="locked"), transaction.atomic():
            pass
    finally:
        holder.kill()
        holder.wait()
    with transaction.atomic():
        pass


@pytest.mark.parametrize("end", ["commit", "rollback", "error", "close"])
def test_every_end_of_a_transaction_releases_the_turn(end):
    if end == "close":
        connection.set_autocommit(False)
        connection.close()
    else:
        try:
            with transaction.atomic():
                if end == "rollback":
                    transaction.set_rollback(True)
                if end == "error":
                    raise ValueError
        except ValueError:
            pass
    assert begin_in_thread() == ["began"]


def test_a_savepoint_takes_no_second_turn():
    with transaction.atomic(), transaction.atomic(), transaction.atomic():
        pass
    assert begin_in_thread() == ["began"]


def test_a_reader_does_not_wait_for_a_writer(short_timeout):
    outcome: list[int] = []

    def read() -> None:
        with consistent_read(), connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            outcome.append(cursor.fetchone()[0])
        connections.close_all()

    with transaction.atomic():
        thread = threading.Thread(target=read)
        thread.start()
        thread.join()
    assert outcome == [1]
