"""The SQLite broker, used through kombu as Celery uses it."""

import multiprocessing
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from queue import Empty

import pytest
from kombu import Connection, Queue

import touchstone.celery  # noqa: F401 - tells kombu of the address sqlite:///

MANY = 40
DEAD_QUEUE = "gpu"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "broker.sqlite3"


@pytest.fixture
def broker(path: Path) -> Iterator[Connection]:
    with Connection(f"sqlite:///{path}") as connection:
        yield connection


def send(broker: Connection, number: int, queue: str = "cpu", expires_s: float | None = None) -> None:
    with broker.Producer() as producer:
        producer.publish(
            number, routing_key=queue, declare=[Queue(queue, routing_key=queue)], expiration=expires_s
        )


def receive(broker: Connection, queue: str = "cpu", most: int = 1000) -> list[int]:
    """Take the waiting messages from the queue and return them."""
    found: list[int] = []
    with broker.SimpleQueue(queue) as waiting:
        while len(found) < most:
            try:
                message = waiting.get_nowait()
            except Empty:
                break
            message.ack()
            found.append(message.payload)
    return found


def stored(path: Path) -> int:
    with sqlite3.connect(path) as store:
        (count,) = store.execute("SELECT count(*) FROM message").fetchone()
    store.close()
    return count


def test_a_delivered_message_is_deleted(broker, path):
    for number in range(MANY):
        send(broker, number)
        assert receive(broker) == [number]
    assert stored(path) == 0


def test_messages_arrive_once_and_in_order(broker):
    for number in range(20):
        send(broker, number)
    assert receive(broker) == list(range(20))
    assert receive(broker) == []


def test_a_consumer_that_found_nothing_gets_what_others_send_later(broker, path):
    with broker.SimpleQueue("cpu") as waiting, Connection(f"sqlite:///{path}") as other:
        for number in range(MANY):
            with pytest.raises(Empty):
                waiting.get_nowait()
            send(other, number)
            message = waiting.get_nowait()
            message.ack()
            assert message.payload == number


def test_a_consumer_goes_on_if_the_file_is_made_anew(broker, path):
    with broker.SimpleQueue("cpu") as waiting:
        with pytest.raises(Empty):
            waiting.get_nowait()
        path.unlink()
        with pytest.raises(Empty):
            waiting.get_nowait()
        send(broker, 1)
        assert waiting.get_nowait().payload == 1


def test_queues_are_separate(broker):
    send(broker, 1, "cpu")
    send(broker, 2, "llm")
    assert (receive(broker, "gpu"), receive(broker, "llm"), receive(broker, "cpu")) == ([], [2], [1])


def test_expired_messages_do_not_pile_up_while_no_worker_runs(broker, path):
    for number in range(MANY):
        send(broker, number, DEAD_QUEUE, expires_s=0.001)
        time.sleep(0.002)
    assert stored(path) == 1  # deleted when the next one comes


def test_an_expired_message_is_not_delivered(broker):
    send(broker, 1, expires_s=0.001)
    send(broker, 2, expires_s=600)
    time.sleep(0.01)
    assert receive(broker) == [2]


def test_a_message_without_an_expiry_expires_within_an_hour(broker, path):
    send(broker, 1)
    with sqlite3.connect(path) as store:
        ((expires_at,),) = store.execute("SELECT expires_at FROM message").fetchall()
    store.close()
    assert 0 < expires_at - time.time() <= 3600


def test_a_file_of_kombus_own_transport_can_be_reused(path):
    """Earlier versions used kombu's own transport with a file of the same name."""
    with sqlite3.connect(path) as store:
        store.execute("CREATE TABLE kombu_message (id INTEGER PRIMARY KEY, visible BOOLEAN, payload TEXT)")
        store.execute("INSERT INTO kombu_message (visible, payload) VALUES (0, 'old')")
    store.close()
    with Connection(f"sqlite:///{path}") as broker:
        send(broker, 1)
        assert receive(broker) == [1]


def test_an_unreachable_file_is_a_connection_error_to_celery(tmp_path):
    broker = Connection(f"sqlite:///{tmp_path}/no/such/folder/broker.sqlite3")
    with broker, pytest.raises(broker.connection_errors):
        send(broker, 1)


def send_forever(url: str, first: int) -> None:
    with Connection(url) as broker:
        for number in range(first, first + 10**6):
            send(broker, number)
            time.sleep(0.002)  # otherwise it may hold the lock so often that the receiver waits for seconds


def test_a_sender_killed_while_messages_are_received_leaves_an_intact_file(broker, path):
    """Each message arrives once, and SQLite's integrity check passes."""
    fork = multiprocessing.get_context("fork")
    found: list[int] = []
    for turn in range(2):
        first = turn * 10**6
        sender = fork.Process(target=send_forever, args=(f"sqlite:///{path}", first))
        sender.start()
        deadline = time.monotonic() + 60
        while not found or found[-1] < first + 3:
            assert time.monotonic() < deadline, "no message arrived"
            found += receive(broker, most=1)
        sender.kill()
        sender.join()
        found += receive(broker, most=10**6)
    assert found == sorted(set(found))
    assert stored(path) == 0
    with sqlite3.connect(path) as store:
        assert store.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    store.close()


def test_unacknowledged_messages_come_back_when_a_worker_stops(path):
    url = f"sqlite:///{path}"
    with Connection(url) as broker:
        send(broker, 1)
    with Connection(url) as worker, worker.SimpleQueue("cpu") as waiting:
        assert waiting.get_nowait().payload == 1  # without acknowledging it
    with Connection(url) as broker:
        assert receive(broker) == [1]


def test_the_queue_can_be_counted_and_purged(broker):
    for number in range(3):
        send(broker, number)
    channel = broker.channel()
    assert channel.queue_purge("cpu") == 3
    assert receive(broker) == []
