"""The Batch API over a real socket."""

import json

import pytest

from scoring.asking import batch_files
from scoring.asking.abilities import Abilities
from scoring.asking.batch_files import BatchFiles, BatchState, UnknownBatch
from scoring.asking.request import TOO_LONG, Request
from scoring.asking.sender import Sender
from scoring.contract import EvaluatorError
from tests.scoring.asking.model_server import Can

REQUESTS = {
    f"name-{number}": Request(f"The cat sat {number}\u2028 times", max_tokens=2) for number in range(4)
}


@pytest.fixture
def batches(server):
    return BatchFiles(server.address())


def handed_in(batches, requests):
    return batches.start(batches.upload(requests))


def done(batches, name):
    looks = [batches.look(name) for _ in range(3)]
    assert looks[0].state == BatchState.UNDER_WAY
    return looks[-1]


def test_replies_are_those_that_a_sender_gets(server, batches):
    look = done(batches, handed_in(batches, REQUESTS))
    assert (look.state, look.asked, look.answered, look.refused) == (BatchState.DONE, 4, 4, 0)
    fetched = batches.fetch(look, REQUESTS)
    assert fetched.failures == {}
    assert [fetched.replies[name] for name in REQUESTS] == Sender(server.address()).replies(
        [*REQUESTS.values()]
    )


def test_no_proxy_stands_between_this_machine_and_itself(batches, monkeypatch):
    monkeypatch.delenv("NO_PROXY")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert batches.upload(REQUESTS)


@pytest.mark.parametrize("api", ["chat", "completions"])
def test_lines_are_what_would_be_sent(server, api):
    batches = BatchFiles(server.address(api), abilities=Abilities(token_limit="max_completion_tokens"))
    rows = [json.loads(line) for line in batches.lines(REQUESTS).splitlines()]
    assert [row["custom_id"] for row in rows] == list(REQUESTS)
    url = "/v1/chat/completions" if api == "chat" else "/v1/completions"
    assert {(row["method"], row["url"]) for row in rows} == {("POST", url)}
    assert {row["body"]["max_completion_tokens"] for row in rows} == {2}


def test_a_refused_line_has_its_reason_and_a_refused_prompt_is_a_reply(server, batches):
    server.can = Can(knows=lambda prompt: "1" not in prompt, refusal=422)
    name = handed_in(batches, {**REQUESTS, "long": Request("The cat", max_tokens=1)})
    server.batches.answer = too_long_for("The cat", server.answer)
    look = done(batches, name)
    fetched = batches.fetch(look, {**REQUESTS, "long": Request("The cat", max_tokens=1)})
    assert set(fetched.failures) == {"name-1"}
    assert fetched.replies["long"].problem == TOO_LONG
    assert look.refused == 2


def too_long_for(prompt, answer):
    def told(path, body):
        if body["messages"][-1]["content"] == prompt:
            return 400, {"error": {"code": "context_length_exceeded", "message": "too long"}}
        return answer(path, body)

    return told


def test_of_one_that_expired_what_came_is_kept(server, batches):
    server.batches.expired = {2}
    look = done(batches, handed_in(batches, REQUESTS))
    assert look.state == BatchState.EXPIRED
    fetched = batches.fetch(look, REQUESTS)
    assert set(fetched.replies) == {"name-0", "name-1", "name-3"}
    assert "in time" in fetched.failures["name-2"]


def test_lines_of_other_names_are_left_alone(batches):
    look = done(batches, handed_in(batches, REQUESTS))
    assert batches.fetch(look, {"other": REQUESTS["name-0"]}).replies == {}


def test_of_one_that_is_cancelled_what_came_before_is_kept(server, batches):
    server.batches.done_before_cancel = 1
    name = handed_in(batches, REQUESTS)
    batches.cancel(name)
    look = batches.look(name)
    assert look.state == BatchState.CANCELLED
    assert set(batches.fetch(look, REQUESTS).replies) == {"name-0"}


def test_a_batch_is_found_by_its_file(batches):
    first, second, third = (batches.upload(REQUESTS) for _ in range(3))
    started = [batches.start(first), batches.start(second)]
    assert [batches.find(file) for file in (first, second, third)] == [*started, None]


def test_too_many_are_refused_before_anything_is_sent(server, batches, monkeypatch):
    monkeypatch.setattr(batch_files, "MOST_REQUESTS", 3)
    with pytest.raises(EvaluatorError, match=r"at most 3 requests.*as several") as raised:
        handed_in(batches, REQUESTS)
    assert raised.value.permanent
    assert server.batches.files == {}


def test_an_endpoint_without_batches_is_an_error(server, batches):
    server.can = Can(batches=False)
    with pytest.raises(EvaluatorError, match="404") as raised:
        handed_in(batches, REQUESTS)
    assert raised.value.permanent


def test_an_unknown_batch_is_an_error(batches):
    with pytest.raises(UnknownBatch, match="404"):
        batches.look("batch_9")
