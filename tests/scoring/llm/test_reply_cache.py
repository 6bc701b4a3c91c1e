"""The reply cache: each request is sent once."""

from collections.abc import Sequence

import pytest

from scoring.contract.evaluator import EvaluatorError
from scoring.contract.requests import Arrivals, Reply, Request
from scoring.llm.reply_cache import KeptReplies


class Fragile:
    """A model that answers two requests at a time and then fails."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def arrivals(self, requests: Sequence[Request]) -> Arrivals:
        for place, request in reversed(list(enumerate(requests[:2]))):
            self.asked.append(request.prompt)
            yield [(place, Reply(request.prompt.upper()))]
        if len(requests) > 2:
            raise EvaluatorError("out of order", permanent=False)


def test_retry_sends_only_missing_requests():
    model = Fragile()
    asking = KeptReplies(model)
    requests = [Request(each) for each in "abcab"]
    with pytest.raises(EvaluatorError, match="out of order"):
        asking.replies(requests)
    assert [reply.text for reply in asking.replies(requests)] == list("ABCAB")
    assert model.asked == ["b", "a", "c"]


def test_missing_reply_without_a_model_raises():
    known = {Request("a"): Reply("A")}
    assert KeptReplies(None, known).replies([Request("a")]) == [Reply("A")]
    with pytest.raises(EvaluatorError, match="1 replies are missing"):
        KeptReplies(None, known).replies([Request("a"), Request("b")])
