"""A real HTTP server with OpenAI's protocol and scripted answers."""

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any, Self

from tests.scoring.llm.stored_batches import StoredBatches
from tests.scoring.socket_server import QuietHandler, SocketServer


@dataclass(frozen=True)
class Answer:
    """The response to one request: `raw` replaces the body, `hang_up` closes without a response.

    `usage` (tokens of prompt and reply) is sent if given. `probabilities` (token -> probability) are those of
    the first token, sent if requested.
    """

    content: str | None = "0.75"
    finish_reason: str = "stop"
    refusal: str | None = None
    status: int = 200
    error_code: str | None = None
    raw: bytes | None = None
    hang_up: bool = False
    delay_s: float = 0.0
    probabilities: Mapping[str, float] = field(default_factory=dict)
    usage: tuple[int, int] | None = None


@dataclass(frozen=True)
class Asked:
    path: str
    key: str
    body: dict[str, Any]

    @property
    def prompt(self) -> str:
        if "prompt" in self.body:
            return str(self.body["prompt"])
        return str(self.body["messages"][-1]["content"])


@dataclass
class ScriptedEndpoint(SocketServer):
    """`answer` is a function of the request; `asked` has every request received, in order.

    If `takes_batches` is set, `batches` has them, and `starting` is called when a batch was started.
    """

    answer: Callable[[Asked], Answer] = lambda _: Answer()
    asked: list[Asked] = field(default_factory=list)
    takes_batches: bool = False
    starting: Callable[[], object] = lambda: None

    def __enter__(self) -> Self:
        self.batches = StoredBatches(self._line)
        return super().__enter__()

    def handler(self) -> type[BaseHTTPRequestHandler]:
        return _handler(self)

    @property
    def base_url(self) -> str:
        return f"{self.origin}/v1"

    @property
    def lines(self) -> list[Asked]:
        """Return the requests of all started batches, answered or not."""
        files = [self.batches.files[each["input_file_id"]] for each in self.batches.batches.values()]
        rows = [json.loads(line) for file in files for line in file.splitlines()]
        return [Asked(row["url"], "", row["body"]) for row in rows]

    def _line(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        asked = Asked(path, "", body)
        answer = self.answer(asked)
        return answer.status, _body(asked, answer)


def _handler(endpoint: ScriptedEndpoint) -> type[BaseHTTPRequestHandler]:
    class Handler(QuietHandler):
        def do_GET(self) -> None:
            if not endpoint.takes_batches:
                self.send_error(501)
                return
            self._tell(*endpoint.batches.get(self.path))

        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            if endpoint.takes_batches and not self.path.endswith("completions"):
                told = endpoint.batches.post(self.path, self.headers["Content-Type"] or "", content)
                if self.path.endswith("/batches"):
                    endpoint.starting()
                self._tell(*told)
                return
            body = json.loads(content)
            asked = Asked(self.path, self.headers.get("Authorization", ""), body)
            endpoint.asked.append(asked)
            answer = endpoint.answer(asked)
            time.sleep(answer.delay_s)
            if answer.hang_up:
                self.close_connection = True
                return
            self._tell(answer.status, _body(asked, answer) if answer.raw is None else answer.raw)

        def _tell(self, status: int, body: Any) -> None:
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    return Handler


def _body(asked: Asked, answer: Answer) -> dict[str, Any]:
    if answer.status != 200:
        return {
            "error": {"message": f"scripted {answer.status}", "type": "scripted", "code": answer.error_code}
        }
    choice: dict[str, Any] = {"index": 0, "finish_reason": answer.finish_reason}
    kind = "chat.completion"
    if asked.path.endswith("/chat/completions"):
        choice["message"] = {"role": "assistant", "content": answer.content, "refusal": answer.refusal}
    else:
        choice["text"], kind = answer.content, "text_completion"
    if asked.body.get("logprobs") and answer.probabilities:
        choice["logprobs"] = _logprobs(answer.probabilities, is_chat="message" in choice)
    body = {"id": "scripted", "object": kind, "created": 0, "model": asked.body["model"], "choices": [choice]}
    if answer.usage:
        body["usage"] = dict(zip(("prompt_tokens", "completion_tokens"), answer.usage, strict=True))
    return body


def _logprobs(probabilities: Mapping[str, float], *, is_chat: bool) -> dict[str, Any]:
    """Return log probabilities of the first token, which is the most probable one."""
    shown = {token: math.log(share) for token, share in probabilities.items()}
    written = max(shown, key=shown.__getitem__)
    if is_chat:
        rivals = [{"token": token, "logprob": logprob, "bytes": None} for token, logprob in shown.items()]
        place = {"token": written, "logprob": shown[written], "bytes": None, "top_logprobs": rivals}
        return {"content": [place]}
    return {"tokens": [written], "token_logprobs": [shown[written]], "top_logprobs": [shown]}
