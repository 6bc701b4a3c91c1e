"""A real OpenAI-compatible server over a tiny language model, with configurable abilities."""

import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler
from typing import Any, Self

from scoring.contract.requests import Address, Reach
from tests.scoring.llm.stored_batches import StoredBatches
from tests.scoring.socket_server import QuietHandler, SocketServer
from tests.scoring.tiny_models import tiny_model

MODEL = "tiny"
_FIELDS = {"model", "messages", "prompt", "stop"}
_DIGITS = "12345"
_MOST_TOKENS = 24
"""Longer replies are cut, so that tests are quick."""


@dataclass(frozen=True)
class Can:
    """The server's abilities. Other features are refused with `refusal`, or ignored if that is 0."""

    alternatives: int = 20
    several: bool = True
    schema: bool = True
    batches: bool = True
    usage: bool = True
    temperature: bool = True
    token_limit: str = "max_tokens"
    knows: Callable[[str], bool] = lambda _: True
    """Whether the server answers a prompt."""
    refusal: int = 400
    fastapi: bool = False
    """Whether unknown fields are refused in FastAPI's format."""

    @property
    def fields(self) -> set[str]:
        return (
            _FIELDS
            | {self.token_limit}
            | ({"temperature"} if self.temperature else set())
            | ({"logprobs", "top_logprobs"} if self.alternatives else set())
            | ({"n"} if self.several else set())
            | ({"response_format"} if self.schema else set())
        )


@dataclass
class Interruption:
    """A status with headers, or a delay, instead of a normal answer."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    code: str | None = None
    message: str = "as told"
    delay_s: float = 0.0
    hang_up: bool = False


@dataclass
class ModelServer(SocketServer):
    """Each request takes the next of `interruptions`; `asked` has the bodies received."""

    can: Can = field(default_factory=Can)
    interruptions: list[Interruption] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    came_at: list[float] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    """Authorization headers, None for a request without one."""
    most_at_once: int = 0

    def __enter__(self) -> Self:
        self.under_way = 0
        self.lock = threading.Lock()
        self.closed = threading.Event()
        self.batches = StoredBatches(self.answer)
        return super().__enter__()

    def __exit__(self, *exception: object) -> None:
        self.closed.set()
        super().__exit__(*exception)

    def handler(self) -> type[BaseHTTPRequestHandler]:
        return _handler(self)

    @property
    def base_url(self) -> str:
        return f"{self.origin}/v1"

    def address(self, api: str = "chat", timeout_s: float = 20.0) -> Address:
        return Address(self.base_url, MODEL, api, "TINY_API_KEY", timeout_s, Reach.THIS_MACHINE)

    def interruption(self) -> Interruption:
        with self.lock:
            return self.interruptions.pop(0) if self.interruptions else Interruption()

    def answer(self, path: str, asked: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Return status and body."""
        with self.lock:
            self.asked.append(asked)
        api = "chat" if path.endswith("/chat/completions") else "completions"
        if asked.get("model") != MODEL:
            return 404, _error("there is no such model", "model_not_found")
        prompt = asked["messages"][-1]["content"] if api == "chat" else asked["prompt"]
        if not self.can.knows(prompt):
            return self.can.refusal or 500, _error("what is this?")
        if strange := sorted(set(asked) - self.can.fields):
            if self.can.fastapi:
                extra = {"loc": ["body", strange[0]], "msg": "Extra inputs are not permitted", "input": asked}
                return self.can.refusal, {"detail": [extra]}
            if self.can.refusal:
                return self.can.refusal, _error(f"Unsupported parameter: '{strange[0]}'", param=strange[0])
            asked = {name: value for name, value in asked.items() if name in self.can.fields}
        if asked.get("top_logprobs", 0) > self.can.alternatives:
            return 400, _error("top_logprobs is too large", param="top_logprobs")
        if api == "completions" and asked.get("logprobs", 0) > self.can.alternatives:
            return 400, _error("logprobs is too large", param="logprobs")
        with self.lock:
            return 200, _completion(asked, api, self.can)


def _error(message: str, code: str | None = None, param: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "code": code, "param": param}}


def _handler(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(QuietHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            self._tell(*(server.batches.get(self.path) if server.can.batches else (404, _error("no"))))

        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            if not self.path.endswith("completions"):
                told = server.batches.post(self.path, self.headers["Content-Type"] or "", content)
                self._tell(*(told if server.can.batches else (404, _error("no"))))
                return
            with server.lock:
                server.came_at.append(time.monotonic())
                server.keys.append(self.headers["Authorization"])
                server.under_way += 1
                server.most_at_once = max(server.most_at_once, server.under_way)
            try:
                self._answer(json.loads(content))
            finally:
                with server.lock:
                    server.under_way -= 1

        def _answer(self, asked: dict[str, Any]) -> None:
            interruption = server.interruption()
            # A thread that still computes when the process ends would abort it.
            if server.closed.wait(interruption.delay_s) or interruption.hang_up:
                self.close_connection = True
            elif interruption.status != 200:
                error = _error(interruption.message, interruption.code)
                self._tell(interruption.status, error, interruption.headers)
            else:
                self._tell(*server.answer(self.path, asked))

        def _tell(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            try:
                self.send_response(status)
                for name, value in (headers or {}).items():
                    self.send_header(name, value)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
            except (BrokenPipeError, ConnectionResetError):  # the client has closed the connection
                self.close_connection = True

    return Handler


def _completion(asked: dict[str, Any], api: str, can: Can) -> dict[str, Any]:
    torch, tokenizer, _ = loaded()
    prompt = prompt_tokens(asked)
    longest = min(asked.get(can.token_limit, 16), _MOST_TOKENS)
    temperature = asked.get("temperature", 1.0)
    shown = asked.get("top_logprobs", 0) if api == "chat" else asked.get("logprobs") or 0
    stops = asked.get("stop") or []
    choices, completion_tokens = [], 0
    for index in range(asked.get("n", 1)):
        if asked.get("response_format"):
            places, finish = _structured(prompt), "stop"
        else:
            chance = torch.Generator().manual_seed(index)
            places, finish = _written(prompt, longest, temperature, stops, chance)
        completion_tokens += len(places)
        text = tokenizer.decode([token for token, _ in places], skip_special_tokens=True)
        for stop in stops:
            text = text.split(stop)[0]
        choice: dict[str, Any] = {"index": index, "finish_reason": finish, "logprobs": None}
        if asked.get("logprobs"):
            choice["logprobs"] = _logprobs(places, shown, api)
        if api == "chat":
            choice["message"] = {"role": "assistant", "content": text, "refusal": None}
        else:
            choice["text"] = text
        choices.append(choice)
    total = len(prompt) + completion_tokens
    usage = {"prompt_tokens": len(prompt), "completion_tokens": completion_tokens, "total_tokens": total}
    kind = "chat.completion" if api == "chat" else "text_completion"
    answer = {"id": "tiny-1", "object": kind, "created": 0, "model": f"{MODEL}-2026", "choices": choices}
    return answer | ({"usage": usage} if can.usage else {})


@cache
def loaded() -> tuple[Any, Any, Any]:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = tiny_model("llama")
    return torch, AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM.from_pretrained(folder).eval()


def prompt_tokens(asked: dict[str, Any]) -> list[int]:
    _, tokenizer, _ = loaded()
    if "messages" not in asked:
        return list(tokenizer(asked["prompt"]).input_ids)
    written = tokenizer.apply_chat_template(asked["messages"], tokenize=False, add_generation_prompt=True)
    return list(tokenizer(written, add_special_tokens=False).input_ids)


def next_logprobs(tokens: Sequence[int]) -> Any:
    """Return the log probability of each token of the vocabulary after `tokens`."""
    return _next_logprobs(tuple(tokens))


@cache
def _next_logprobs(tokens: tuple[int, ...]) -> Any:
    torch, _, model = loaded()
    with torch.no_grad():
        return model(torch.tensor([tokens])).logits[0, -1].double().log_softmax(-1)


def _written(
    prompt: Sequence[int], longest: int, temperature: float, stops: Sequence[str], chance: Any
) -> tuple[list[tuple[int, Any]], str]:
    torch, tokenizer, _ = loaded()
    places: list[tuple[int, Any]] = []
    while len(places) < longest:
        logprobs = next_logprobs([*prompt, *(token for token, _ in places)])
        drawn = (
            torch.multinomial((logprobs / temperature).softmax(-1), 1, generator=chance)
            if temperature
            else None
        )
        token = int(logprobs.argmax() if drawn is None else drawn)
        if token == tokenizer.eos_token_id:
            return places, "stop"
        places.append((token, logprobs))
        if any(stop in tokenizer.decode([token]) for stop in stops):
            return places, "stop"
    return places, "length"


def _structured(prompt: Sequence[int]) -> list[tuple[int, Any]]:
    """Return {"score": D} with the digit of the highest probability."""
    _, tokenizer, _ = loaded()
    tokens = tokenizer('{"score": ', add_special_tokens=False).input_ids
    digits = {tokenizer(digit, add_special_tokens=False).input_ids[-1] for digit in _DIGITS}
    logprobs = next_logprobs([*prompt, *tokens])
    best = max(digits, key=lambda token: float(logprobs[token]))
    return [
        (token, logprobs) for token in [*tokens, best, *tokenizer("}", add_special_tokens=False).input_ids]
    ]


def _logprobs(places: Sequence[tuple[int, Any]], shown: int, api: str) -> dict[str, Any]:
    _, tokenizer, _ = loaded()
    rows = []
    for token, logprobs in places:
        best = logprobs.topk(max(shown, 1)).indices.tolist()[:shown]
        rivals = [(tokenizer.decode([each]), _finite(logprobs[each])) for each in best]
        rows.append((tokenizer.decode([token]), _finite(logprobs[token]), rivals))
    if api == "chat":
        content = [
            {
                "token": token,
                "logprob": own,
                "top_logprobs": [{"token": each, "logprob": logprob} for each, logprob in rivals],
            }
            for token, own, rivals in rows
        ]
        return {"content": content}
    return {
        "tokens": [token for token, _, _ in rows],
        "token_logprobs": [own for _, own, _ in rows],
        "top_logprobs": [dict(rivals) for _, _, rivals in rows],
    }


def _finite(logprob: Any) -> float:
    return max(float(logprob), -9999.0)
