"""The web server with clients that send slowly, too much, or never finish."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from tests.factories import make_member, make_project
from tests.scoring.processes import PATIENCE_S, ROOT, surroundings, wait_for

pytestmark = pytest.mark.django_db(transaction=True)

PROGRAM = """
import sys
from touchstone import web_server
web_server.PATIENCE_S = {patience}
from gunicorn.app.wsgiapp import run
sys.argv = "gunicorn touchstone.wsgi:application --bind 127.0.0.1:{port} --threads 2".split()
sys.argv += "--log-level warning --worker-class touchstone.web_server.BufferingWorker".split()
run()
"""
MANY = 50
SHORT_PATIENCE_S = 3
BIG = 60 * 1024 * 1024


class Server:
    def __init__(self, port: int) -> None:
        self.port = port

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S)

    def send(
        self, method: str, path: str, body: bytes = b"", length: int | None = None, **headers: str
    ) -> socket.socket:
        """Send a request, of which perhaps not all, and return the connection."""
        connection = self.connect()
        lines = [
            f"{method} {path} HTTP/1.1",
            "Host: localhost",
            *(f"{n}: {text}" for n, text in headers.items()),
        ]
        if length is not None:
            lines.append(f"Content-Length: {length}")
        connection.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        return connection

    def answers(self) -> bool:
        try:
            with closing(self.send("GET", "/healthz")) as connection:
                return status(connection) == 200
        except OSError:
            return False


def status(connection: socket.socket) -> int:
    """Return the status of the answer, or 0 if the connection ends without one."""
    begin = connection.recv(12)
    return int(begin.split()[1]) if begin else 0


@pytest.fixture(scope="module")
def server(django_db_setup, tmp_path_factory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("web_server")
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    program = PROGRAM.format(port=port, patience=SHORT_PATIENCE_S)
    process = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, env=surroundings(folder))
    try:
        server = Server(port)
        wait_for(server.answers, process)
        yield server
    finally:
        process.terminate()
        assert process.wait(PATIENCE_S) == 0


def test_requests_that_are_never_finished_hold_no_thread(server):
    token = {"Cookie": f"csrftoken={'a' * 32}", "Content-Type": "multipart/form-data; boundary=b"}
    unfinished = [server.send("POST", "/sign-in/", b"--b", 1000, **token) for _ in range(MANY)]
    assert server.answers()
    for connection in unfinished:
        connection.close()


def test_a_request_that_is_never_finished_is_closed(server):
    with closing(server.send("POST", "/sign-in/", b"--b", 1000)) as connection:
        assert status(connection) == 0


def test_what_may_not_be_sent_is_refused_before_it_is_sent(server):
    project = make_project()
    manager = make_member(project, "manager")
    session = {"Cookie": f"{settings.SESSION_COOKIE_NAME}={session_of(manager)}"}
    imports = reverse("imports", args=[project.slug])

    def refused(path: str, **headers: str) -> int:
        with closing(server.send("POST", path, b"", BIG, **headers)) as connection:
            return status(connection)

    assert refused("/sign-in/") == 413
    assert refused(imports) == 413
    assert refused("/no/such/page/") == 404
    assert refused(reverse("guidelines", args=[project.slug]), **session) == 413

    with closing(server.send("POST", imports, b"", BIG, **session)) as connection:
        connection.settimeout(1)
        with pytest.raises(TimeoutError):  # it waits for the file
            status(connection)


def test_a_body_of_unknown_length_is_refused(server):
    chunked = {"Transfer-Encoding": "chunked"}
    with closing(server.send("POST", "/sign-in/", b"1\r\na\r\n", **chunked)) as connection:
        assert status(connection) == 501


def session_of(user: User) -> str:
    client = Client()
    client.force_login(user)
    return client.cookies[settings.SESSION_COOKIE_NAME].value
