"""The load of the web benchmarks: raters who never pause, in a process of their own."""

import http.client
import json
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any, Protocol

import psutil

HOST = "127.0.0.1"
PASSWORD = "benchmark-password"
PAUSE_AFTER_ERROR_S = 0.2


class OutOfItems(Exception):
    """The tool has no further item for this rater."""


class RefusedRequest(Exception):
    """A request whose status was not the expected one."""


class Client(Protocol):
    """A signed-in rater."""

    def open(self) -> None:
        """Get the next item."""

    def step(self) -> list[float]:
        """Save the answers of the item, get the next one, and return the seconds of each request."""


class Connection:
    """A kept-alive connection with cookies that times its requests."""

    def __init__(self, port: int) -> None:
        self.http = http.client.HTTPConnection(HOST, port, timeout=60)
        self.cookies: dict[str, str] = {}
        self.headers = {"Host": f"localhost:{port}"}
        self.location = ""
        self.taken: list[float] = []

    def request(
        self,
        method: str,
        path: str,
        *,
        form: dict[str, str] | None = None,
        data: Any = None,
        headers: dict[str, str] | None = None,
        expect: tuple[int, ...] = (200,),
    ) -> str:
        """Send a form or JSON and return the answer's text."""
        sent = self.headers | {"Cookie": "; ".join(f"{k}={v}" for k, v in self.cookies.items())}
        body = None
        if form is not None:
            body = urllib.parse.urlencode(form)
            sent["Content-Type"] = "application/x-www-form-urlencoded"
        elif data is not None:
            body = json.dumps(data)
            sent["Content-Type"] = "application/json"
        began = time.perf_counter()
        try:
            self.http.request(method, path, body, sent | (headers or {}))
            response = self.http.getresponse()
            text = response.read().decode()
        except (OSError, http.client.HTTPException):
            self.http.close()  # the next request connects again
            raise
        self.taken.append(time.perf_counter() - began)
        for cookie in response.headers.get_all("Set-Cookie") or []:
            name, _, rest = cookie.partition("=")
            self.cookies[name] = rest.partition(";")[0]
        self.location = response.headers.get("Location", "")
        if response.status not in expect:
            raise RefusedRequest(f"{method} {path}: {response.status} instead of {expect}: {text[:300]}")
        return text

    def take_times(self) -> list[float]:
        """Return the seconds of each request since the last call."""
        taken, self.taken = self.taken, []
        return taken


@dataclass
class Load:
    """What raters met with. Times are in seconds, memory in bytes."""

    steps: list[list[float]] = field(default_factory=list)
    warm_up_steps: int = 0
    errors: list[str] = field(default_factory=list)
    ran_out: bool = False
    seconds: float = 0
    server_cpu_s: float = 0
    own_cpu_s: float = 0
    web_memory: int = 0
    memory: int = 0


def drive(
    sign_in: Callable[[int], Client], raters: range, seconds: float, web: int, others: list[int]
) -> Load:
    """Let raters rate at once, and watch the trees of the processes `web` and `others`."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(_drive, (sign_in, raters, seconds, web, others))


def _drive(
    sign_in: Callable[[int], Client], raters: range, seconds: float, web: int, others: list[int]
) -> Load:
    load = Load()
    clients = [sign_in(n) for n in raters]
    for client in clients:
        client.open()
    with ThreadPoolExecutor(len(raters)) as pool:
        # The first step of a rater may load what later steps find in caches.
        load.warm_up_steps = len(list(pool.map(lambda client: client.step(), clients)))
    stopped = threading.Event()
    before, own_before = cpu_s(tree([web, *others])), time.process_time()
    began = time.perf_counter()
    threads = [
        threading.Thread(target=_rate, args=(client, began + seconds, stopped, load)) for client in clients
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    load.seconds = time.perf_counter() - began
    load.server_cpu_s = cpu_s(tree([web, *others])) - before
    load.own_cpu_s = time.process_time() - own_before
    load.web_memory, load.memory = memory(tree([web])), memory(tree([web, *others]))
    return load


def _rate(client: Client, stop_at: float, stopped: threading.Event, load: Load) -> None:
    while time.perf_counter() < stop_at and not stopped.is_set():
        try:
            load.steps.append(client.step())
        except OutOfItems:
            load.ran_out = True
            stopped.set()
        except Exception as error:
            load.errors.append(f"{type(error).__name__}: {error}")
            _recover(client, stop_at)


def _recover(client: Client, stop_at: float) -> None:
    while time.perf_counter() < stop_at:
        time.sleep(PAUSE_AFTER_ERROR_S)
        with suppress(Exception):
            client.open()
            return


def tree(roots: Iterable[int]) -> list[psutil.Process]:
    """Return these processes and all that they started."""
    found = [psutil.Process(root) for root in roots]
    return [*found, *(child for process in found for child in process.children(recursive=True))]


def cpu_s(processes: Iterable[psutil.Process]) -> float:
    """Return the processor time of the processes and of those of their children that have ended."""
    return float(sum(sum(process.cpu_times()[:4]) for process in processes))


def memory(processes: Iterable[psutil.Process]) -> int:
    """Return the bytes that the processes use. Pages that processes share are divided among them."""
    return sum(process.memory_full_info().pss for process in processes)
