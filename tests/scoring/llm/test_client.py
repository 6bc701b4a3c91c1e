"""Many concurrent requests to a real server."""

import asyncio
import gc
import json
import os
import signal
import socket
import threading
import time
import warnings
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from scoring.contract.evaluator import EvaluatorError
from scoring.contract.requests import TOO_LONG, Address, Reach, Request, Wanted
from scoring.llm import client, transport
from scoring.llm.capabilities import Abilities
from scoring.llm.client import HostedModel, window_of
from tests.scoring.llm.model_server import Can, Interruption, ModelServer

PATIENCE_S = 8.0


def sender(server, **settings):
    api = settings.pop("api", "chat")
    timeout_s = settings.pop("timeout_s", 20.0)
    return HostedModel(server.address(api, timeout_s), **{"patience_s": PATIENCE_S, **settings})


def single_replies(model, requests):
    with closing(model.arrivals(requests)) as lots:
        for lot in lots:
            yield from lot


def some_requests(count, **settings):
    return [Request(f"The cat sat {number} times.", max_tokens=1, **settings) for number in range(count)]


def interrupted(server, *interruptions):
    server.interruptions.extend(interruptions)
    return server


def error_of(server, count=1, **settings):
    with pytest.raises(EvaluatorError) as raised:
        sender(server, **settings).replies(some_requests(count))
    return raised.value


def asking_threads():
    return [thread for thread in threading.enumerate() if thread.name == "asking"]


class TestReplies:
    def test_replies_are_in_the_order_of_requests(self, server):
        server.interruptions = [Interruption(delay_s=0.3)]
        requests = some_requests(6)
        together = sender(server).replies(requests)
        assert together == [sender(server).replies([request])[0] for request in requests]

    def test_replies_are_yielded_on_arrival_in_the_calling_thread(self, server):
        server.interruptions = [Interruption(delay_s=0.5)]
        came = [
            (place, threading.current_thread())
            for place, _ in single_replies(sender(server), some_requests(5))
        ]
        assert sorted(place for place, _ in came) == list(range(5))
        assert {thread for _, thread in came} == {threading.current_thread()}
        assert came[-1][0] == number_of_first_request(server)

    def test_no_requests_send_nothing(self, server):
        assert sender(server).replies([]) == []
        assert server.asked == []

    @pytest.mark.parametrize("api", ["chat", "completions"])
    def test_replies_have_usage_and_model(self, server, api):
        [reply] = sender(server, api=api).replies(some_requests(1))
        assert reply.model == "tiny-2026"
        assert reply.usage.prompt_tokens > 5
        assert reply.usage.completion_tokens == 1
        assert reply.problem == "truncated"

    def test_given_key_takes_precedence_over_the_environment(self, server, monkeypatch):
        monkeypatch.delenv("TINY_API_KEY")
        assert len(sender(server, key="another").replies(some_requests(2))) == 2
        assert "another" not in repr(sender(server, key="another"))

    def test_nearby_endpoint_needs_no_key(self, server, monkeypatch):
        monkeypatch.delenv("TINY_API_KEY")
        assert len(sender(server).replies(some_requests(2))) == 2
        assert server.keys == ["Bearer none"] * 2

    def test_remote_endpoint_needs_a_key(self, server, monkeypatch):
        monkeypatch.delenv("TINY_API_KEY")
        elsewhere = replace(server.address(), base_url="https://llm.example.org/v1")
        with pytest.raises(EvaluatorError, match="TINY_API_KEY is not set") as raised:
            HostedModel(elsewhere).replies(some_requests(1))
        assert raised.value.permanent

    def test_this_machine_is_reached_without_proxy(self, server, monkeypatch):
        monkeypatch.delenv("NO_PROXY")
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
        assert len(sender(server, patience_s=0.5).replies(some_requests(2))) == 2

    def test_zero_requests_in_flight_is_refused(self, server):
        with pytest.raises(ValueError, match="most_in_flight: found 0, expected 1 or more"):
            sender(server, most_in_flight=0)

    def test_lone_surrogate_does_not_stop_other_requests(self, server):
        assert len(sender(server).replies([Request("\ud83d", max_tokens=1), *some_requests(1)])) == 2


def test_invalid_key_is_refused_without_showing_it(server, monkeypatch):
    monkeypatch.setenv("TINY_API_KEY", "sk-never-told\n")
    with pytest.raises(EvaluatorError, match="TINY_API_KEY holds no valid key") as raised:
        HostedModel(server.address()).replies([Request("Hello.")])
    assert raised.value.permanent
    assert "never-told" not in str(raised.value)
    assert not server.asked


def number_of_first_request(server):
    """Return the number of the request that arrived first, which was answered last."""
    return int(server.asked[-1]["messages"][-1]["content"].split()[3])


class TestConcurrency:
    def test_requests_in_flight_stay_within_the_limit(self, server):
        server.interruptions = [Interruption(delay_s=0.05) for _ in range(24)]
        sender(server, most_in_flight=3).replies(some_requests(24))
        assert server.most_at_once == 3

    def test_no_more_requests_than_the_limit_are_sent_before_replies_are_stored(self, server):
        stored, unstored = 0, []
        with closing(sender(server, most_in_flight=3).arrivals(some_requests(24))) as lots:
            for lot in lots:
                time.sleep(0.05)  # storing takes time, in which the server answers on
                unstored.append(len(server.asked) - stored)
                stored += len(lot)
        assert stored == 24
        assert max(unstored) == 3

    def test_requests_in_flight_grow_and_halve(self, server):
        one, window = sender(server), window_of(server.base_url)
        server.interruptions = [Interruption(delay_s=0.15) for _ in range(60)]
        one.replies(some_requests(60))
        before = window.most
        assert 8 < server.most_at_once <= before <= 32
        server.interruptions = [Interruption(429, {"Retry-After": "0"})]
        one.replies(some_requests(1))
        assert window.most == before / 2


class TestRetries:
    @pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
    def test_passing_errors_are_retried(self, server, status):
        interrupted(
            server, Interruption(status, {"Retry-After": "0"}), Interruption(status, {"retry-after-ms": "1"})
        )
        assert len(sender(server).replies(some_requests(2))) == 2
        assert len(server.asked) == 2

    def test_broken_connection_and_timeout_are_retried(self, server):
        interrupted(server, Interruption(hang_up=True), Interruption(delay_s=120.0))
        assert len(sender(server, timeout_s=1.0, patience_s=120.0).replies(some_requests(2))) == 2

    def test_requested_pause_holds_for_all_requests(self, server):
        interrupted(server, Interruption(429, {"Retry-After": "1"}))
        sender(server, most_in_flight=1).replies(some_requests(3))
        refused, *others = server.came_at
        assert min(others) - refused >= 0.9

    def test_too_long_a_requested_pause_fails_at_once(self, server):
        interrupted(server, Interruption(429, {"Retry-After": "3600"}))
        error = error_of(server)
        assert not error.permanent
        assert len(server.came_at) == 1

    def test_client_gives_up_after_its_patience_and_keeps_replies(self, server):
        requests = some_requests(6)
        server.can = Can(knows=lambda prompt: "3 times" not in prompt, refusal=503)
        came = []
        with pytest.raises(EvaluatorError) as raised:
            came.extend(single_replies(sender(server, patience_s=1.0, most_in_flight=2), requests))
        assert not raised.value.permanent
        assert "503" in str(raised.value)
        assert {place for place, _ in came} >= {0, 1, 2}

    def test_refused_connection_is_an_outage(self):
        with ModelServer() as gone:
            address = gone.address()
        with pytest.raises(EvaluatorError) as raised:
            HostedModel(address, patience_s=0.5).replies(some_requests(2))
        assert not raised.value.permanent

    def test_endpoint_that_cannot_be_connected_to_is_given_up_sooner(self, monkeypatch):
        monkeypatch.setattr(client, "UNREACHABLE_S", 0.5)
        with ModelServer() as gone:
            address = gone.address()
        began = time.monotonic()
        with pytest.raises(EvaluatorError) as raised:
            HostedModel(address, patience_s=240.0).replies(some_requests(2))
        assert not raised.value.permanent
        assert time.monotonic() - began < 60

    def test_endpoint_that_takes_no_connection_is_given_up_sooner(self, monkeypatch):
        monkeypatch.setattr(client, "UNREACHABLE_S", 0.5)
        monkeypatch.setattr(transport, "CONNECT_S", 0.2)
        with ExitStack() as sockets:
            full = sockets.enter_context(socket.create_server(("127.0.0.1", 0), backlog=1))
            for _ in range(8):  # more than the system lets wait
                waiting = sockets.enter_context(socket.socket())
                waiting.setblocking(False)
                waiting.connect_ex(full.getsockname())
            base_url = f"http://127.0.0.1:{full.getsockname()[1]}/v1"
            address = Address(base_url, "m", "chat", "NO_API_KEY", 5.0, reach=Reach.THIS_MACHINE)
            with pytest.raises(EvaluatorError, match="gives no answer:") as raised:
                HostedModel(address, patience_s=10.0).replies(some_requests(2))
        assert not raised.value.permanent


class TestMinimalServer:
    """A server with one thread, five places in its queue, HTTP/1.0 and the minimum of fields."""

    def test_all_requests_are_answered(self):
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                text = asked["messages"][-1]["content"].split()[3]
                self.send_response(200)
                self.end_headers()
                self.wfile.write(json.dumps({"choices": [{"message": {"content": text}}]}).encode())

            def log_message(self, *_):
                pass

        with HTTPServer(("127.0.0.1", 0), Handler) as plain:
            threading.Thread(target=plain.serve_forever, args=(0.02,), daemon=True).start()
            address = Address(
                f"http://localhost:{plain.server_port}/v1/",
                "m",
                "chat",
                "NO_API_KEY",
                reach=Reach.THIS_MACHINE,
            )
            replies = HostedModel(address, patience_s=PATIENCE_S).replies(some_requests(64))
            plain.shutdown()
        assert [reply.text for reply in replies] == [str(number) for number in range(64)]


class TestPermanentFailures:
    @pytest.mark.parametrize(
        ("status", "code"),
        [(400, None), (401, None), (403, None), (404, None), (422, None), (429, "insufficient_quota")],
    )
    def test_permanent_failure_is_not_retried(self, server, status, code):
        interrupted(server, Interruption(status, code=code))
        error = error_of(server)
        assert error.permanent
        assert str(status) in str(error)
        assert server.asked == []

    def test_only_requests_in_flight_finish_after_a_failure(self, server):
        interrupted(server, Interruption(delay_s=0.5), Interruption(delay_s=0.2, status=401))
        came = []
        with pytest.raises(EvaluatorError, match="401"):
            came.extend(single_replies(sender(server, most_in_flight=2), some_requests(20)))
        assert 1 <= len(came) == len(server.asked) < 20

    def test_no_request_is_retried_after_a_failure(self, server):
        interrupted(server, Interruption(503, {"Retry-After": "120"}), Interruption(401, delay_s=0.3))
        began = time.monotonic()
        with pytest.raises(EvaluatorError, match="401"):
            sender(server, most_in_flight=2, patience_s=600.0).replies(some_requests(2))
        assert server.asked == []
        assert time.monotonic() - began < 60

    @pytest.mark.parametrize(
        ("status", "code", "message", "problem"),
        [
            (400, "content_filter", "no", "filtered"),
            (400, "invalid_prompt", "no", "filtered"),
            (400, "context_length_exceeded", "no", TOO_LONG),
            (400, "400", "This model's maximum context length is 2048 tokens", TOO_LONG),
            (413, None, "no", TOO_LONG),
        ],
    )
    def test_refusal_of_one_prompt_is_a_reply(self, server, status, code, message, problem):
        interrupted(server, Interruption(status, code=code, message=message))
        replies = sender(server, most_in_flight=1).replies(some_requests(2))
        assert replies[0].problem == problem
        assert replies[0].text == ""
        assert replies[1].text

    @pytest.mark.parametrize("status", [400, 404, 422])
    def test_refused_prompts_among_answered_ones_are_replies(self, server, status):
        server.can = Can(
            knows=lambda prompt: "3 times" not in prompt and "0 times" not in prompt, refusal=status
        )
        replies = sender(server, most_in_flight=1).replies(some_requests(6))
        assert [place for place, each in enumerate(replies) if each.problem == "refused"] == [0, 3]
        assert len(server.asked) == 6

    def test_unknown_model_fails_all_requests(self, server):
        interrupted(server, Interruption(), Interruption(404, message="The model `m` does not exist."))
        assert "does not exist" in str(error_of(server, count=4, most_in_flight=1))
        assert len(server.asked) == 1

    def test_refusals_without_answers_stop_early(self, server):
        server.can = Can(knows=lambda _: False)
        assert "400" in str(error_of(server, count=100, most_in_flight=4))
        assert 32 <= len(server.asked) < 40

    def test_model_that_has_answered_may_refuse_all_prompts(self, server):
        server.can = Can(knows=lambda _: False)
        replies = replace(sender(server, most_in_flight=4), has_answered=True).replies(some_requests(40))
        assert {each.problem for each in replies} == {"refused"}

    def test_spent_credit_fails_all_requests(self, server):
        interrupted(server, Interruption(), Interruption(400, message="Your credit balance is too low."))
        assert "credit balance" in str(error_of(server, count=4, most_in_flight=1))

    def test_wrong_path_gives_a_hint(self, server):
        interrupted(server, Interruption(404))
        nowhere = replace(server.address(), base_url=server.base_url.removesuffix("/v1"))
        with pytest.raises(
            EvaluatorError, match=r"requested: \S+/chat/completions; most addresses end in /v1"
        ):
            HostedModel(nowhere).replies(some_requests(1))

    def test_error_messages_do_not_contain_the_key(self, server):
        interrupted(server, Interruption(401, message="wrong key sk-secret, and the key"))
        assert "sk-secret" not in str(error_of(server, key="sk-secret"))


class TestParameters:
    def test_token_limit_of_a_reasoning_model_is_learnt_once(self, server):
        server.can = Can(token_limit="max_completion_tokens")
        one = sender(server, most_in_flight=1)
        assert len(one.replies(some_requests(2))) == 2
        assert len(one.replies(some_requests(1))) == 1
        limits = [set(body) & {"max_tokens", "max_completion_tokens"} for body in server.asked]
        assert limits == [{"max_tokens"}, *[{"max_completion_tokens"}] * 3]

    def test_fastapi_errors_are_understood(self, server):
        server.can = Can(token_limit="max_completion_tokens", refusal=422, fastapi=True)
        assert len(sender(server).replies(some_requests(1))) == 1
        server.can = Can(token_limit="max_completion_tokens", temperature=False, refusal=422, fastapi=True)
        assert "body.temperature: Extra inputs are not permitted" in str(error_of(server))

    def test_known_token_limit_is_used_at_once(self, server):
        server.can = Can(token_limit="max_completion_tokens", temperature=False)
        known = Abilities(token_limit="max_completion_tokens", temperature=False)
        sender(server, abilities=known).replies(some_requests(1, temperature=1.0))
        [body] = server.asked
        assert "temperature" not in body

    def test_too_large_a_limit_keeps_its_message(self, server):
        interrupted(
            server,
            Interruption(400, message="max_tokens is too large: at most 8"),
            Interruption(400, message="max_completion_tokens is not known"),
        )
        error = error_of(server)
        assert error.permanent
        assert "too large: at most 8" in str(error)

    def test_greedy_is_refused_without_temperature(self, server):
        server.can = Can(temperature=False)
        error = error_of(server)
        assert error.permanent
        assert "temperature 0, which the mode greedy needs" in str(error)
        assert "samples at temperature 1" in str(error)

    def test_fewer_alternatives_are_requested_after_a_refusal(self, server):
        server.can = Can(alternatives=5)
        sender(server).replies(some_requests(1, wanted=Wanted.FIRST_TOKEN, marks=("1",)))
        assert [body["top_logprobs"] for body in server.asked] == [20, 5]

    def test_default_temperature_is_omitted_after_a_refusal(self, server):
        server.can = Can(temperature=False)
        assert len(sender(server).replies(some_requests(2, temperature=1.0))) == 2

    @pytest.mark.parametrize(
        ("abilities", "asked", "words"),
        [
            (Abilities(logprobs=0), {"wanted": Wanted.FIRST_TOKEN, "marks": ("1",)}, "logprobs"),
            (Abilities(json_schema=False), {"schema": "{}"}, "response_format"),
            (Abilities(), {"wanted": Wanted.LIKELIHOOD, "marks": ("1",)}, "local model"),
        ],
    )
    def test_unsupported_requests_are_refused_before_sending(self, server, abilities, asked, words):
        with pytest.raises(EvaluatorError, match=words) as raised:
            sender(server, abilities=abilities).replies(some_requests(1, **asked))
        assert raised.value.permanent
        assert server.asked == []


class TestSeveralSamples:
    DRAWS = [Request("The cat", max_tokens=6, temperature=1.0, sample=sample) for sample in range(5)]

    def test_samples_share_a_call_if_the_endpoint_supports_it(self, server):
        replies = sender(server, abilities=Abilities(n=True)).replies([*self.DRAWS, *some_requests(2)])
        assert sorted(body.get("n", 1) for body in server.asked) == [1, 1, 5]
        assert len({reply.text for reply in replies[:5]}) > 1
        prompt_tokens = [reply.usage.prompt_tokens for reply in replies[:5]]
        assert prompt_tokens[0] > 0
        assert set(prompt_tokens[1:]) == {0}
        assert sum(reply.usage.completion_tokens for reply in replies[:5]) <= 30

    def test_samples_are_sent_one_by_one_if_support_is_unknown(self, server):
        sender(server).replies(self.DRAWS)
        assert [body.get("n", 1) for body in server.asked] == [1] * 5

    def test_missing_samples_are_requested_again(self, server):
        server.can = Can(several=False, refusal=0)
        replies = sender(server, abilities=Abilities(n=True)).replies(self.DRAWS)
        assert len(replies) == 5
        assert sorted(body.get("n", 1) for body in server.asked) == [1, 2, 3, 4, 5]

    def test_samples_at_temperature_0_are_not_merged(self, server):
        sender(server, abilities=Abilities(n=True)).replies([replace(self.DRAWS[0], temperature=0.0)] * 2)
        assert [body.get("n", 1) for body in server.asked] == [1, 1]


class TestCancelling:
    def test_closing_early_cancels_everything(self, server):
        server.interruptions = [Interruption(), *(Interruption(delay_s=300.0) for _ in range(20))]
        answers = single_replies(sender(server, most_in_flight=4), some_requests(20))
        next(answers)
        began = time.monotonic()
        answers.close()
        assert time.monotonic() - began < 60
        assert asking_threads() == []

    def test_a_cancellation_that_a_library_swallows_is_repeated(self, server, monkeypatch):
        asked = client.ask

        async def swallow_once(*arguments):
            with suppress(asyncio.CancelledError):
                return await asked(*arguments)
            return await asked(*arguments)

        monkeypatch.setattr(client, "ask", swallow_once)
        server.interruptions = [Interruption(), *(Interruption(delay_s=300.0) for _ in range(20))]
        answers = single_replies(sender(server, most_in_flight=4, timeout_s=100.0), some_requests(20))
        next(answers)
        began = time.monotonic()
        answers.close()
        assert time.monotonic() - began < 60

    def test_no_thread_and_no_socket_is_left(self, server):
        with warnings.catch_warnings():
            warnings.simplefilter("error", ResourceWarning)
            sockets = open_sockets()
            for _ in range(3):
                sender(server).replies(some_requests(8))
            gc.collect()
        assert asking_threads() == []
        wait_until(lambda: open_sockets() <= sockets)

    def test_error_in_the_caller_cancels_everything(self, server):
        def fail_at_first_reply():
            for _ in single_replies(sender(server), some_requests(20)):
                raise LookupError

        server.interruptions = [Interruption(), *(Interruption(delay_s=300.0) for _ in range(20))]
        with pytest.raises(LookupError):
            fail_at_first_reply()
        gc.collect()
        assert asking_threads() == []

    @pytest.fixture
    def with_sigint(self):
        """Restore the Ctrl-C handler, which shells disable for background processes."""
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        yield
        signal.signal(signal.SIGINT, before)

    @pytest.mark.usefixtures("with_sigint")
    def test_interrupt_cancels_everything(self, server):
        def interrupt_after_first_request():
            wait_until(lambda: server.came_at)
            os.kill(os.getpid(), signal.SIGINT)

        server.interruptions = [Interruption(delay_s=300.0) for _ in range(8)]
        began = time.monotonic()
        threading.Thread(target=interrupt_after_first_request).start()
        with pytest.raises(KeyboardInterrupt):
            sender(server).replies(some_requests(8))
        assert time.monotonic() - began < 120
        assert asking_threads() == []


def open_sockets():
    links = []
    for each in os.listdir("/proc/self/fd"):
        try:
            links.append(os.readlink(f"/proc/self/fd/{each}"))
        except OSError:
            continue
    return sum(link.startswith("socket:") for link in links)


def wait_until(condition):
    for _ in range(6000):
        if condition():
            return
        time.sleep(0.02)
    pytest.fail("the condition was not met in time")
