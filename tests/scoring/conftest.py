"""Fixtures for scoring: an in-memory broker, so that tests neither wake workers nor leave messages."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.scoring.processes import RedisServer
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
def redis_server(tmp_path: Path) -> Iterator[RedisServer]:
    """Return a Redis server of this test."""
    if not shutil.which(RedisServer.PROGRAM):
        pytest.skip(f"{RedisServer.PROGRAM} is not installed")
    server = RedisServer(tmp_path)
    server.start()
    yield server
    server.kill()


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedEndpoint]:
    """Start a language model that answers as the test says, with a key for it."""
    monkeypatch.setenv("OPENAI_API_KEY", "the-key")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with ScriptedEndpoint() as server:
        yield server
