"""The client of the Batch API over a real socket."""

import json

import pytest

from scoring.contract.evaluator import EvaluatorError
from scoring.contract.requests import TOO_LONG, Request
from scoring.llm.batch_api import BatchFiles, BatchState, UnknownBatch
from scoring.llm.capabilities import Abilities
from scoring.llm.client import HostedModel
from tests.scoring.llm.model_server import Can

REQUESTS = {
    f"name-{number}": Request(f"The cat sat {number}\u2028 times", max_tokens=2) for number in range(4)
}


@pytest.fixture
def batches(server):
    return BatchFiles(server.address())


def submit(batches, requests):
    return batches.start(batches.upload(requests))


def wait_until_done(batches, name):
    statuses = [batches.status(name) for _ in range(3)]
    assert statuses[0].state == BatchState.UNDER_WAY
    return statuses[-1]


def test_batch_replies_equal_single_replies(server, batches):
    status = wait_until_done(batches, submit(batches, REQUESTS))
    assert (status.state, status.answered, status.refused) == (BatchState.DONE, 4, 0)
    fetched = batches.fetch(status, REQUESTS)
    assert fetched.failures == {}
    assert [fetched.replies[name] for name in REQUESTS] == HostedModel(server.address()).replies(
        [*REQUESTS.values()]
    )


def test_this_machine_is_reached_without_proxy(batches, monkeypatch):
    monkeypatch.delenv("NO_PROXY")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert batches.upload(REQUESTS)


@pytest.mark.parametrize("api", ["chat", "completions"])
def test_lines_equal_single_requests(server, api):
    batches = BatchFiles(server.address(api), abilities=Abilities(token_limit="max_completion_tokens"))
    rows = [json.loads(line) for line in batches.lines(REQUESTS).splitlines()]
    assert [row["custom_id"] for row in rows] == list(REQUESTS)
    url = "/v1/chat/completions" if api == "chat" else "/v1/completions"
    assert {(row["method"], row["url"]) for row in rows} == {("POST", url)}
    assert {row["body"]["max_completion_tokens"] for row in rows} == {2}


def test_refused_line_has_a_reason_and_refused_prompt_is_a_reply(server, batches):
    server.can = Can(knows=lambda prompt: "1" not in prompt, refusal=422)
    name = submit(batches, {**REQUESTS, "long": Request("The cat", max_tokens=1)})
    server.batches.answer = answer_except("The cat", server.answer)
    status = wait_until_done(batches, name)
    fetched = batches.fetch(status, {**REQUESTS, "long": Request("The cat", max_tokens=1)})
    assert set(fetched.failures) == {"name-1"}
    assert fetched.replies["long"].problem == TOO_LONG
    assert status.refused == 2


def answer_except(prompt, answer):
    def told(path, body):
        if body["messages"][-1]["content"] == prompt:
            return 400, {"error": {"code": "context_length_exceeded", "message": "too long"}}
        return answer(path, body)

    return told


def test_expired_batch_keeps_its_replies(server, batches):
    server.batches.expired = {2}
    status = wait_until_done(batches, submit(batches, REQUESTS))
    assert status.state == BatchState.EXPIRED
    fetched = batches.fetch(status, REQUESTS)
    assert set(fetched.replies) == {"name-0", "name-1", "name-3"}
    assert "in time" in fetched.failures["name-2"]


def test_lines_with_unknown_ids_are_ignored(batches):
    status = wait_until_done(batches, submit(batches, REQUESTS))
    assert batches.fetch(status, {"other": REQUESTS["name-0"]}).replies == {}


def test_cancelled_batch_keeps_its_replies(server, batches):
    server.batches.done_before_cancel = 1
    name = submit(batches, REQUESTS)
    batches.cancel(name)
    status = batches.status(name)
    assert status.state == BatchState.CANCELLED
    assert set(batches.fetch(status, REQUESTS).replies) == {"name-0"}


def test_batch_is_found_by_its_file(batches):
    first, second, third = (batches.upload(REQUESTS) for _ in range(3))
    started = [batches.start(first), batches.start(second)]
    assert [batches.find(file) for file in (first, second, third)] == [*started, None]


def test_endpoint_without_batches_raises(server, batches):
    server.can = Can(batches=False)
    with pytest.raises(EvaluatorError, match="404") as raised:
        submit(batches, REQUESTS)
    assert raised.value.permanent


def test_unknown_batch_raises(batches):
    with pytest.raises(UnknownBatch, match="404"):
        batches.status("batch_9")
