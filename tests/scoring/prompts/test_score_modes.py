"""Scores from replies or probabilities, and the text that is kept of them."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.contract.requests import Address, Reply, Request, Wanted
from scoring.prompts.marks import MARKS, Unread
from scoring.prompts.score_modes import LEAST_SHARE, score_mode

QUESTION = Request("Summary: The cat sat.\nFluency:", system="Rate it.", shared=3, max_tokens=9)


def mode(name, marks="decimals", **more):
    chosen = {"structured": False, "samples": 3, "temperature": 0.7, **more}
    return score_mode(name, MARKS[marks], **chosen)


def verdict(found, *replies):
    """Return the score or reason from the replies."""
    answers = [reply if isinstance(reply, Reply) else Reply(reply) for reply in replies]
    number, reason = found.verdict(answers, "fluency")
    assert math.isnan(number) == bool(reason)
    return reason or number


class TestGreedy:
    def test_greedy_sends_the_question_unchanged(self):
        assert mode("greedy").requests(QUESTION) == [QUESTION]
        assert mode("greedy").count == 1

    @pytest.mark.parametrize(
        ("marks", "reply", "score"),
        [("decimals", "0.85", 0.85), ("1-5", "4", 0.75), ("1-5", "1", 0.0), ("yes_no", "Yes", 1.0)],
    )
    def test_mark_is_scaled_to_0_to_1(self, marks, reply, score):
        assert verdict(mode("greedy", marks), reply) == score

    def test_marks_of_another_kind_are_unparsable(self):
        assert verdict(mode("greedy", "1-5"), "0.85") == "out of range"
        assert verdict(mode("greedy", "yes_no"), "4") == "unparsable"

    def test_reply_is_stored_unchanged(self):
        assert mode("greedy").kept([Reply("Fluency: 0.5")]) == "Fluency: 0.5"


class TestSamples:
    def test_each_sample_is_a_request(self):
        first, second, third = mode("samples").requests(QUESTION)
        assert {each.temperature for each in (first, second, third)} == {0.7}
        assert [each.sample for each in (first, second, third)] == [0, 1, 2]
        assert {each.prompt for each in (first, second, third)} == {QUESTION.prompt}
        address = Address("http://host/v1", "m", "chat", "X_API_KEY")
        assert len({each.digest(address) for each in (first, second, third, QUESTION)}) == 4

    def test_score_is_the_mean_of_samples(self):
        assert verdict(mode("samples"), "0.5", "0.6", "1.0") == pytest.approx(0.7)
        assert verdict(mode("samples", "yes_no"), "Yes", "No", "Yes") == pytest.approx(2 / 3)

    def test_unreadable_sample_leaves_no_score(self, subtests):
        cases = [
            (("0.5", "hm", "0.7"), "unparsable"),
            (("0.5", "4", "hm"), "out of range"),
            (("0.5", "", "0.7"), "empty reply"),
            (("0.5", Reply("0.6", "filtered"), "0.7"), "filtered"),
            (("0.5", Reply("0.", "truncated"), "0.7"), "truncated"),
            (("0.5", Reply("No.", "refused"), "0.7"), "refused"),
        ]
        for replies, reason in cases:
            with subtests.test(replies=replies, reason=reason):
                assert verdict(mode("samples"), *replies) == reason

    def test_all_samples_are_stored_as_json(self):
        kept = mode("samples").kept([Reply("0.5"), Reply("Größe", "truncated"), Reply("")])
        assert json.loads(kept)["replies"] == [
            {"text": "0.5"},
            {"text": "Größe", "problem": "truncated"},
            {"text": ""},
        ]
        assert "Größe" in kept


class TestExpected:
    def found(self, probabilities, marks="1-5", text="4", problem=None):
        return verdict(mode("expected", marks), Reply(text, problem, probabilities))

    def test_expected_requests_the_probabilities_of_all_marks(self):
        [asked] = mode("expected", "yes_no").requests(QUESTION)
        assert asked.wanted is Wanted.FIRST_TOKEN
        assert asked.marks == ("No", "no", "NO", "Yes", "yes", "YES")
        assert (asked.temperature, asked.sample) == (0, 0)

    def test_yes_and_no_by_hand(self):
        assert self.found({"Yes": 0.6, "No": 0.3}, "yes_no") == pytest.approx(2 / 3)

    def test_spellings_of_a_word_count_together(self):
        spelt = {"Yes": 0.3, "yes": 0.2, "YES": 0.1, "no": 0.2, "yEs": 0.1}
        assert self.found(spelt, "yes_no") == pytest.approx(0.6 / 0.8)
        kept = mode("expected", "yes_no").kept([Reply("Yes", None, spelt)])
        assert json.loads(kept)["share_on_marks"] == 0.8

    def test_one_to_five_by_hand(self):
        assert self.found({"3": 0.2, "4": 0.6, "5": 0.1}) == pytest.approx(
            (0.2 * 0.5 + 0.6 * 0.75 + 0.1 * 1) / 0.9
        )

    def test_missing_marks_count_as_0(self):
        assert self.found({"5": 0.97}) == 1.0

    def test_other_tokens_are_ignored(self):
        assert self.found({"4": 0.6, "The": 0.4}) == 0.75

    def test_too_small_a_share_on_marks_gives_no_score(self):
        assert self.found({"4": LEAST_SHARE}) == 0.75
        assert self.found({"4": LEAST_SHARE - 0.01}) == "too little probability on the marks"

    def test_text_does_not_replace_missing_probabilities(self):
        assert self.found({}) == "unparsable"
        assert self.found({}, text=" ") == "empty reply"

    def test_truncated_reply_counts_and_filtered_one_does_not(self):
        assert self.found({"4": 0.9}, problem="truncated") == 0.75
        assert self.found({"4": 0.9}, problem="filtered") == "filtered"

    def test_share_on_marks_is_stored(self):
        reply = Reply("4", None, {"4": 0.6, "5": 0.3})
        assert json.loads(mode("expected", "1-5").kept([reply])) == {
            "probabilities": {"4": 0.6, "5": 0.3},
            "share_on_marks": 0.9,
            "text": "4",
        }

    @given(st.lists(st.floats(0.01, 1), min_size=5, max_size=5))
    def test_expected_score_is_within_0_and_1(self, weights):
        total = sum(weights)
        shares = dict(zip("12345", (each / total for each in weights), strict=True))
        found = self.found(shares)
        assert 0 <= found <= 1
        halves = {mark: share / 1.5 for mark, share in shares.items()}
        assert self.found(halves) == pytest.approx(found)


class TestCandidates:
    def test_candidates_requests_the_likelihood_of_every_mark(self):
        [asked] = mode("candidates").requests(QUESTION)
        assert asked.wanted is Wanted.LIKELIHOOD
        assert len(asked.marks) == 21
        assert asked.marks[:2] == ("0.00", "0.05")

    def test_expectation_works_for_small_likelihoods(self):
        reply = Reply("", None, {"0.20": 2e-9, "0.80": 1e-9})
        assert verdict(mode("candidates"), reply) == pytest.approx(0.4)

    def test_no_likelihood_gives_no_score(self):
        assert verdict(mode("candidates"), Reply("", None, {"0.20": 0.0})) == Unread.OFF_MARKS


class TestStructured:
    def test_structured_requests_have_the_schema(self):
        for name in ("greedy", "samples"):
            asked = mode(name, structured=True).requests(QUESTION)[0]
            assert asked.schema == MARKS["decimals"].schema
        assert mode("greedy").requests(QUESTION)[0].schema == ""

    def test_structured_replies_must_be_an_object_with_the_mark(self, subtests):
        cases = [
            ('{"score": 0.85}', 0.85),
            ('<think>0.2?</think>{"score": 0.85}', 0.85),
            ("0.85", "unparsable"),
            ("Score: 0.85", "unparsable"),
            ('{"score": 4}', "out of range"),
            ('{"score": null}', "unparsable"),
            ("I'm sorry, but I can't help with that.", "refused"),
            ("", "empty reply"),
            (Reply('{"score": 0.8', "truncated"), "truncated"),
        ]
        for reply, result in cases:
            with subtests.test(reply=reply, result=result):
                assert verdict(mode("greedy", structured=True), reply) == result


REPLIES = st.builds(
    Reply,
    st.text() | st.sampled_from(["0.5", "4", "Yes", '{"score": 0.5}', "Score: 0.7", "I cannot rate this."]),
    st.sampled_from([None, "truncated", "filtered"]),
    st.dictionaries(st.sampled_from(["1", "4", "5", "Yes", "No", "The"]), st.floats(0, 0.3)),
)


@pytest.mark.parametrize("marks", MARKS)
@pytest.mark.parametrize(
    ("name", "structured"),
    [("greedy", False), ("greedy", True), ("samples", False), ("expected", False), ("candidates", False)],
)
@given(replies=st.lists(REPLIES, min_size=3, max_size=3))
def test_any_reply_gives_a_score_or_a_reason(name, structured, marks, replies):
    found = mode(name, marks, structured=structured)
    result = verdict(found, *replies[: found.count])
    assert result in list(Unread) if isinstance(result, str) else 0 <= result <= 1
