"""A real HTTP server with the model hub's protocol and the repositories that a test gives it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from urllib.parse import unquote, urlsplit

from tests.scoring.socket_server import QuietHandler, SocketServer

COMMIT = "0123456789abcdef0123456789abcdef01234567"
LARGE = (".safetensors", ".bin", ".ckpt")
"""Endings of files for which the hub publishes a hash."""


@dataclass
class Repository:
    files: Mapping[str, bytes]
    gated: bool = False
    stated_hashes: Mapping[str, str] = field(default_factory=dict)
    """File -> false hash that the hub publishes."""


@dataclass
class LocalHub(SocketServer):
    """`repositories` are by owner/name, each with one commit on main; `asked` lists every requested path."""

    repositories: Mapping[str, Repository]
    asked: list[str] = field(default_factory=list)

    def handler(self) -> type[BaseHTTPRequestHandler]:
        return _handler(self)

    @property
    def endpoint(self) -> str:
        return self.origin


def _handler(hub: LocalHub) -> type[BaseHTTPRequestHandler]:
    class Handler(QuietHandler):
        def do_HEAD(self) -> None:
            self._answer()

        def do_GET(self) -> None:
            self._answer()

        def _answer(self) -> None:
            path = unquote(urlsplit(self.path).path)
            hub.asked.append(f"{self.command} {path}")
            words = path.strip("/").split("/")
            if words[:2] == ["api", "models"]:
                self._describe("/".join(words[2:4]), words[4:])
            else:
                self._resolve("/".join(words[:2]), words[3], "/".join(words[4:]))

        def _found(self, name: str, revision: str) -> Repository | None:
            if name not in hub.repositories:
                self._refuse(401, "RepoNotFound")
            elif revision not in ("main", COMMIT):
                self._refuse(404, "RevisionNotFound")
            else:
                return hub.repositories[name]
            return None

        def _describe(self, name: str, words: list[str]) -> None:
            repository = self._found(name, words[1] if len(words) > 1 else "main")
            if repository is None:
                return
            if words[:1] == ["tree"]:
                self._json([_entry(repository, file) for file in repository.files])
            else:
                siblings = [
                    {**entry, "rfilename": entry["path"], "blobId": entry["oid"]}
                    for entry in (_entry(repository, file) for file in repository.files)
                ]
                self._json({"id": name, "modelId": name, "sha": COMMIT, "siblings": siblings})

        def _resolve(self, name: str, revision: str, file: str) -> None:
            repository = self._found(name, revision)
            if repository is None:
                return
            if repository.gated:
                self._refuse(403, "GatedRepo")
            elif file not in repository.files:
                self._refuse(404, "EntryNotFound")
            else:
                content = repository.files[file]
                tag = hashlib.sha256(content).hexdigest()
                self._send(200, content, {"ETag": f'"{tag}"', "X-Repo-Commit": COMMIT})

        def _refuse(self, status: int, code: str) -> None:
            self._send(status, b"", {"X-Error-Code": code})

        def _json(self, content: object) -> None:
            self._send(200, json.dumps(content).encode(), {"Content-Type": "application/json"})

        def _send(self, status: int, content: bytes, headers: Mapping[str, str]) -> None:
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(content)

    return Handler


def _entry(repository: Repository, file: str) -> dict[str, object]:
    content = repository.files[file]
    tag = hashlib.sha256(content).hexdigest()
    large = {"sha256": repository.stated_hashes.get(file, tag), "size": len(content), "pointerSize": 134}
    return {
        "type": "file",
        "path": file,
        "oid": tag[:40],
        "size": len(content),
        **({"lfs": {**large, "oid": large["sha256"]}} if file.endswith(LARGE) else {}),
    }
