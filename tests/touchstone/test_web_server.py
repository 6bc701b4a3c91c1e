"""The web server and docs/nginx.conf with clients that send slowly, too much, or never finish."""

import datetime
import re
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection as database
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from annotation.people.api_tokens import issue_api_token
from annotation.web.body_limits import MOST_FILES
from tests.factories import make_article, make_member, make_project, make_summary, make_system
from tests.scoring.processes import PATIENCE_S, ROOT, surroundings, wait_for
from touchstone import web_server
from touchstone.web_server import OneAtATime

pytestmark = pytest.mark.django_db(transaction=True)

PROGRAM = """
import sys
from touchstone import web_server
web_server.PATIENCE_S = web_server.UNREAD_S = {patience}
web_server.UNSENT_BYTES = 1024 * 1024
from gunicorn.app.wsgiapp import run
sys.argv = "gunicorn touchstone.wsgi:application --bind 127.0.0.1:{port} --threads {threads}".split()
sys.argv += "--log-level warning --worker-class touchstone.web_server.BufferingWorker".split()
run()
"""
THREADS = 2
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


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def status(connection: socket.socket) -> int:
    """Return the status of the answer, or 0 if the connection ends without one."""
    begin = connection.recv(12)
    return int(begin.split()[1]) if begin else 0


@contextmanager
def nobody_else_writes() -> Iterator[None]:
    """Hold what a failed sign-in writes: SQLite's only turn, or the table."""
    with transaction.atomic():
        if database.vendor == "postgresql":
            with database.cursor() as cursor:
                cursor.execute("LOCK TABLE axes_accessattempt IN ACCESS EXCLUSIVE MODE")
        yield


@pytest.fixture(scope="module")
def server(django_db_setup, tmp_path_factory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("web_server")
    port = free_port()
    program = PROGRAM.format(port=port, patience=SHORT_PATIENCE_S, threads=THREADS)
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
    with closing(server.send("GET", "/sign-in/")) as page:
        assert status(page) == 200
    for connection in unfinished:
        connection.close()


def test_health_is_told_while_all_threads_wait_for_the_database(server):
    token = {"Cookie": f"csrftoken={'a' * 32}", "Content-Type": "application/x-www-form-urlencoded"}
    form = f"csrfmiddlewaretoken={'a' * 32}&username=nobody&password=wrong".encode()
    with nobody_else_writes():
        waiting = [server.send("POST", "/sign-in/", form, len(form), **token) for _ in range(THREADS)]
        page = server.send("GET", "/sign-in/")
        page.settimeout(1)
        with pytest.raises(TimeoutError):
            status(page)
        with closing(server.send("GET", "/healthz")) as connection:
            assert status(connection) == 200
    page.settimeout(PATIENCE_S)
    for answered in (*waiting, page):
        with closing(answered):
            assert status(answered) == 200


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
    api_imports = reverse("api_imports", args=[project.slug])
    token = {"Authorization": f"Bearer {issue_api_token(manager, 'script')[1]}"}
    assert refused(api_imports, Authorization="Bearer another") == 413
    assert refused(reverse("api_raters", args=[project.slug]), **token) == 413

    for path, headers in ((imports, session), (api_imports, token)):
        with closing(server.send("POST", path, b"", BIG, **headers)) as connection:
            connection.settimeout(1)
            with pytest.raises(TimeoutError):  # it waits for the file
                status(connection)


def test_whoever_sends_all_of_a_refused_body_reads_the_answer(server):
    body = b"a" * (8 * 1024 * 1024)
    with closing(server.send("POST", "/sign-in/", body, len(body))) as connection:
        assert status(connection) == 413
        while connection.recv(65536):
            pass


def test_a_refused_body_that_is_never_finished_is_closed(server):
    with closing(server.send("POST", "/sign-in/", b"a", BIG)) as connection:
        assert status(connection) == 413
        deadline = time.monotonic() + PATIENCE_S
        with suppress(BrokenPipeError, ConnectionResetError):
            while time.monotonic() < deadline:
                connection.sendall(b"a")
                time.sleep(0.1)
        assert time.monotonic() < deadline


def test_answers_that_nobody_reads_hold_threads_for_a_while_only(server):
    project = make_project()
    system = make_system(project)
    for number in range(20):
        article = make_article(project, external_id=f"article {number}", text="word " * 100_000)
        make_summary(project, article=article, system=system)
    session = {"Cookie": f"{settings.SESSION_COOKIE_NAME}={session_of(make_member(project, 'manager'))}"}
    path = reverse("export_file", args=[project.slug, "examples"])
    unread = [server.send("GET", path, **session) for _ in range(THREADS)]
    with closing(server.send("GET", "/sign-in/")) as page:
        assert status(page) == 200
    for connection in unread:
        with closing(connection), connection.makefile("rb") as answer:
            begin = answer.read()
            assert begin.startswith(b"HTTP/1.1 200 ")
            assert len(begin) < 10_000_000


def test_a_body_of_unknown_length_is_refused(server):
    chunked = {"Transfer-Encoding": "chunked"}
    with closing(server.send("POST", "/sign-in/", b"1\r\na\r\n", **chunked)) as connection:
        assert status(connection) == 501


def session_of(user: User) -> str:
    client = Client()
    client.force_login(user)
    return client.cookies[settings.SESSION_COOKIE_NAME].value


class Request:
    """What a thread answers by calling a function."""

    def __init__(self, answer: Callable[[], object]) -> None:
        self.answer = answer
        self.ended = threading.Event()
        self.was_cancelled = False

    def service(self) -> None:
        try:
            self.answer()
        finally:
            self.ended.set()

    def cancel(self) -> None:
        self.was_cancelled = True


@pytest.fixture
def threads() -> Iterator[OneAtATime]:
    made = OneAtATime(4)
    yield made
    made.shutdown()


def test_short_requests_are_answered_one_by_one(threads, monkeypatch):
    monkeypatch.setattr(web_server, "LONG_S", PATIENCE_S)
    alone = threading.Lock()
    met: list[bool] = []

    def answer() -> None:
        met.append(alone.acquire(blocking=False))
        alone.release()

    requests = [Request(answer) for _ in range(200)]
    for request in requests:
        threads.add_task(request)
    assert all(request.ended.wait(PATIENCE_S) for request in requests)
    assert met == [True] * 200


@pytest.mark.parametrize("n_long", [1, 3])
def test_long_requests_hold_up_no_short_ones(threads, n_long):
    go_on = threading.Event()
    long = [Request(lambda: go_on.wait(PATIENCE_S)) for _ in range(n_long)]
    short = [Request(lambda: None) for _ in range(20)]
    for request in (*long, *short):
        threads.add_task(request)
    assert all(request.ended.wait(PATIENCE_S) for request in short)
    assert not any(request.ended.is_set() for request in long)
    go_on.set()
    assert all(request.ended.wait(PATIENCE_S) for request in long)


def test_a_request_that_fails_ends_no_thread(threads, caplog):
    requests = [Request(lambda: 1 / 0) for _ in range(8)]
    for request in requests:
        threads.add_task(request)
    assert all(request.ended.wait(PATIENCE_S) for request in requests)
    after = Request(lambda: None)
    threads.add_task(after)
    assert after.ended.wait(PATIENCE_S)
    assert "ZeroDivisionError" in caplog.text


def test_stopping_ends_what_has_begun_and_drops_the_rest(monkeypatch):
    monkeypatch.setattr(web_server, "LONG_S", PATIENCE_S)
    threads = OneAtATime(2)
    has_begun, go_on = threading.Event(), threading.Event()

    def answer() -> None:
        has_begun.set()
        go_on.wait(PATIENCE_S)

    first, second = Request(answer), Request(lambda: None)
    for request in (first, second):
        threads.add_task(request)
    assert has_begun.wait(PATIENCE_S)
    threading.Timer(0.1, go_on.set).start()
    threads.shutdown(PATIENCE_S)
    assert first.ended.is_set()
    assert second.was_cancelled
    assert not second.ended.is_set()


CONFIGURATION = ROOT / "docs" / "nginx.conf"
AROUND = """
daemon off;
pid {folder}/pid;
error_log stderr;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/touchstone.conf;
}}
"""


class Proxy(Server):
    """nginx with the documented configuration, and with a certificate that nobody trusts."""

    def __init__(self, port: int, plain_port: int) -> None:
        super().__init__(port)
        self.plain = Server(plain_port)
        self.trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self.trusting.check_hostname = False
        self.trusting.verify_mode = ssl.CERT_NONE

    def connect(self) -> socket.socket:
        return self.trusting.wrap_socket(super().connect())


@pytest.fixture(scope="module")
def proxy(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    with running_nginx(tmp_path_factory.mktemp("nginx"), server.port) as (proxy, process):
        wait_for(proxy.answers, process)
        yield proxy


@contextmanager
def running_nginx(folder: Path, port: int) -> Iterator[tuple[Proxy, subprocess.Popen]]:
    """Start nginx before a web server at this port of the machine."""
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if not nginx:
        pytest.skip("nginx is not installed")
    make_certificate(folder)
    proxy = Proxy(free_port(), free_port())
    text = CONFIGURATION.read_text().replace("/etc/ssl/", f"{folder}/")
    text = re.sub(r"listen \[::\].*;", "", text)  # a machine may lack IPv6
    for before, after in (
        ("listen 443", f"listen 127.0.0.1:{proxy.port}"),
        ("listen 80", f"listen 127.0.0.1:{proxy.plain.port}"),
        ("127.0.0.1:8000", f"127.0.0.1:{port}"),
    ):
        assert before in text
        text = text.replace(before, after)
    (folder / "touchstone.conf").write_text(text)
    (folder / "nginx.conf").write_text(AROUND.format(folder=folder))
    process = subprocess.Popen([nginx, "-e", "stderr", "-c", str(folder / "nginx.conf")])
    try:
        yield proxy, process
    finally:
        process.terminate()
        assert process.wait(PATIENCE_S) == 0


def make_certificate(folder: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "rate.example.org")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    (folder / "rate.example.org.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (folder / "rate.example.org.key").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )


def test_the_proxy_leads_from_http_to_https(proxy):
    with closing(proxy.plain.send("GET", "/sign-in/")) as connection:
        answer = connection.recv(4096).decode()
    assert answer.startswith("HTTP/1.1 308 ")
    assert "Location: https://localhost/sign-in/" in answer


def test_the_proxy_says_that_the_web_server_is_away(tmp_path):
    def said(method: str) -> str:
        with suppress(OSError), closing(proxy.send(method, "/sign-in/", Connection="close")) as connection:
            return connection.makefile("rb").read().decode()
        return ""

    with running_nginx(tmp_path, free_port()) as (proxy, process):
        wait_for(lambda: bool(said("GET")), process)
        page, form = said("GET"), said("POST")
    for answer in (page, form):
        assert answer.startswith("HTTP/1.1 503 ")
        assert "Retry-After: 5" in answer
    assert 'http-equiv="refresh"' in page
    assert "Nothing was saved. Reload this page to send it again." in form
    assert "refresh" not in form


def test_the_proxy_keeps_nothing_that_may_not_be_sent(proxy):
    project = make_project()
    manager = make_member(project, "manager")
    session = {"Cookie": f"{settings.SESSION_COOKIE_NAME}={session_of(manager)}"}
    imports = reverse("imports", args=[project.slug])
    for path, headers in (("/sign-in/", {}), (imports, {}), (f"/projects/{project.slug}/", session)):
        with closing(proxy.send("POST", path, b"", BIG, **headers)) as connection:
            assert status(connection) == 413, path
    with closing(proxy.send("POST", imports, b"", BIG, **session)) as connection:
        connection.settimeout(1)
        with pytest.raises(TimeoutError):  # it waits for the file
            status(connection)


def test_the_proxy_limits_the_connections_of_one_address(proxy):
    connections = [proxy.send("POST", "/sign-in/", b"--b", 1000) for _ in range(70)]
    try:
        refused = [status(connection) for connection in connections[64:]]
        assert refused == [429] * len(refused)
    finally:
        for connection in connections:
            connection.close()


def test_the_proxy_expects_files_where_views_take_them():
    taking = {
        f"/{pattern.replace('<slug:slug>', 'a-project')}"
        for pattern, view in patterns_of(get_resolver())
        if getattr(view, "takes_files", False)
    }
    (expected,) = re.findall(r"location ~ (\S+) {", CONFIGURATION.read_text())
    assert len(taking) == 4
    assert all(re.search(expected, path) for path in taking)
    assert not re.search(expected, "/projects/a-project/imports/1/")
    most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE + MOST_FILES * settings.UPLOAD_MAX_BYTES
    assert f"client_max_body_size {most // 2**20}m;" in CONFIGURATION.read_text()


def patterns_of(resolver: URLResolver, prefix: str = "") -> Iterator[tuple[str, object]]:
    for each in resolver.url_patterns:
        path = prefix + str(each.pattern)
        if isinstance(each, URLPattern):
            yield path, each.callback
        else:
            yield from patterns_of(each, path)


FREED = """
import django, psutil, touchstone.celery
django.setup()
from touchstone.web_server import return_free_memory
pieces = [bytes(4_000) for _ in range(30_000)]
kept = pieces[::20]
pieces.clear()
before = psutil.Process().memory_info().rss
return_free_memory()
print(before - psutil.Process().memory_info().rss)
"""


def test_memory_freed_between_used_pieces_goes_back_to_the_system(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", FREED],
        cwd=ROOT,
        env=surroundings(tmp_path),
        text=True,
        capture_output=True,
        check=True,
    )
    assert int(done.stdout) > 40_000_000
