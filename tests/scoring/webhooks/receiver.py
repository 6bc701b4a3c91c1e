"""A real HTTP server that receives webhooks and answers as the test says."""

from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.scoring.socket_server import QuietHandler, SocketServer


@dataclass(frozen=True)
class Received:
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver(SocketServer):
    """`status` gives the answer to each request; `received` has them all, in order."""

    status: Callable[[], int] = lambda: 204
    received: list[Received] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"{self.origin}/hook/"

    def handler(self) -> type[BaseHTTPRequestHandler]:
        receiver = self

        class Handler(QuietHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.received.append(Received(dict(self.headers.items()), body))
                status = receiver.status()
                self.send_response(status)
                if status in (301, 307):
                    self.send_header("Location", f"{receiver.origin}/elsewhere/")
                self.send_header("Content-Length", "0")
                self.end_headers()

        return Handler


def answers(*statuses: int) -> Callable[[], Any]:
    """Return a function that gives these statuses one after another."""
    left = iter(statuses)
    return lambda: next(left)
