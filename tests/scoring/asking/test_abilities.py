"""What is found out about endpoints that know, refuse or ignore what they are asked."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from scoring.asking.abilities import QUESTION, Abilities, find_abilities, unable
from scoring.asking.request import Request, Wanted
from scoring.contract import EvaluatorError
from tests.scoring.asking.model_server import Can, Interruption, ModelServer

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
    def test_all_of_a_chat_that_can_do_all(self, server):
        assert found(server) == ALL
        assert len(server.asked) <= 8

    def test_a_caller_may_have_a_running_loop(self, server):
        async def in_a_loop():
            return found(server)

        with ThreadPoolExecutor(1) as thread:
            assert thread.submit(asyncio.run, in_a_loop()).result() == ALL

    def test_all_of_completions_which_have_no_schema(self, server):
        server.can = Can(alternatives=5)
        known = found(server, "completions")
        assert (known.logprobs, known.n, known.json_schema) == (5, True, False)

    @pytest.mark.parametrize("refusal", [400, 404, 422, 500, 501])
    @pytest.mark.parametrize("api", ["chat", "completions"])
    def test_what_is_refused_it_cannot_do(self, server, api, refusal):
        server.can = Can(**NOTHING, refusal=refusal)
        assert found(server, api) == PLAIN

    def test_what_is_ignored_it_cannot_do_either(self, server):
        server.can = Can(**NOTHING, refusal=0)
        assert found(server) == PLAIN

    def test_a_model_that_only_thought_may_show_probabilities_all_the_same(self, server, monkeypatch):
        silent = {"message": {"content": ""}, "finish_reason": "length", "logprobs": None}
        monkeypatch.setattr(server, "answer", lambda *_: (200, {"choices": [silent]}))
        known = found(server)
        assert (known.logprobs, known.json_schema) == (None, None)

    def test_fewer_alternatives_than_asked_for_first(self, server):
        server.can = Can(alternatives=5)
        assert found(server).logprobs == 5

    def test_a_reasoning_models_manners(self, server):
        server.can = Can(token_limit="max_completion_tokens", temperature=False, alternatives=0)
        known = found(server)
        assert (known.token_limit, known.temperature, known.logprobs) == ("max_completion_tokens", False, 0)
        assert known.n is True

    @pytest.mark.parametrize("refusal", [400, 404, 422, 500])
    def test_of_one_that_does_not_know_the_question_nothing_is_known(self, server, refusal):
        server.can = Can(knows=lambda prompt: prompt.startswith("Text:"), refusal=refusal)
        assert found(server) == Abilities(batches=True)
        assert found(server, question=Request("Text: a cat.", max_tokens=4)).logprobs == 20

    @pytest.mark.parametrize("status", [408, 429, 502, 503])
    def test_an_outage_in_between_tells_nothing(self, server, status):
        broken = Interruption(status)
        server.interruptions = [Interruption(), broken, broken, broken]
        known = found(server)
        assert (known.n, known.logprobs, known.json_schema) == (None, None, None)
        assert known.usage is True

    @pytest.mark.parametrize(
        ("status", "code"), [(401, None), (403, None), (404, "model_not_found"), (503, None)]
    )
    def test_a_wrong_key_or_model_and_an_outage_are_errors(self, server, status, code):
        server.interruptions = [Interruption(status, code=code)]
        with pytest.raises(EvaluatorError, match=str(status)) as raised:
            found(server)
        assert raised.value.permanent == (status != 503)

    def test_nobody_listening_is_an_error(self):
        with ModelServer() as gone:
            address = gone.address()
        with pytest.raises(EvaluatorError, match="no answer"):
            find_abilities(address, "key")

    def test_another_protocol_is_an_error(self, server, monkeypatch):
        monkeypatch.setattr(server, "answer", lambda *_: (200, {"hello": "you"}))
        with pytest.raises(EvaluatorError):
            found(server)


class TestRemembering:
    def test_they_survive_json(self):
        assert Abilities.from_json(ALL.as_json()) == ALL
        assert Abilities.from_json(None) == Abilities()

    def test_what_another_version_stored_is_read_as_far_as_it_goes(self):
        assert Abilities.from_json({"n": True, "wings": 2}) == Abilities(n=True)


class TestUnable:
    PLAINLY = Request("p")
    FIRST = Request("p", wanted=Wanted.FIRST_TOKEN, marks=("1", "2"))

    @pytest.mark.parametrize("abilities", [Abilities(), ALL])
    @pytest.mark.parametrize(
        "asked", [PLAINLY, FIRST, Request("p", schema="{}"), Request("p", temperature=1)]
    )
    def test_what_it_can_do_or_may_be_able_to_do_is_asked(self, abilities, asked):
        assert unable(abilities, [asked]) is None

    @pytest.mark.parametrize(
        ("abilities", "asked", "words"),
        [
            (PLAIN, FIRST, "no probabilities of tokens"),
            (Abilities(logprobs=1), FIRST, "no probabilities of tokens"),
            (PLAIN, Request("p", schema="{}"), "does not hold replies to a JSON schema"),
            (Abilities(temperature=False), PLAINLY, "the mode greedy needs"),
            (Abilities(temperature=False), Request("p", temperature=0.7), "temperature 0.7"),
            (ALL, Request("p", wanted=Wanted.LIKELIHOOD), "local model"),
        ],
    )
    def test_what_it_cannot_do_is_said_in_words_that_say_what_works(self, abilities, asked, words):
        said = unable(abilities, [self.PLAINLY, asked] if abilities.temperature else [asked])
        assert words in said
        assert "what works is" in said

    def test_several_draws_need_no_n(self):
        assert unable(PLAIN, [Request("p", temperature=1, sample=number) for number in range(3)]) is None


def test_the_question_is_short():
    assert len(QUESTION.prompt) < 200
    assert QUESTION.max_tokens <= 16
