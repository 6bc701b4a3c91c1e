"""Requests a second at a local endpoint with a fixed latency: `python benchmarks/asking.py`.

The endpoint is another process that answers each request after --latency seconds, as many at once as come.
Asked one after the other with the client alone, as before, and through a HostedModel with 1, 8 and 32
requests in flight, in turns; prints the median of the rounds, its ratio to the sequential way, and the share
of the most that so many in flight can get at this latency.
"""

import argparse
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from openai import OpenAI

from scoring.contract.requests import Address, Reach, Request
from scoring.llm.client import HostedModel

IN_FLIGHT = (1, 8, 32)
ANSWER = {
    "id": "1",
    "object": "chat.completion",
    "created": 0,
    "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "0.75"}}],
    "usage": {"prompt_tokens": 1000, "completion_tokens": 3, "total_tokens": 1003},
}


def serve(latency_s: float, told: Connection) -> None:
    content = json.dumps(ANSWER).encode()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            time.sleep(latency_s)
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        request_queue_size = 128
        daemon_threads = True

    server = Server(("127.0.0.1", 0), Handler)
    told.send(server.server_port)
    server.serve_forever()


def one_after_the_other(address: Address, requests: list[Request]) -> None:
    with OpenAI(base_url=address.base_url, api_key="key", max_retries=0) as client:
        for request in requests:
            client.chat.completions.create(
                model=address.model,
                messages=[{"role": "user", "content": request.prompt}],
                temperature=request.temperature,
                max_tokens=request.max_tokens,
            )


def rate(ask: Callable[[], object], requests: int) -> float:
    began = time.perf_counter()
    ask()
    return requests / (time.perf_counter() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--latency", type=float, default=0.05, help="seconds; 0.05")
    parser.add_argument("--requests", type=int, default=400, help="of each way and round; 400")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    os.environ["NO_PROXY"] = "127.0.0.1"

    here, there = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(options.latency, there))
    server.start()
    address = Address(
        f"http://127.0.0.1:{here.recv()}/v1", "m", "chat", "A_API_KEY", reach=Reach.THIS_MACHINE
    )
    requests = [Request(f"{'word ' * 800}{number}") for number in range(options.requests)]
    few = requests[: max(1, options.requests // 8)]

    ways: dict[str, tuple[list[Request], Callable[[], object]]] = {
        "one after the other": (few, lambda: one_after_the_other(address, few))
    }
    for in_flight in IN_FLIGHT:
        sender = HostedModel(address, "key", most_in_flight=in_flight)
        asked = few if in_flight == 1 else requests
        ways[f"{in_flight} in flight"] = (asked, lambda sender=sender, asked=asked: sender.replies(asked))
    rates: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(options.rounds):
        for name, (asked, ask) in ways.items():
            rates[name].append(rate(ask, len(asked)))
    server.terminate()
    server.join()

    before = median(rates["one after the other"])
    print(f"latency {options.latency * 1000:g} ms, median of {options.rounds} rounds")
    for name, measured in rates.items():
        most = (int(name.split()[0]) if name[0].isdigit() else 1) / options.latency
        print(
            f"{name:22} {median(measured):8.1f} requests/s   {median(measured) / before:6.2f} x"
            f"   {median(measured) / most:5.0%} of {most:g}"
        )


if __name__ == "__main__":
    main()
