"""A tiny language model behind a real socket."""

from collections.abc import Iterator

import pytest

from scoring.llm import client, one_request
from tests.scoring.llm.model_server import ModelServer, loaded


@pytest.fixture(autouse=True)
def forget_endpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what the process knows about endpoints, because a port may be used again."""
    monkeypatch.setattr(client, "_windows", {})
    monkeypatch.setattr(one_request, "_manners", {})
    monkeypatch.setenv("TINY_API_KEY", "the-key")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    loaded()  # load it now, so that no request waits for it
    with ModelServer() as server:
        yield server
