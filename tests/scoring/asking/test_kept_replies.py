"""Replies in memory: each is asked for once."""

from collections.abc import Sequence

import pytest

from scoring.asking.kept_replies import KeptReplies
from scoring.asking.request import Arrivals, Reply, Request
from scoring.contract import EvaluatorError


class Fragile:
    """A model that answers two requests at a time, and then is out of order."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def arrivals(self, requests: Sequence[Request]) -> Arrivals:
        for place, request in reversed(list(enumerate(requests[:2]))):
            self.asked.append(request.prompt)
            yield [(place, Reply(request.prompt.upper()))]
        if len(requests) > 2:
            raise EvaluatorError("out of order", permanent=False)


def test_another_try_asks_only_for_what_is_missing():
    model = Fragile()
    asking = KeptReplies(model)
    requests = [Request(each) for each in "abcab"]
    with pytest.raises(EvaluatorError, match="out of order"):
        asking.replies(requests)
    assert [reply.text for reply in asking.replies(requests)] == list("ABCAB")
    assert model.asked == ["b", "a", "c"]


def test_where_nobody_is_asked_what_is_missing_is_an_error():
    known = {Request("a"): Reply("A")}
    assert KeptReplies(None, known).replies([Request("a")]) == [Reply("A")]
    with pytest.raises(EvaluatorError, match="1 replies are missing"):
        KeptReplies(None, known).replies([Request("a"), Request("b")])
