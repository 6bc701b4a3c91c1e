"""A tiny OpenID Connect provider on this machine, which signs with a key of its own."""

import json
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlencode, urlparse

import josepy
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT, SECRET = "touchstone", "a-secret-of-the-client"


@dataclass
class Provider:
    issuer: str
    person: dict[str, Any] = field(default_factory=lambda: {"sub": "person-1"})
    """Whoever is signed in at the provider: the answer of its userinfo endpoint."""
    forged: dict[str, Any] = field(default_factory=dict)
    """Claims of the ID token that differ from what they should be."""
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    key: josepy.JWKRSA = field(
        default_factory=lambda: josepy.JWKRSA(
            key=rsa.generate_private_key(public_exponent=65537, key_size=2048)
        )
    )
    signing_key: josepy.JWKRSA | None = None
    """Another key than the published one, if the signature is forged."""

    def sign_in(self, address: str) -> str:
        """Return where the provider sends a browser that it has sent this address to."""
        asked = {name: values[0] for name, values in parse_qs(urlparse(address).query).items()}
        assert asked["client_id"] == CLIENT
        assert (asked["response_type"], asked["code_challenge_method"]) == ("code", "S256")
        code = f"code-{len(self.codes)}"
        self.codes[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def answer(self, path: str, form: dict[str, str], bearer: str) -> object:
        if path == "/.well-known/openid-configuration":
            return {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "userinfo_endpoint": f"{self.issuer}/userinfo",
                "jwks_uri": f"{self.issuer}/jwks",
                "token_endpoint_auth_methods_supported": ["client_secret_post"],
            }
        if path == "/jwks":
            return {"keys": [{**self.key.public_key().to_json(), "kid": "key-1", "alg": "RS256"}]}
        if path == "/userinfo" and bearer == "Bearer access":
            return self.person
        if path == "/token":
            asked = self.codes.pop(form["code"])  # a code works once
            challenge = (
                urlsafe_b64encode(sha256(form["code_verifier"].encode()).digest()).decode().rstrip("=")
            )
            expected = {**asked, "client_secret": SECRET, "code_challenge": challenge}
            given = {**asked, **form, "code_challenge": asked["code_challenge"]}
            if all(
                expected[name] == given[name] for name in ("client_secret", "code_challenge", "redirect_uri")
            ):
                return {"access_token": "access", "id_token": self._id_token(asked["nonce"])}
        return None

    def _id_token(self, nonce: str) -> str:
        claims = {
            "iss": self.issuer,
            "sub": self.person["sub"],
            "aud": CLIENT,
            "exp": time.time() + 60,
            "nonce": nonce,
            **self.forged,
        }
        return (
            josepy.JWS.sign(
                payload=json.dumps(claims).encode(),
                key=self.signing_key or self.key,
                alg=josepy.RS256,
                kid="key-1",
                protect=frozenset({"alg", "kid"}),
            )
            .to_compact()
            .decode()
        )


@contextmanager
def running_provider() -> Iterator[Provider]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            form = {name: values[0] for name, values in parse_qs(self.rfile.read(length).decode()).items()}
            found = provider.answer(self.path, form, self.headers.get("Authorization", ""))
            body = json.dumps(found or {"error": "invalid_grant"}).encode()
            self.send_response(200 if found else 400)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider = Provider(f"http://127.0.0.1:{server.server_port}")
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
