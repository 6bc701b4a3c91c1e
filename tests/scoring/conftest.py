"""Fixtures for scoring: an in-memory broker, so that tests neither wake workers nor leave messages."""

import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from redis import Redis
from redis.exceptions import ConnectionError

from tests.scoring.scripted_endpoint import ScriptedEndpoint
from touchstone.celery import app

app.conf.update(broker_url="memory://localhost/", broker_transport_options={})

Sent = Callable[[str], list[dict[str, Any]]]


@pytest.fixture(autouse=True)
def no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail at the first unanswered request; tests of patience set their own."""
    monkeypatch.setattr("scoring.llm.client.PATIENCE_S", 0.0)


@pytest.fixture
def sent() -> Sent:
    """Return a function that takes the messages sent to a queue: task, arguments and expiry."""

    def look(queue: str) -> list[dict[str, Any]]:
        found = []
        with app.connection_for_read() as connection:
            messages = connection.SimpleQueue(queue)
            while True:
                try:
                    message = messages.get_nowait()
                except messages.Empty:
                    return found
                message.ack()
                headers = message.headers
                found.append(
                    {"task": headers["task"], "args": message.payload[0], "expires": headers["expires"]}
                )

    for queue in ("cpu", "gpu", "llm", "training"):
        look(queue)
    return look


@pytest.fixture
def redis_port(tmp_path: Path) -> Iterator[int]:
    """Start a Redis server for this test and return its port."""
    server = shutil.which("redis-server")
    if not server:
        pytest.skip("redis-server is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [server, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(tmp_path)],
        stdout=subprocess.DEVNULL,
    )
    client = Redis(port=port)
    for _ in range(100):
        try:
            client.ping()
            break
        except ConnectionError:
            time.sleep(0.05)
    yield port
    client.close()
    process.terminate()
    process.wait()


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedEndpoint]:
    """Start a language model that answers as the test says, with a key for it."""
    monkeypatch.setenv("OPENAI_API_KEY", "the-key")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with ScriptedEndpoint() as server:
        yield server
