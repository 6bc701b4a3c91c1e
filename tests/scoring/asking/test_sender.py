"""Many requests at once, against a real server on a socket."""

import gc
import json
import os
import signal
import threading
import time
import warnings
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from scoring.asking.abilities import Abilities
from scoring.asking.congestion import window_of
from scoring.asking.request import TOO_LONG, Address, Request, Wanted
from scoring.asking.sender import Sender
from scoring.contract import EvaluatorError
from tests.scoring.asking.model_server import Can, Interruption, ModelServer

PATIENCE_S = 8.0


def sender(server, **settings):
    api = settings.pop("api", "chat")
    timeout_s = settings.pop("timeout_s", 20.0)
    return Sender(server.address(api, timeout_s), **{"patience_s": PATIENCE_S, **settings})


def some(count, **settings):
    return [Request(f"The cat sat {number} times.", max_tokens=1, **settings) for number in range(count)]


def broken(server, *interruptions):
    server.interruptions.extend(interruptions)
    return server


def error_of(server, count=1, **settings):
    with pytest.raises(EvaluatorError) as raised:
        sender(server, **settings).replies(some(count))
    return raised.value


def asking_threads():
    return [thread for thread in threading.enumerate() if thread.name == "asking"]


class TestReplies:
    def test_they_are_in_the_order_of_the_requests_whichever_comes_first(self, server):
        server.interruptions = [Interruption(delay_s=0.3)]
        requests = some(6)
        together = sender(server).replies(requests)
        assert together == [sender(server).replies([request])[0] for request in requests]

    def test_they_are_yielded_as_they_come_in_the_calling_thread(self, server):
        server.interruptions = [Interruption(delay_s=0.5)]
        came = [(place, threading.current_thread()) for place, _ in sender(server).answers(some(5))]
        assert sorted(place for place, _ in came) == list(range(5))
        assert {thread for _, thread in came} == {threading.current_thread()}
        assert came[-1][0] == server_was_slow_with(server)

    def test_nothing_is_asked_where_there_is_nothing_to_ask(self, server):
        assert sender(server).replies([]) == []
        assert server.asked == []

    @pytest.mark.parametrize("api", ["chat", "completions"])
    def test_tokens_and_the_model_are_told(self, server, api):
        [reply] = sender(server, api=api).replies(some(1))
        assert reply.model == "tiny-2026"
        assert reply.usage.prompt_tokens > 5
        assert reply.usage.completion_tokens == 1
        assert reply.problem == "truncated"

    def test_a_key_that_is_given_goes_before_the_environment(self, server, monkeypatch):
        monkeypatch.delenv("TINY_API_KEY")
        assert len(sender(server, key="another").replies(some(2))) == 2
        assert "another" not in repr(sender(server, key="another"))

    def test_without_a_key_one_nearby_is_asked_all_the_same(self, server, monkeypatch):
        monkeypatch.delenv("TINY_API_KEY")
        assert len(sender(server).replies(some(2))) == 2
        assert server.keys == ["Bearer none"] * 2

    def test_without_a_key_nothing_far_away_is_asked(self, server, monkeypatch):
        monkeypatch.delenv("TINY_API_KEY")
        elsewhere = replace(server.address(), base_url="https://llm.example.org/v1")
        with pytest.raises(EvaluatorError, match="TINY_API_KEY is not set") as raised:
            Sender(elsewhere).replies(some(1))
        assert raised.value.permanent

    def test_no_proxy_stands_between_this_machine_and_itself(self, server, monkeypatch):
        monkeypatch.delenv("NO_PROXY")
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
        assert len(sender(server, patience_s=0.5).replies(some(2))) == 2

    def test_none_at_a_time_is_refused(self, server):
        with pytest.raises(ValueError, match="most_in_flight: found 0, expected 1 or more"):
            sender(server, most_in_flight=0)

    def test_half_a_character_does_not_stop_the_others(self, server):
        assert len(sender(server).replies([Request("\ud83d", max_tokens=1), *some(1)])) == 2


def test_a_key_that_no_header_can_carry_is_refused_and_not_told(server, monkeypatch):
    monkeypatch.setenv("TINY_API_KEY", "sk-never-told\n")
    with pytest.raises(EvaluatorError, match="TINY_API_KEY holds no key") as raised:
        Sender(server.address()).replies([Request("Hello.")])
    assert raised.value.permanent
    assert "never-told" not in str(raised.value)
    assert not server.asked


def server_was_slow_with(server):
    """Place of the request that came first, which was answered late."""
    return int(server.asked[-1]["messages"][-1]["content"].split()[3])


class TestAtOnce:
    def test_never_more_than_allowed(self, server):
        server.interruptions = [Interruption(delay_s=0.05) for _ in range(24)]
        sender(server, most_in_flight=3).replies(some(24))
        assert server.most_at_once == 3

    def test_more_while_it_goes_well_and_half_when_it_is_too_many(self, server):
        one, window = sender(server), window_of(server.base_url)
        server.interruptions = [Interruption(delay_s=0.15) for _ in range(60)]
        one.replies(some(60))
        before = window.most
        assert 8 < server.most_at_once <= before <= 32
        server.interruptions = [Interruption(429, {"Retry-After": "0"})]
        one.replies(some(1))
        assert window.most == before / 2


class TestAnotherTry:
    @pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
    def test_what_passes_is_waited_out(self, server, status):
        broken(
            server, Interruption(status, {"Retry-After": "0"}), Interruption(status, {"retry-after-ms": "1"})
        )
        assert len(sender(server).replies(some(2))) == 2
        assert len(server.asked) == 2

    def test_a_broken_connection_and_a_late_answer_too(self, server):
        broken(server, Interruption(hang_up=True), Interruption(delay_s=0.6))
        assert len(sender(server, timeout_s=0.4).replies(some(2))) == 2

    def test_it_waits_for_as_long_as_it_is_told_and_so_do_others(self, server):
        broken(server, Interruption(429, {"Retry-After": "1"}))
        sender(server, most_in_flight=1).replies(some(3))
        refused, *others = server.came_at
        assert min(others) - refused >= 0.9

    def test_it_gives_up_at_once_when_it_is_told_to_wait_too_long(self, server):
        broken(server, Interruption(429, {"Retry-After": "3600"}))
        error = error_of(server)
        assert not error.permanent
        assert len(server.came_at) == 1

    def test_it_gives_up_after_a_while_and_keeps_what_came(self, server):
        requests = some(6)
        server.can = Can(knows=lambda prompt: "3 times" not in prompt, refusal=503)
        came = []
        with pytest.raises(EvaluatorError) as raised:
            came.extend(sender(server, patience_s=1.0, most_in_flight=2).answers(requests))
        assert not raised.value.permanent
        assert "503" in str(raised.value)
        assert {place for place, _ in came} >= {0, 1, 2}

    def test_nobody_listening_is_an_outage(self):
        with ModelServer() as gone:
            address = gone.address()
        with pytest.raises(EvaluatorError) as raised:
            Sender(address, patience_s=0.5).replies(some(2))
        assert not raised.value.permanent


class TestThePlainestServer:
    """One thread, five places in its queue, HTTP/1.0, and nothing said but the reply."""

    def test_it_answers_all(self):
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
            address = Address(f"http://localhost:{plain.server_port}/v1/", "m", "chat", "NO_API_KEY")
            replies = Sender(address, patience_s=PATIENCE_S).replies(some(64))
            plain.shutdown()
        assert [reply.text for reply in replies] == [str(number) for number in range(64)]


class TestForGood:
    @pytest.mark.parametrize(
        ("status", "code"),
        [(400, None), (401, None), (403, None), (404, None), (422, None), (429, "insufficient_quota")],
    )
    def test_it_is_not_tried_again(self, server, status, code):
        broken(server, Interruption(status, code=code))
        error = error_of(server)
        assert error.permanent
        assert str(status) in str(error)
        assert server.asked == []

    def test_those_under_way_are_waited_for_and_no_other_is_sent(self, server):
        broken(server, Interruption(delay_s=0.5), Interruption(delay_s=0.2, status=401))
        came = []
        with pytest.raises(EvaluatorError, match="401"):
            came.extend(sender(server, most_in_flight=2).answers(some(20)))
        assert 1 <= len(came) == len(server.asked) < 20

    def test_one_that_waits_for_another_try_is_not_tried_again(self, server):
        broken(server, Interruption(503, {"Retry-After": "5"}), Interruption(401, delay_s=0.3))
        began = time.monotonic()
        with pytest.raises(EvaluatorError, match="401"):
            sender(server, most_in_flight=2).replies(some(2))
        assert server.asked == []
        assert time.monotonic() - began < 5

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
    def test_a_refusal_of_one_prompt_is_a_reply(self, server, status, code, message, problem):
        broken(server, Interruption(status, code=code, message=message))
        replies = sender(server, most_in_flight=1).replies(some(2))
        assert replies[0].problem == problem
        assert replies[0].text == ""
        assert replies[1].text

    @pytest.mark.parametrize("status", [400, 404, 422])
    def test_prompts_that_are_refused_while_others_are_answered_are_their_own_affair(self, server, status):
        server.can = Can(
            knows=lambda prompt: "3 times" not in prompt and "0 times" not in prompt, refusal=status
        )
        replies = sender(server, most_in_flight=1).replies(some(6))
        assert [place for place, each in enumerate(replies) if each.problem == "refused"] == [0, 3]
        assert len(server.asked) == 6

    def test_an_unknown_model_is_no_affair_of_a_prompt(self, server):
        broken(server, Interruption(), Interruption(404, message="The model `m` does not exist."))
        assert "does not exist" in str(error_of(server, count=4, most_in_flight=1))
        assert len(server.asked) == 1

    def test_where_nobody_is_answered_not_all_are_asked(self, server):
        server.can = Can(knows=lambda _: False)
        assert "400" in str(error_of(server, count=100, most_in_flight=4))
        assert 32 <= len(server.asked) < 40

    def test_what_a_model_refuses_that_has_answered_before_is_refused(self, server):
        server.can = Can(knows=lambda _: False)
        replies = replace(sender(server, most_in_flight=4), has_answered=True).replies(some(40))
        assert {each.problem for each in replies} == {"refused"}

    def test_no_prompt_is_to_blame_for_a_spent_credit(self, server):
        broken(server, Interruption(), Interruption(400, message="Your credit balance is too low."))
        assert "credit balance" in str(error_of(server, count=4, most_in_flight=1))

    def test_a_path_that_is_not_there_is_told(self, server):
        broken(server, Interruption(404))
        nowhere = replace(server.address(), base_url=server.base_url.removesuffix("/v1"))
        with pytest.raises(
            EvaluatorError, match=r"asked was \S+/chat/completions; most addresses end in /v1"
        ):
            Sender(nowhere).replies(some(1))

    def test_the_key_is_in_no_message(self, server):
        broken(server, Interruption(401, message="wrong key sk-secret, and the key"))
        assert "sk-secret" not in str(error_of(server, key="sk-secret"))


class TestManners:
    def test_a_reasoning_models_token_limit_is_learnt_once(self, server):
        server.can = Can(token_limit="max_completion_tokens")
        one = sender(server, most_in_flight=1)
        assert len(one.replies(some(2))) == 2
        assert len(one.replies(some(1))) == 1
        limits = [set(body) & {"max_tokens", "max_completion_tokens"} for body in server.asked]
        assert limits == [{"max_tokens"}, *[{"max_completion_tokens"}] * 3]

    def test_what_fastapi_says_is_understood(self, server):
        server.can = Can(token_limit="max_completion_tokens", refusal=422, fastapi=True)
        assert len(sender(server).replies(some(1))) == 1
        server.can = Can(token_limit="max_completion_tokens", temperature=False, refusal=422, fastapi=True)
        assert "body.temperature: Extra inputs are not permitted" in str(error_of(server))

    def test_a_known_one_is_used_from_the_first(self, server):
        server.can = Can(token_limit="max_completion_tokens", temperature=False)
        known = Abilities(token_limit="max_completion_tokens", temperature=False)
        sender(server, abilities=known).replies(some(1, temperature=1.0))
        [body] = server.asked
        assert "temperature" not in body

    def test_a_limit_that_is_too_large_is_told_as_it_was(self, server):
        broken(
            server,
            Interruption(400, message="max_tokens is too large: at most 8"),
            Interruption(400, message="max_completion_tokens is not known"),
        )
        error = error_of(server)
        assert error.permanent
        assert "too large: at most 8" in str(error)

    def test_greedy_is_refused_where_the_model_takes_no_temperature(self, server):
        server.can = Can(temperature=False)
        error = error_of(server)
        assert error.permanent
        assert "temperature 0, which the mode greedy needs" in str(error)
        assert "samples at temperature 1" in str(error)

    def test_fewer_alternatives_are_taken_where_so_many_are_refused(self, server):
        server.can = Can(alternatives=5)
        sender(server).replies(some(1, wanted=Wanted.FIRST_TOKEN, marks=("1",)))
        assert [body["top_logprobs"] for body in server.asked] == [20, 5]

    def test_its_own_temperature_is_left_out_where_it_takes_none(self, server):
        server.can = Can(temperature=False)
        assert len(sender(server).replies(some(2, temperature=1.0))) == 2

    @pytest.mark.parametrize(
        ("abilities", "asked", "words"),
        [
            (Abilities(logprobs=0), {"wanted": Wanted.FIRST_TOKEN, "marks": ("1",)}, "logprobs"),
            (Abilities(json_schema=False), {"schema": "{}"}, "response_format"),
            (Abilities(), {"wanted": Wanted.LIKELIHOOD, "marks": ("1",)}, "local model"),
        ],
    )
    def test_what_cannot_be_served_is_refused_before_it_is_sent(self, server, abilities, asked, words):
        with pytest.raises(EvaluatorError, match=words) as raised:
            sender(server, abilities=abilities).replies(some(1, **asked))
        assert raised.value.permanent
        assert server.asked == []


class TestSeveralDraws:
    DRAWS = [Request("The cat", max_tokens=6, temperature=1.0, sample=sample) for sample in range(5)]

    def test_they_are_one_call_where_the_endpoint_gives_several(self, server):
        replies = sender(server, abilities=Abilities(n=True)).replies([*self.DRAWS, *some(2)])
        assert sorted(body.get("n", 1) for body in server.asked) == [1, 1, 5]
        assert len({reply.text for reply in replies[:5]}) > 1
        prompt_tokens = [reply.usage.prompt_tokens for reply in replies[:5]]
        assert prompt_tokens[0] > 0
        assert set(prompt_tokens[1:]) == {0}
        assert sum(reply.usage.completion_tokens for reply in replies[:5]) <= 30

    def test_they_are_asked_one_by_one_where_that_is_not_known(self, server):
        sender(server).replies(self.DRAWS)
        assert [body.get("n", 1) for body in server.asked] == [1] * 5

    def test_what_is_missing_is_asked_again(self, server):
        server.can = Can(several=False, refusal=0)
        replies = sender(server, abilities=Abilities(n=True)).replies(self.DRAWS)
        assert len(replies) == 5
        assert sorted(body.get("n", 1) for body in server.asked) == [1, 2, 3, 4, 5]

    def test_one_at_temperature_0_is_not_merged_with_its_like(self, server):
        sender(server, abilities=Abilities(n=True)).replies([replace(self.DRAWS[0], temperature=0.0)] * 2)
        assert [body.get("n", 1) for body in server.asked] == [1, 1]


class TestBreakingOff:
    def test_closing_early_stops_all_and_leaves_nothing_behind(self, server):
        server.interruptions = [Interruption(), *(Interruption(delay_s=1.0) for _ in range(20))]
        answers = sender(server, most_in_flight=4).answers(some(20))
        next(answers)
        began = time.monotonic()
        answers.close()
        assert time.monotonic() - began < 1
        assert asking_threads() == []

    def test_no_thread_and_no_socket_is_left(self, server):
        with warnings.catch_warnings():
            warnings.simplefilter("error", ResourceWarning)
            sockets = open_sockets()
            for _ in range(3):
                sender(server).replies(some(8))
            gc.collect()
        assert asking_threads() == []
        wait_until(lambda: open_sockets() <= sockets)

    def test_a_mistake_of_the_caller_in_between_stops_all(self, server):
        def stumbles():
            for _ in sender(server).answers(some(20)):
                raise LookupError

        server.interruptions = [Interruption(), *(Interruption(delay_s=1.0) for _ in range(20))]
        with pytest.raises(LookupError):
            stumbles()
        gc.collect()
        assert asking_threads() == []

    @pytest.fixture
    def heeded(self):
        """A test run in the background of a shell has been told to ignore Ctrl-C."""
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        yield
        signal.signal(signal.SIGINT, before)

    @pytest.mark.usefixtures("heeded")
    def test_ctrl_c_does_too(self, server):
        server.interruptions = [Interruption(delay_s=3.0) for _ in range(8)]
        timer = threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            sender(server).replies(some(8))
        assert time.monotonic() - began < 3
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
    for _ in range(100):
        if condition():
            return
        time.sleep(0.02)
    pytest.fail("it did not come to pass")
