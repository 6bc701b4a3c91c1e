"""How one score comes of replies or probabilities, and that what is kept of them says the same."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.asking.request import Address, Reply, Request, Wanted
from scoring.judge.asked_marks import MARKS
from scoring.judge.marks import Unread
from scoring.judge.score_modes import LEAST_SHARE, score_mode

QUESTION = Request("Summary: The cat sat.\nFluency:", system="Rate it.", shared=3, max_tokens=9)


def mode(name, marks="decimals", **more):
    chosen = {"structured": False, "samples": 3, "temperature": 0.7, **more}
    return score_mode(name, MARKS[marks], **chosen)


def verdict(found, *replies):
    """The score or the reason, first by the replies, then by what was kept of them; these must agree."""
    answers = [reply if isinstance(reply, Reply) else Reply(reply) for reply in replies]
    number, reason = found.verdict(answers, "fluency")
    assert math.isnan(number) == bool(reason)
    kept = found.kept(answers)
    again, why = found.reread(kept, reason, "fluency")
    assert (why or again) == (reason or number)
    return reason or number


class TestGreedy:
    def test_it_asks_the_question_itself(self):
        assert mode("greedy").requests(QUESTION) == [QUESTION]
        assert mode("greedy").count == 1

    @pytest.mark.parametrize(
        ("marks", "reply", "score"),
        [("decimals", "0.85", 0.85), ("1-5", "4", 0.75), ("1-5", "1", 0.0), ("yes_no", "Yes", 1.0)],
    )
    def test_the_mark_is_brought_to_0_to_1(self, marks, reply, score):
        assert verdict(mode("greedy", marks), reply) == score

    def test_marks_of_another_kind_are_none(self):
        assert verdict(mode("greedy", "1-5"), "0.85") == "out of range"
        assert verdict(mode("greedy", "yes_no"), "4") == "unparsable"

    def test_the_reply_is_kept_as_it_is(self):
        assert mode("greedy").kept([Reply("Fluency: 0.5")]) == "Fluency: 0.5"

    def test_a_refusal_that_the_endpoint_told_stays_one(self):
        assert mode("greedy").reread("Not this one.", "refused", "fluency")[1] == "refused"
        assert mode("greedy").reread("0.9", "refused", "fluency") == (0.9, None)


class TestSamples:
    def test_each_draw_is_a_request_of_its_own(self):
        first, second, third = mode("samples").requests(QUESTION)
        assert {each.temperature for each in (first, second, third)} == {0.7}
        assert [each.sample for each in (first, second, third)] == [0, 1, 2]
        assert {each.prompt for each in (first, second, third)} == {QUESTION.prompt}
        address = Address("http://host/v1", "m", "chat", "X_API_KEY")
        assert len({each.digest(address) for each in (first, second, third, QUESTION)}) == 4

    def test_the_score_is_the_mean(self):
        assert verdict(mode("samples"), "0.5", "0.6", "1.0") == pytest.approx(0.7)
        assert verdict(mode("samples", "yes_no"), "Yes", "No", "Yes") == pytest.approx(2 / 3)

    @pytest.mark.parametrize(
        ("replies", "reason"),
        [
            (("0.5", "hm", "0.7"), "unparsable"),
            (("0.5", "4", "hm"), "out of range"),
            (("0.5", "", "0.7"), "empty reply"),
            (("0.5", Reply("0.6", "filtered"), "0.7"), "filtered"),
            (("0.5", Reply("0.", "truncated"), "0.7"), "truncated"),
            (("0.5", Reply("No.", "refused"), "0.7"), "refused"),
        ],
    )
    def test_one_that_cannot_be_read_leaves_no_score(self, replies, reason):
        assert verdict(mode("samples"), *replies) == reason

    def test_all_replies_are_kept_for_people_and_programs(self):
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

    def test_it_asks_for_the_probabilities_of_all_marks(self):
        [asked] = mode("expected", "yes_no").requests(QUESTION)
        assert asked.wanted is Wanted.FIRST_TOKEN
        assert asked.marks == ("No", "Yes")
        assert (asked.temperature, asked.sample) == (0, 0)

    def test_yes_and_no_by_hand(self):
        assert self.found({"Yes": 0.6, "No": 0.3}, "yes_no") == pytest.approx(2 / 3)

    def test_one_to_five_by_hand(self):
        assert self.found({"3": 0.2, "4": 0.6, "5": 0.1}) == pytest.approx(
            (0.2 * 0.5 + 0.6 * 0.75 + 0.1 * 1) / 0.9
        )

    def test_marks_that_are_not_shown_count_as_nothing(self):
        assert self.found({"5": 0.97}) == 1.0

    def test_what_is_no_mark_plays_no_part(self):
        assert self.found({"4": 0.6, "The": 0.4}) == 0.75

    def test_too_small_a_share_on_the_marks_is_no_score(self):
        assert self.found({"4": LEAST_SHARE}) == 0.75
        assert self.found({"4": LEAST_SHARE - 0.01}) == "unparsable"

    def test_without_any_probability_the_words_do_not_stand_in(self):
        assert self.found({}) == "unparsable"
        assert self.found({}, text=" ") == "empty reply"

    def test_a_reply_that_goes_on_has_its_first_token_and_a_filtered_one_is_none(self):
        assert self.found({"4": 0.9}, problem="truncated") == 0.75
        assert self.found({"4": 0.9}, problem="filtered") == "filtered"

    def test_the_share_is_kept_beside_the_probabilities(self):
        reply = Reply("4", None, {"4": 0.6, "5": 0.3})
        assert json.loads(mode("expected", "1-5").kept([reply])) == {
            "probabilities": {"4": 0.6, "5": 0.3},
            "share_on_marks": 0.9,
            "text": "4",
        }

    @given(st.lists(st.floats(0.01, 1), min_size=5, max_size=5))
    def test_it_is_within_0_and_1_whatever_the_scale_of_the_probabilities(self, weights):
        total = sum(weights)
        shares = dict(zip("12345", (each / total for each in weights), strict=True))
        found = self.found(shares)
        assert 0 <= found <= 1
        halves = {mark: share / 1.5 for mark, share in shares.items()}
        assert self.found(halves) == pytest.approx(found)


class TestCandidates:
    def test_it_asks_for_the_likelihood_of_every_admissible_score(self):
        [asked] = mode("candidates").requests(QUESTION)
        assert asked.wanted is Wanted.LIKELIHOOD
        assert len(asked.marks) == 21
        assert asked.marks[:2] == ("0.00", "0.05")

    def test_the_score_is_the_expectation_however_small_the_likelihoods(self):
        reply = Reply("", None, {"0.20": 2e-9, "0.80": 1e-9})
        assert verdict(mode("candidates"), reply) == pytest.approx(0.4)

    def test_no_likelihood_at_all_is_no_score(self):
        assert verdict(mode("candidates"), Reply("", None, {"0.20": 0.0})) == "unparsable"


class TestStructured:
    def test_the_schema_goes_with_the_request(self):
        for name in ("greedy", "samples"):
            asked = mode(name, structured=True).requests(QUESTION)[0]
            assert asked.schema == MARKS["decimals"].schema
        assert mode("greedy").requests(QUESTION)[0].schema == ""

    @pytest.mark.parametrize(
        ("reply", "result"),
        [
            ('{"score": 0.85}', 0.85),
            ('<think>0.2?</think>{"score": 0.85}', 0.85),
            ("0.85", "unparsable"),
            ("Score: 0.85", "unparsable"),
            ('{"score": 4}', "out of range"),
            ('{"score": null}', "unparsable"),
            ("I'm sorry, but I can't help with that.", "refused"),
            ("", "empty reply"),
            (Reply('{"score": 0.8', "truncated"), "truncated"),
        ],
    )
    def test_only_an_object_with_the_mark_counts(self, reply, result):
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
@settings(max_examples=40)
def test_whatever_is_replied_is_a_score_from_0_to_1_or_a_reason_and_kept_as_such(
    name, structured, marks, replies
):
    found = mode(name, marks, structured=structured)
    result = verdict(found, *replies[: found.count])
    assert result in list(Unread) if isinstance(result, str) else 0 <= result <= 1
