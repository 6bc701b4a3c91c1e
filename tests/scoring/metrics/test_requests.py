"""Counts of a real web server with several processes."""

import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import psutil
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.scoring.processes import PATIENCE_S, ROOT, surroundings, wait_for
from tests.touchstone.test_web_server import free_port

pytestmark = pytest.mark.django_db(transaction=True)

TOKEN = "the-token"
PROCESSES = 2
TIMES = 20
FOLDER = "touchstone-metrics-*"


class Server:
    def __init__(self, port: int, process: subprocess.Popen) -> None:
        self.address = f"http://localhost:{port}"
        self.process = process

    def status(self, path: str, method: str = "GET") -> int:
        request = urllib.request.Request(self.address + path, method=method)
        try:
            with closing(urllib.request.urlopen(request, timeout=PATIENCE_S)) as response:
                return int(response.status)
        except urllib.error.HTTPError as error:
            return error.code

    def answers(self) -> bool:
        with suppress(OSError):
            return self.status("/healthz") == 200
        return False

    def figures(self) -> dict[tuple[str, ...], float]:
        """Return the figures by name and labels, in the order of the labels' names."""
        headers = {"Authorization": f"Bearer {TOKEN}"}
        request = urllib.request.Request(f"{self.address}/metrics", headers=headers)
        with closing(urllib.request.urlopen(request, timeout=PATIENCE_S)) as response:
            families = text_string_to_metric_families(response.read().decode())
        samples = [each for family in families for each in family.samples]
        return {(each.name, *dict(sorted(each.labels.items())).values()): each.value for each in samples}


@contextmanager
def serving(folder: Path) -> Iterator[Server]:
    """Start a web server until the end of the block; its counts are in a folder below."""
    port = free_port()
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "gunicorn", "touchstone.wsgi:application", "--log-level", "warning"),
            *("--worker-class", "touchstone.web_server.BufferingWorker", "--workers", str(PROCESSES)),
            *("--bind", f"127.0.0.1:{port}", "--preload"),
        ],
        cwd=ROOT,
        env=surroundings(folder, METRICS_TOKEN=TOKEN, TMPDIR=str(folder)),
    )
    try:
        server = Server(port, process)
        wait_for(server.answers, process)
        yield server
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def test_each_process_tells_the_requests_of_all_also_of_those_that_were_killed(tmp_path):
    with serving(tmp_path) as server:
        for _ in range(TIMES):
            assert server.status("/sign-in/") == 200
        assert server.status("/no/such/page/") == 404
        assert server.status("/sign-in/", "BREW") == 403
        for _ in range(TIMES):
            found = server.figures()
            assert found["touchstone_requests_total", "GET", "2xx", "sign_in"] == TIMES
            assert found["touchstone_requests_total", "GET", "4xx", ""] == 1
            assert found["touchstone_requests_total", "other", "4xx", "sign_in"] == 1
            assert found["touchstone_request_seconds_count", "sign_in"] == TIMES + 1
            assert found["touchstone_request_seconds_bucket", "+Inf", "sign_in"] == TIMES + 1
        views = {key[3] for key in found if key[0] == "touchstone_requests_total"}
        assert views == {"", "sign_in"}  # without health checks
        assert len(list(tmp_path.glob(FOLDER))) == 1
        for child in psutil.Process(server.process.pid).children():
            os.kill(child.pid, signal.SIGKILL)
        wait_for(server.answers, server.process)
        assert server.status("/sign-in/") == 200
        assert server.figures()["touchstone_requests_total", "GET", "2xx", "sign_in"] == TIMES + 1
    assert list(tmp_path.glob(FOLDER)) == []
