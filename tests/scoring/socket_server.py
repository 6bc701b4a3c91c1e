"""The base of the tests' servers: a free local port, served by threads within a block."""

import threading
from abc import ABC, abstractmethod
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self


class _Server(ThreadingHTTPServer):
    request_queue_size = 128  # waiting connections; the default of 5 would refuse some of 32


class SocketServer(ABC):
    @abstractmethod
    def handler(self) -> type[BaseHTTPRequestHandler]:
        """Return the class that answers requests."""

    def __enter__(self) -> Self:
        self._server = _Server(("127.0.0.1", 0), self.handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"


class QuietHandler(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass
