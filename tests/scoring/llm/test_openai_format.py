"""Request bodies, reading of responses, and probabilities of marks equal to the model's own."""

import json
import math

import pytest

from scoring.contract.evaluator import EvaluatorError
from scoring.contract.requests import Address, Reply, Request, Usage, Wanted
from scoring.llm import openai_format
from scoring.llm.client import HostedModel
from tests.scoring.llm.model_server import Can, loaded, next_logprobs, prompt_tokens

CHAT = Address("http://127.0.0.1/v1", "m", "chat", "A_API_KEY")
COMPLETIONS = Address("http://127.0.0.1/v1", "m", "completions", "A_API_KEY")
YES_NO = Request("Is it so?", wanted=Wanted.FIRST_TOKEN, marks=("Yes", "No"), max_tokens=4)
SCHEMA = json.dumps({"type": "object", "properties": {"score": {"type": "integer"}}, "required": ["score"]})


def chat_answer(content, places=None, **message):
    logprobs = None if places is None else {"content": [place(*each) for each in places]}
    spoken = {"role": "assistant", "content": content, **message}
    return {"model": "m-1", "choices": [{"message": spoken, "finish_reason": "stop", "logprobs": logprobs}]}


def place(token, share, rivals=()):
    shown = [{"token": each, "logprob": math.log(other)} for each, other in dict(rivals).items()]
    return {"token": token, "logprob": math.log(share), "top_logprobs": shown}


def probabilities(answer, request=YES_NO):
    [reply] = openai_format.replies(answer, request)
    return {mark: pytest.approx(share) for mark, share in reply.probabilities.items()}


class TestBodies:
    def test_each_api_has_its_own_parameter_for_alternatives(self):
        chat = openai_format.body(CHAT, YES_NO, openai_format.Manner())
        assert (chat["logprobs"], chat["top_logprobs"]) == (True, 20)
        assert openai_format.body(COMPLETIONS, YES_NO, openai_format.Manner())["logprobs"] == 5
        assert openai_format.body(CHAT, YES_NO, openai_format.Manner(alternatives=7))["top_logprobs"] == 7

    def test_a_schema_is_strict(self):
        form = openai_format.body(CHAT, Request("p", schema=SCHEMA), openai_format.Manner())[
            "response_format"
        ]
        assert form["type"] == "json_schema"
        assert form["json_schema"]["strict"] is True
        assert form["json_schema"]["schema"] == json.loads(SCHEMA)

    def test_completions_refuse_schemas(self):
        with pytest.raises(EvaluatorError, match="response_format"):
            openai_format.body(COMPLETIONS, Request("p", schema=SCHEMA), openai_format.Manner())

    def test_chat_without_system_message_sends_none(self):
        assert openai_format.body(CHAT, Request("p"), openai_format.Manner())["messages"] == [
            {"role": "user", "content": "p"}
        ]


class TestProbabilities:
    def test_blanks_around_a_mark_are_ignored_but_case_is_not(self):
        rivals = {"Yes": 0.5, " Yes": 0.2, "yes": 0.1, "No": 0.1, "Nope": 0.05}
        assert probabilities(chat_answer("Yes.", [("Yes", 0.5, rivals), (".", 1.0)])) == {
            "Yes": 0.7,
            "No": 0.1,
        }

    def test_mark_that_is_not_shown_is_absent(self):
        assert probabilities(chat_answer("Yes", [("Yes", 0.9, {"Yes": 0.9})])) == {"Yes": 0.9}

    def test_written_token_counts_even_if_not_among_the_alternatives(self):
        assert probabilities(chat_answer("No", [("No", 0.2, {"Yes": 0.6})])) == {"No": 0.2, "Yes": 0.6}

    def test_probabilities_after_a_blank_are_multiplied_by_its_own(self):
        places = [(" ", 0.5, {" ": 0.5, "Yes": 0.3}), ("No", 0.8, {"No": 0.8, "Yes": 0.2})]
        assert probabilities(chat_answer(" No", places)) == {"Yes": 0.3 + 0.1, "No": 0.4}

    def test_marks_later_in_the_reply_do_not_count(self):
        places = [("Well", 0.9, {"Well": 0.9}), (" Yes", 1.0, {" Yes": 1.0})]
        assert probabilities(chat_answer("Well Yes", places)) == {}

    @pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
    def test_digits_in_thoughts_do_not_count(self, name):
        marks = Request("p", wanted=Wanted.FIRST_TOKEN, marks=("4", "5"))
        thought = [("5", 1.0, {"5": 1.0}), (" points", 1.0), ("4", 1.0, {"4": 1.0})]
        assert probabilities(chat_answer("4", thought, **{name: "5 points"}), marks) == {}
        assert probabilities(chat_answer("4", thought), marks) == {}

    def test_endpoint_without_probabilities_is_refused_with_a_reason(self):
        with pytest.raises(EvaluatorError, match=r"no token probabilities.*use") as raised:
            openai_format.replies(chat_answer("Yes"), YES_NO)
        assert raised.value.permanent

    @pytest.mark.parametrize(
        ("message", "finish", "problem"),
        [
            ({"content": None, "refusal": "I will not."}, "stop", "refused"),
            ({"content": "No"}, "content_filter", "filtered"),
            ({"content": ""}, "stop", None),
        ],
    )
    def test_refusal_and_empty_reply_have_no_probabilities(self, message, finish, problem):
        answer = {"choices": [{"message": message, "finish_reason": finish, "logprobs": None}]}
        [reply] = openai_format.replies(answer, YES_NO)
        assert (reply.problem, reply.probabilities) == (problem, {})

    def test_reply_cut_after_its_first_token_is_complete(self):
        answer = chat_answer("Yes it", [("Yes", 0.9, {"Yes": 0.9})])
        answer["choices"][0]["finish_reason"] = "length"
        assert openai_format.replies(answer, YES_NO)[0].problem is None

    @pytest.mark.parametrize("api", ["chat", "completions"])
    def test_probabilities_equal_the_models_own(self, server, api):
        if api == "completions":
            server.can = Can(alternatives=5)
        body = (
            {"messages": [{"role": "user", "content": "The cat"}]} if api == "chat" else {"prompt": "The cat"}
        )
        _, tokenizer, _ = loaded()
        own = next_logprobs(prompt_tokens(body))
        expected: dict[str, float] = {}
        for token in own.topk(server.can.alternatives).indices.tolist():
            mark = tokenizer.decode([token]).strip()
            expected[mark] = expected.get(mark, 0.0) + math.exp(own[token])
        expected.pop("", None)
        expected.pop("\ufffd", None)  # parts of a character, which all have this one name in the older API
        request = Request("The cat", wanted=Wanted.FIRST_TOKEN, marks=tuple(expected), max_tokens=1)
        [reply] = HostedModel(server.address(api)).replies([request])
        assert len(expected) > 2
        assert reply.probabilities == {mark: pytest.approx(share) for mark, share in expected.items()}


class TestReplies:
    def test_usage_is_shared_out_and_adds_up(self):
        answer = {"choices": [{"text": each, "finish_reason": "stop"} for each in "abc"]}
        answer["usage"] = {"prompt_tokens": 10, "completion_tokens": 8}
        replies = openai_format.replies(answer, Request("p"))
        assert [each.usage for each in replies] == [Usage(10, 3), Usage(0, 3), Usage(0, 2)]

    @pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": None, "completion_tokens": 1}, "many"])
    def test_missing_usage_is_none(self, usage):
        answer = {"choices": [{"text": "a", "finish_reason": "stop"}], "usage": usage}
        assert openai_format.replies(answer, Request("p")) == [Reply("a")]

    def test_another_protocol_is_refused(self, subtests):
        cases = [
            None,
            [],
            "hi",
            {},
            {"choices": []},
            {"choices": None},
            {"choices": ["x"]},
            {"choices": [{}]},
            {"choices": 1},
        ]
        for answer in cases:
            with subtests.test(answer=answer), pytest.raises(ValueError, match=r"choice|not JSON: 'hi'"):
                openai_format.replies(answer, Request("p"))

    def test_undeclared_json_is_read(self):
        [reply] = openai_format.replies('{"choices": [{"message": {"content": "0.5"}}]}', Request("p"))
        assert reply.text == "0.5"

    def test_parts_of_a_reply_are_joined_without_thoughts(self):
        parts = [
            {"type": "thinking", "thinking": "0.1?"},
            *({"type": "text", "text": each} for each in "0.5"),
        ]
        assert openai_format.replies(chat_answer(parts), Request("p")) == [Reply("0.5", model="m-1")]

    def test_server_with_schemas_follows_them(self, server):
        [reply] = HostedModel(server.address()).replies([Request("The cat", schema=SCHEMA, max_tokens=32)])
        assert json.loads(reply.text)["score"] in range(1, 6)
