"""A language model behind a real socket."""

from collections.abc import Iterator

import pytest

from scoring.asking import congestion, talking
from tests.scoring.asking.model_server import ModelServer, loaded


@pytest.fixture(autouse=True)
def nothing_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    """A port may come again, and with it what the process remembers of it."""
    monkeypatch.setattr(congestion, "_windows", {})
    monkeypatch.setattr(talking, "_manners", {})
    monkeypatch.setenv("TINY_API_KEY", "the-key")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    loaded()  # no request is to wait for that
    with ModelServer() as server:
        yield server
