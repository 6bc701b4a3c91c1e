"""A broker in memory, so that tests neither wake real workers nor leave messages for them."""

from collections.abc import Callable
from typing import Any

import pytest

from touchstone.celery import app

app.conf.update(broker_url="memory://localhost/", broker_transport_options={})

Sent = Callable[[str], list[dict[str, Any]]]


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
