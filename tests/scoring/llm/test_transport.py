"""Endpoints that redirect, flood or lead elsewhere, over real sockets."""

import gzip
import json
import socket
import ssl
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from http.server import BaseHTTPRequestHandler

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from scoring.contract.evaluator import EvaluatorError
from scoring.contract.requests import Address, Reach, Request
from scoring.llm import transport
from scoring.llm.batch_api import BatchFiles, BatchState, BatchStatus
from scoring.llm.capabilities import find_abilities
from scoring.llm.client import HostedModel
from scoring.llm.one_request import MOST_BYTES
from tests.scoring.socket_server import QuietHandler, SocketServer

REQUEST = Request("Hello.")
Told = tuple[int, dict[str, str], bytes]


def chat(text: str) -> bytes:
    return json.dumps({"choices": [{"message": {"content": text}}]}).encode()


@dataclass
class Hostile(SocketServer):
    """Answers everything with `told`; `hosts` and `paths` have what was requested."""

    told: Told = (200, {}, chat("0.5"))
    hosts: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)

    def handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(QuietHandler):
            def do_GET(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"] or 0))
                server.hosts.append(self.headers["Host"])
                server.paths.append(self.path)
                status, headers, content = server.told
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                with suppress(OSError):  # the client has had enough
                    self.wfile.write(content)

            do_POST = do_GET

        return Handler

    @property
    def port(self) -> int:
        return self._server.server_port

    def address(
        self, host: str = "127.0.0.1", reach: Reach = Reach.THIS_MACHINE, scheme: str = "http"
    ) -> Address:
        return Address(f"{scheme}://{host}:{self.port}/v1", "m", "chat", "TINY_API_KEY", 20.0, reach)


@pytest.fixture
def hostile():
    with Hostile() as server:
        yield server


@pytest.fixture
def names(monkeypatch):
    """Return what a name server answers: for each name one list of numbers after the other."""
    answers: dict[str, list[list[str]]] = {}
    real = socket.getaddrinfo

    def resolve(host, port, *rest, **options):
        name = host.decode() if isinstance(host, bytes) else host
        if name not in answers:
            return real(host, port, *rest, **options)
        numbers = answers[name].pop(0) if len(answers[name]) > 1 else answers[name][0]
        return [
            (socket.AF_INET6 if ":" in each else socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port))
            for each in numbers
        ]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return answers


def ask(address: Address) -> str:
    [reply] = HostedModel(address, patience_s=0.5).replies([REQUEST])
    return reply.text


def refusal(address: Address) -> str:
    with pytest.raises(EvaluatorError) as raised:
        ask(address)
    assert raised.value.permanent
    return str(raised.value)


class TestRedirects:
    @pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
    def test_redirect_is_an_error_and_not_followed(self, hostile, status):
        with Hostile() as other:
            hostile.told = status, {"Location": f"{other.origin}/v1/chat/completions"}, b""
            said = refusal(hostile.address())
        assert said.startswith(f"{hostile.address().base_url} redirects ({status})")
        assert other.paths == []
        assert len(hostile.paths) == 1

    def test_check_of_capabilities_does_not_follow(self, hostile):
        with Hostile() as other:
            hostile.told = 302, {"Location": other.origin}, b""
            with pytest.raises(EvaluatorError, match="redirects"):
                find_abilities(hostile.address(), "key")
        assert other.paths == []

    def test_batch_api_does_not_follow(self, hostile):
        with Hostile() as other:
            hostile.told = 307, {"Location": other.origin}, b""
            with pytest.raises(EvaluatorError, match="redirects"):
                BatchFiles(hostile.address()).upload({"name": REQUEST})
        assert other.paths == []


@cache
def bomb() -> bytes:
    return gzip.compress(b" " * (100 * 2**20), 9)


def peak_bytes(call: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


class TestSize:
    @pytest.mark.parametrize("status", [200, 400, 500])
    def test_small_answer_that_expands_is_refused_while_it_is_decoded(self, hostile, status):
        hostile.told = status, {"Content-Encoding": "gzip", "Content-Type": "application/json"}, bomb()
        said: list[str] = []
        peak = peak_bytes(lambda: said.append(refusal(hostile.address())))
        assert "more than 4,194,304 bytes" in said[0]
        assert peak < 10 * MOST_BYTES

    def test_long_plain_answer_is_refused(self, hostile):
        hostile.told = 200, {}, b" " * (2 * MOST_BYTES)
        assert f"{hostile.address().base_url} sends an answer of more than" in refusal(hostile.address())

    def test_short_encoded_answer_is_read(self, hostile):
        headers = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
        hostile.told = 200, headers, gzip.compress(chat("0.25"))
        assert ask(hostile.address()) == "0.25"

    def test_broken_encoding_is_an_unreadable_answer(self, hostile):
        hostile.told = 200, {"Content-Encoding": "gzip"}, b"not gzip"
        with pytest.raises(EvaluatorError) as raised:
            ask(hostile.address())
        assert not raised.value.permanent

    def test_endless_line_of_a_batch_is_not_kept(self, hostile):
        hostile.told = 200, {"Content-Encoding": "gzip"}, bomb()
        said: list[str] = []
        peak = peak_bytes(lambda: said.append(failed_fetch(hostile)))
        assert "a line of more than" in said[0]
        assert peak < 10 * MOST_BYTES

    def test_file_of_a_batch_is_limited(self, hostile, monkeypatch):
        monkeypatch.setattr("scoring.llm.batch_api.MOST_FILE_BYTES", 10_000)
        hostile.told = 200, {}, b'{"custom_id": "unknown"}\n' * 1000
        assert "more than 10,000 bytes" in failed_fetch(hostile)


def failed_fetch(server: Hostile) -> str:
    status = BatchStatus(BatchState.DONE, 1, 0, files=("file-1",))
    with pytest.raises(EvaluatorError) as raised:
        BatchFiles(server.address()).fetch(status, {"name": REQUEST})
    return str(raised.value)


class TestReach:
    @pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0x7f.1", "[::ffff:127.0.0.1]"])
    def test_this_machine_is_beyond_a_public_reach(self, hostile, host):
        said = refusal(hostile.address(host, Reach.PUBLIC))
        assert "no public address" in said
        assert "LLM_ENDPOINTS" in said
        assert hostile.paths == []

    def test_name_of_this_machine_is_beyond_a_public_reach(self, hostile, names):
        names["inside.example"] = [["127.0.0.1"]]
        assert "leads to 127.0.0.1" in refusal(hostile.address("inside.example", Reach.PUBLIC))
        assert hostile.paths == []

    @pytest.mark.parametrize("reach", [Reach.THIS_MACHINE, Reach.ANYWHERE])
    def test_this_machine_is_reached_if_allowed(self, hostile, reach):
        assert ask(hostile.address("localhost", reach)) == "0.5"

    @pytest.mark.parametrize("number", ["169.254.169.254", "10.0.0.1", "fe80::1", "fd00::1"])
    def test_name_of_a_private_address_is_refused(self, hostile, names, number):
        names["private.example"] = [["127.0.0.1", number]]
        assert f"leads to {number}" in refusal(hostile.address("private.example"))
        assert hostile.paths == []

    def test_address_that_was_checked_is_the_one_connected_to(self, hostile, names):
        names["rebinding.example"] = [["127.0.0.1"], ["169.254.169.254"]]
        assert ask(hostile.address("rebinding.example")) == "0.5"
        assert hostile.hosts == [f"rebinding.example:{hostile.port}"]
        assert "leads to 169.254.169.254" in refusal(hostile.address("rebinding.example"))

    def test_next_address_is_tried_if_one_refuses(self, hostile, names):
        names["two.example"] = [["127.0.0.9", "127.0.0.1"]]
        assert ask(hostile.address("two.example")) == "0.5"

    def test_batch_api_keeps_to_the_reach(self, hostile):
        with pytest.raises(EvaluatorError, match="no public address"):
            BatchFiles(hostile.address(reach=Reach.PUBLIC)).upload({"name": REQUEST})
        assert hostile.paths == []

    def test_check_of_capabilities_keeps_to_the_reach(self, hostile):
        with pytest.raises(EvaluatorError, match="no public address"):
            find_abilities(hostile.address(reach=Reach.PUBLIC), "key")
        assert hostile.paths == []


class TestProxy:
    @pytest.fixture(autouse=True)
    def through_the_server(self, hostile, monkeypatch):
        monkeypatch.setenv("HTTP_PROXY", f"127.0.0.1:{hostile.port}")
        monkeypatch.setenv("NO_PROXY", "near.example")

    def test_proxy_resolves_names(self, hostile):
        assert ask(hostile.address("a-name.example", Reach.PUBLIC)) == "0.5"
        assert hostile.paths == [f"http://a-name.example:{hostile.port}/v1/chat/completions"]

    def test_private_numbers_are_refused_before_the_proxy(self, hostile):
        assert "no public address" in refusal(hostile.address("169.254.169.254", Reach.PUBLIC))
        assert hostile.paths == []

    def test_exceptions_are_resolved_and_checked_here(self, hostile, names):
        names["near.example"] = [["10.0.0.1"]]
        assert "leads to 10.0.0.1" in refusal(hostile.address("near.example", Reach.PUBLIC))


def test_certificate_is_that_of_the_name(hostile, names, tmp_path, monkeypatch):
    file = certificate_of("tls.example", tmp_path / "tls.pem")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    hostile._server.socket = context.wrap_socket(hostile._server.socket, server_side=True)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    monkeypatch.setattr(transport, "_certificates", transport._certificates.__wrapped__)
    names["tls.example"] = names["other.example"] = [["127.0.0.1"]]
    assert ask(hostile.address("tls.example", scheme="https")) == "0.5"
    with pytest.raises(EvaluatorError, match="gives no answer"):
        ask(hostile.address("other.example", scheme="https"))
    assert hostile.hosts == [f"tls.example:{hostile.port}"]


def certificate_of(name, file):
    """Write a key and a certificate that it signs itself, and return the file."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    key_pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(key_pem + certificate.public_bytes(serialization.Encoding.PEM))
    return file
