"""A broker in memory, so that tests neither wake real workers nor leave messages for them."""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from redis import Redis
from redis.exceptions import ConnectionError

from touchstone.celery import app

app.conf.update(broker_url="memory://localhost/", broker_transport_options={})

ROOT = Path(__file__).resolve().parents[2]
Sent = Callable[[str], list[dict[str, Any]]]


@pytest.fixture(autouse=True)
def no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """What an endpoint does not answer at once is an outage; who tests patience says how much."""
    monkeypatch.setattr("scoring.asking.sender.PATIENCE_S", 0.0)


@pytest.fixture
def sent() -> Sent:
    """What has been sent to a queue since the last look: task, args and the moment when it expires."""

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

    for queue in ("cpu", "gpu", "llm"):
        look(queue)
    return look


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with all tables, of which tests with processes of their own take copies."""
    path = tmp_path_factory.mktemp("migrated") / "touchstone.sqlite3"
    environment = {**os.environ, "VAR_DIR": str(path.parent), "DATABASE_URL": f"sqlite:///{path}"}
    command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    return path


@pytest.fixture
def redis_port(tmp_path: Path) -> Iterator[int]:
    """Of a Redis of this test alone."""
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
