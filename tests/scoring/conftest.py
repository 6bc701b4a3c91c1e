"""A broker in memory, so that tests neither wake real workers nor leave messages for them."""

from collections.abc import Callable
from typing import Any

import pytest

from touchstone.celery import app

app.conf.update(broker_url="memory://localhost/", broker_transport_options={})

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
