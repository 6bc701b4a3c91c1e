"""Finding the capabilities of endpoints that support, refuse or ignore features."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict

import pytest

from scoring.contract.evaluator import EvaluatorError
from scoring.contract.requests import Request, Wanted
from scoring.llm.capabilities import QUESTION, Abilities, find_abilities, unable
from tests.scoring.llm.model_server import Can, Interruption, ModelServer

ALL = Abilities(
    temperature=True,
    token_limit="max_tokens",
    n=True,
    logprobs=20,
    json_schema=True,
    usage=True,
    batches=True,
)
PLAIN = Abilities(
    temperature=True,
    token_limit="max_tokens",
    n=False,
    logprobs=0,
    json_schema=False,
    usage=False,
    batches=False,
)
NOTHING = {"alternatives": 0, "several": False, "schema": False, "batches": False, "usage": False}


def found(server, api="chat", **settings):
    return find_abilities(server.address(api), None, **settings)


class TestFinding:
    def test_all_abilities_of_a_chat_are_found(self, server):
        assert found(server) == ALL
        assert len(server.asked) <= 8

    def test_abilities_are_found_inside_a_running_event_loop(self, server):
        async def in_a_loop():
            return found(server)

        with ThreadPoolExecutor(1) as thread:
            assert thread.submit(asyncio.run, in_a_loop()).result() == ALL

    def test_all_abilities_of_completions_are_found(self, server):
        server.can = Can(alternatives=5)
        known = found(server, "completions")
        assert (known.logprobs, known.n, known.json_schema) == (5, True, False)

    @pytest.mark.parametrize("refusal", [400, 404, 422, 500, 501])
    @pytest.mark.parametrize("api", ["chat", "completions"])
    def test_refused_feature_is_a_missing_ability(self, server, api, refusal):
        server.can = Can(**NOTHING, refusal=refusal)
        assert found(server, api) == PLAIN

    def test_ignored_feature_is_a_missing_ability(self, server):
        server.can = Can(**NOTHING, refusal=0)
        assert found(server) == PLAIN

    def test_empty_reply_of_a_reasoning_model_leaves_abilities_unknown(self, server, monkeypatch):
        silent = {"message": {"content": ""}, "finish_reason": "length", "logprobs": None}
        monkeypatch.setattr(server, "answer", lambda *_: (200, {"choices": [silent]}))
        known = found(server)
        assert (known.logprobs, known.json_schema) == (None, None)

    def test_fewer_alternatives_are_found(self, server):
        server.can = Can(alternatives=5)
        assert found(server).logprobs == 5

    def test_reasoning_model_has_its_own_parameters(self, server):
        server.can = Can(token_limit="max_completion_tokens", temperature=False, alternatives=0)
        known = found(server)
        assert (known.token_limit, known.temperature, known.logprobs) == ("max_completion_tokens", False, 0)
        assert known.n is True

    @pytest.mark.parametrize("refusal", [400, 404, 422, 500])
    def test_unknown_question_leaves_abilities_unknown(self, server, refusal):
        server.can = Can(knows=lambda prompt: prompt.startswith("Text:"), refusal=refusal)
        assert found(server) == Abilities(batches=True)
        assert found(server, question=Request("Text: a cat.", max_tokens=4)).logprobs == 20

    def test_endpoint_that_answers_every_address_has_no_batch_api(self, server, monkeypatch):
        def answers(told):
            monkeypatch.setattr(server.batches, "get", lambda _: (200, told))
            return found(server).batches

        assert answers({"object": "list", "data": []}) is False
        assert answers({"object": "list", "data": [{"id": "tiny", "object": "model"}]}) is False
        assert answers({"status": "ok"}) is False

    def test_endpoint_with_batches_of_others_has_a_batch_api(self, server):
        server.batches.batches["batch_0"] = {"id": "batch_0", "object": "batch"}
        assert found(server).batches is True

    @pytest.mark.parametrize("status", [408, 429, 502, 503])
    def test_outage_leaves_an_ability_unknown(self, server, status):
        broken = Interruption(status)
        server.interruptions = [Interruption(), broken, broken, broken]
        known = found(server)
        assert (known.n, known.logprobs, known.json_schema) == (None, None, None)
        assert known.usage is True

    @pytest.mark.parametrize(
        ("status", "code"), [(401, None), (403, None), (404, "model_not_found"), (503, None)]
    )
    def test_wrong_key_wrong_model_and_outage_raise(self, server, status, code):
        server.interruptions = [Interruption(status, code=code)]
        with pytest.raises(EvaluatorError, match=str(status)) as raised:
            found(server)
        assert raised.value.permanent == (status != 503)

    def test_closed_port_raises(self):
        with ModelServer() as gone:
            address = gone.address()
        with pytest.raises(EvaluatorError, match="no answer"):
            find_abilities(address, "key")

    def test_other_protocol_raises(self, server, monkeypatch):
        monkeypatch.setattr(server, "answer", lambda *_: (200, {"hello": "you"}))
        with pytest.raises(EvaluatorError):
            found(server)


class TestRemembering:
    def test_abilities_round_trip_through_json(self):
        assert Abilities.from_json(asdict(ALL)) == ALL
        assert Abilities.from_json(None) == Abilities()

    def test_unknown_abilities_of_another_version_are_ignored(self):
        assert Abilities.from_json({"n": True, "wings": 2}) == Abilities(n=True)


class TestUnsupportedRequests:
    PLAINLY = Request("p")
    FIRST = Request("p", wanted=Wanted.FIRST_TOKEN, marks=("1", "2"))

    def test_known_and_unknown_abilities_allow_requests(self, subtests):
        cases = [self.PLAINLY, self.FIRST, Request("p", schema="{}"), Request("p", temperature=1)]
        for asked in cases:
            for abilities in [Abilities(), ALL]:
                with subtests.test(abilities=abilities, asked=asked):
                    assert unable(abilities, [asked]) is None

    def test_missing_ability_is_refused_with_an_alternative(self, subtests):
        cases = [
            (PLAIN, self.FIRST, "no token probabilities"),
            (Abilities(logprobs=1), self.FIRST, "no token probabilities"),
            (PLAIN, Request("p", schema="{}"), "does not support JSON schemas"),
            (Abilities(temperature=False), self.PLAINLY, "the mode greedy needs"),
            (Abilities(temperature=False), Request("p", temperature=0.7), "temperature 0.7"),
            (ALL, Request("p", wanted=Wanted.LIKELIHOOD), "local model"),
        ]
        for abilities, asked, words in cases:
            with subtests.test(abilities=abilities, asked=asked, words=words):
                said = unable(abilities, [self.PLAINLY, asked] if abilities.temperature else [asked])
                assert words in said
                assert ": use " in said

    def test_several_samples_need_no_n(self):
        assert unable(PLAIN, [Request("p", temperature=1, sample=number) for number in range(3)]) is None


def test_question_is_short():
    assert len(QUESTION.prompt) < 200
    assert QUESTION.max_tokens <= 16
