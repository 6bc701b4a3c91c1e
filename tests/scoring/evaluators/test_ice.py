"""ICE against a real server that speaks OpenAI's protocol."""

import math
from dataclasses import replace

import pytest

from scoring.contract.evaluator import EvaluatorError, Need, score_unseen
from scoring.evaluators import load_evaluator
from tests.scoring.ice_setup import ITEM, ice, params
from tests.scoring.scripted_endpoint import Answer, ScriptedEndpoint


def score_once(endpoint, answer, **settings):
    """Return value, reason and stored reply of one question about fluency with this answer."""
    endpoint.answer = lambda _: answer
    [scored] = ice(endpoint, dimensions="fluency", **settings).score([ITEM])
    return scored.values["fluency"], scored.reasons.get("fluency"), scored.explanations.get("fluency")


def failure(endpoint, answer, **settings):
    with pytest.raises(EvaluatorError) as raised:
        score_once(endpoint, answer, **settings)
    return raised.value


class TestParams:
    def test_invalid_parameters_are_refused(self, subtests):
        cases = [
            ({"model": ""}, "parameter 'model'"),
            ({"base_url": "ftp://host/v1"}, "parameter 'base_url'"),
            ({"base_url": "localhost:8000"}, "parameter 'base_url'"),
            ({"base_url": "http://"}, "parameter 'base_url'"),
            ({"base_url": "https://user:secret@host/v1"}, "parameter 'base_url'"),
            ({"api_key_env": "SECRET_KEY"}, "parameter 'api_key_env'"),
            ({"api_key_env": "DATABASE_URL"}, "parameter 'api_key_env'"),
            ({"api_key_env": "sk-123"}, "parameter 'api_key_env'"),
            ({"sees": "focus"}, "parameter 'sees': found 'focus'"),
            ({"sees": "focus=everything"}, "parameter 'sees': found 'focus=everything'"),
            ({"dimensions": "focus"}, "parameter 'sees': found nothing for the dimension 'focus'"),
            ({"examples": 0}, "parameter 'examples'"),
        ]
        for settings, message in cases:
            with subtests.test(settings=settings, message=message), pytest.raises(ValueError, match=message):
                params(**settings)

    @pytest.mark.parametrize(
        ("dimensions", "needs"),
        [
            ("", {Need.LABELLED_POOL, Need.ARTICLE, Need.REFERENCES}),
            ("fluency", {Need.LABELLED_POOL}),
            ("fluency,consistency", {Need.LABELLED_POOL, Need.ARTICLE}),
            ("relevance", {Need.LABELLED_POOL, Need.REFERENCES}),
        ],
    )
    def test_needs_follow_the_dimensions(self, dimensions, needs):
        assert load_evaluator("ice").needs_for(params(dimensions=dimensions)) == needs


class TestRequests:
    def test_chat_request_has_the_prompt_temperature_0_and_the_key(self, endpoint):
        evaluator = ice(endpoint, dimensions="fluency", max_tokens=7)
        evaluator.score([ITEM])
        [asked] = endpoint.asked
        assert asked.path == "/v1/chat/completions"
        assert asked.key == "Bearer the-key"
        system, user = asked.body.pop("messages")
        assert system["role"] == "system"
        assert "two decimals" in system["content"]
        assert user == {"role": "user", "content": evaluator.prompt("fluency", ITEM)}
        assert asked.body == {"model": "scripted", "temperature": 0, "max_tokens": 7}

    def test_completion_request_has_only_the_prompt(self, endpoint):
        evaluator = ice(endpoint, dimensions="fluency", api="completions")
        evaluator.score([ITEM])
        [asked] = endpoint.asked
        assert asked.path == "/v1/completions"
        assert asked.body == {
            "model": "scripted",
            "prompt": evaluator.prompt("fluency", ITEM),
            "temperature": 0,
            "max_tokens": 16,
            "stop": ["\n"],
        }

    def test_one_request_is_sent_per_dimension(self, endpoint):
        ice(endpoint).score([ITEM, ITEM])
        assert len(endpoint.asked) == 6

    def test_an_empty_summary_is_not_sent(self, endpoint):
        [scored] = ice(endpoint).score([replace(ITEM, summary=" ")])
        assert set(scored.reasons.values()) == {"empty summary"}
        assert endpoint.asked == []

    def test_summaries_of_example_articles_are_not_scored(self, endpoint):
        evaluator = ice(endpoint, dimensions="fluency")
        seen = next(iter(evaluator.seen.all_article_ids))
        [scored] = score_unseen(evaluator, [replace(ITEM, article_id=seen)])
        assert scored.reasons == {"fluency": "article is in the in-context pool"}
        assert endpoint.asked == []

    def test_missing_text_affects_only_dimensions_that_need_it(self, endpoint):
        [scored] = ice(endpoint).score([replace(ITEM, article=None, references=(" ",))])
        assert scored.reasons == {"consistency": "no article", "relevance": "no reference"}
        assert scored.values["fluency"] == 0.75

    def test_the_key_comes_from_the_named_variable(self, endpoint, monkeypatch):
        monkeypatch.setenv("LOCAL_API_KEY", "another-key")
        ice(endpoint, dimensions="fluency", api_key_env="LOCAL_API_KEY").score([ITEM])
        assert endpoint.asked[0].key == "Bearer another-key"

    def test_missing_key_variable_is_a_permanent_error(self, monkeypatch):
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        with pytest.raises(EvaluatorError, match="OPENAI_API_KEY is not set") as raised:
            ice(base_url="https://llm.example.org/v1", dimensions="fluency").score([ITEM])
        assert raised.value.permanent


class TestReplies:
    def test_one_number_from_0_to_1_is_the_score(self, endpoint, subtests):
        cases = [
            ("0.85", 0.85),
            (" 0.85", 0.85),
            ("0.85.", 0.85),
            ("1", 1.0),
            ("0", 0.0),
            ("1.00\n\nSummary: another one.\nFluency: 0.20", 1.0),
            (".5", 0.5),
            ("0.123456", 0.123456),
            ("0.85 because it reads well", 0.85),
            ("Fluency: 0.85", 0.85),
            ("The summary reads well. Score: 0.85", 0.85),
            ('{"score": 0.85}', 0.85),
            ("[[0.9]]", 0.9),
            ("0,85", 0.85),
            ("85%", 0.85),
        ]
        for api in ["chat", "completions"]:
            for reply, number in cases:
                with subtests.test(api=api, reply=reply, number=number):
                    assert score_once(endpoint, Answer(reply), api=api) == (number, None, reply)

    def test_other_replies_give_no_score_and_are_stored(self, endpoint, subtests):
        cases = [
            "0.8-0.9",
            "0.8 or 0.9",
            "1/5",
            "1 / 5",
            "1 out of 5",
            "0.85%",
            "1e-1",
            "0.8.5",
            "0x1",
            "٠.٥",
            "nan",
            "Consistency: 0.9",
        ]
        for reply in cases:
            with subtests.test(reply=reply):
                value, reason, kept = score_once(endpoint, Answer(reply))
                assert math.isnan(value)
                assert reason == "unparsable"
                assert kept == reply

    @pytest.mark.parametrize("reply", ["1.01", "4", "85", "9.2", "-0.5"])
    def test_number_out_of_range_is_not_clamped(self, endpoint, reply):
        value, reason, kept = score_once(endpoint, Answer(reply))
        assert math.isnan(value)
        assert reason == "out of range"
        assert kept == reply

    @pytest.mark.parametrize("reply", ["", " \n ", None])
    def test_empty_reply_gives_a_reason(self, endpoint, reply):
        value, reason, _ = score_once(endpoint, Answer(reply))
        assert math.isnan(value)
        assert reason == "empty reply"

    @pytest.mark.parametrize(
        ("answer", "expected"),
        [
            (Answer(None, refusal="I cannot rate this."), "refused"),
            (Answer("I'm sorry, but I can't help with that."), "refused"),
            (Answer("0.9", finish_reason="content_filter"), "filtered"),
            (Answer(status=400, error_code="content_filter"), "filtered"),
        ],
    )
    def test_refusal_and_content_filter_give_reasons(self, endpoint, answer, expected):
        value, reason, _ = score_once(endpoint, answer)
        assert math.isnan(value)
        assert reason == expected

    def test_text_of_a_refusal_is_stored(self, endpoint):
        assert score_once(endpoint, Answer(None, refusal="I cannot rate this."))[2] == "I cannot rate this."

    @pytest.mark.parametrize("api", ["chat", "completions"])
    def test_reply_truncated_within_its_score_has_no_score(self, endpoint, api):
        value, reason, kept = score_once(endpoint, Answer("0.8", finish_reason="length"), api=api)
        assert math.isnan(value)
        assert reason == "truncated"
        assert kept == "0.8"

    @pytest.mark.parametrize("reply", ["0.85\n\nThe summary is", "0.85\n\nSummary: another one.\nFlu"])
    def test_score_counts_if_the_reply_is_truncated_after_it(self, endpoint, reply):
        assert score_once(endpoint, Answer(reply, finish_reason="length"))[0] == 0.85

    def test_too_long_prompt_affects_only_its_summary(self, endpoint):
        answer = Answer(status=400, error_code="context_length_exceeded")
        assert score_once(endpoint, answer)[1] == "too long for the model"

    def test_unreadable_reply_affects_only_its_dimension(self, endpoint):
        endpoint.answer = lambda asked: Answer("hm" if asked.prompt.endswith("Fluency:") else "0.5")
        [scored] = ice(endpoint).score([ITEM])
        assert set(scored.reasons) == {"fluency"}
        assert scored.values["consistency"] == scored.values["relevance"] == 0.5


class TestFailures:
    @pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503])
    def test_outage_is_not_permanent(self, endpoint, status):
        error = failure(endpoint, Answer(status=status))
        assert not error.permanent
        assert str(status) in str(error)
        assert len(endpoint.asked) == 1

    @pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
    def test_wrong_key_model_or_request_is_permanent(self, endpoint, status):
        error = failure(endpoint, Answer(status=status))
        assert error.permanent
        assert "scripted" in str(error)
        assert len(endpoint.asked) == 1

    def test_spent_quota_is_permanent(self, endpoint):
        assert failure(endpoint, Answer(status=429, error_code="insufficient_quota")).permanent

    def test_broken_connection_is_an_outage(self, endpoint):
        error = failure(endpoint, Answer(hang_up=True))
        assert not error.permanent
        assert endpoint.base_url in str(error)
        assert len(endpoint.asked) == 1

    def test_timeout_is_an_outage(self, endpoint):
        assert not failure(endpoint, Answer(delay_s=0.5), timeout_s=0.1).permanent
        assert len(endpoint.asked) == 1

    @pytest.mark.usefixtures("endpoint")
    def test_refused_connection_is_an_outage(self):
        with ScriptedEndpoint() as gone:
            address = gone.base_url
        evaluator = ice(dimensions="fluency", base_url=address)
        with pytest.raises(EvaluatorError) as error:
            evaluator.score([ITEM])
        assert not error.value.permanent

    def test_broken_response_body_is_an_outage(self, endpoint):
        assert not failure(endpoint, Answer(raw=b'{"choices": [')).permanent

    @pytest.mark.parametrize("body", [b"{}", b'{"choices": []}', b"[]", b'"hello"'])
    def test_response_in_another_protocol_is_a_permanent_error(self, endpoint, body):
        assert failure(endpoint, Answer(raw=body)).permanent

    def test_errors_do_not_contain_the_key(self, endpoint):
        assert "the-key" not in str(failure(endpoint, Answer(status=401)))


def test_results_do_not_depend_on_the_batch(endpoint):
    endpoint.answer = lambda asked: Answer(f"0.{len(asked.prompt) % 100:02}")
    items = [replace(ITEM, id=str(number), summary="word " * number) for number in range(5)]
    evaluator = ice(endpoint)
    together = evaluator.score(items)
    assert repr(together) == repr([evaluator.score([item])[0] for item in items])
