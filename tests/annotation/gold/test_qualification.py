import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.gold.qualification import Thresholds, decide

STRICT = Thresholds(0.8, {})


def test_full_agreement_passes():
    assert decide([({"q1": "yes", "q2": "no"}, {"q1": "yes", "q2": "no"})], STRICT).passed


def test_agreement_exactly_at_the_threshold_passes():
    rounds = [({"q1": "yes"}, {"q1": "yes"})] * 4 + [({"q1": "yes"}, {"q1": "no"})]
    decision = decide(rounds, STRICT)
    assert decision.results[0].agreement == 0.8
    assert decision.passed


def test_one_question_below_its_threshold_fails_the_round():
    rounds = [({"q1": "yes", "q2": "yes"}, {"q1": "yes", "q2": "no"})]
    decision = decide(rounds, STRICT)
    assert [result.passed for result in decision.results] == [True, False]
    assert not decision.passed


def test_a_question_may_have_its_own_threshold():
    rounds = [({"q1": "yes", "q2": "yes"}, {"q1": "yes", "q2": "no"})]
    assert decide(rounds, Thresholds(0.8, {"q2": 0.0})).passed


def test_a_question_left_unasked_by_a_wrong_gate_answer_counts_as_missed():
    decision = decide([({"q1": "yes", "q2": "no"}, {"q1": "no"})], STRICT)
    assert [(result.question, result.matched, result.asked) for result in decision.results] == [
        ("q1", 0, 1),
        ("q2", 0, 1),
    ]


def test_a_question_without_gold_answers_has_no_result():
    assert [r.question for r in decide([({"q1": "no"}, {"q1": "no", "q2": "yes"})], STRICT).results] == ["q1"]


def test_an_empty_round_is_refused():
    with pytest.raises(ValueError, match="without summaries"):
        decide([], STRICT)


@pytest.mark.parametrize("value", [-0.1, 1.1])
def test_a_threshold_outside_0_to_1_is_refused(value):
    with pytest.raises(ValueError, match="q1"):
        Thresholds(0.8, {"q1": value})


sheets = st.dictionaries(st.sampled_from("abc"), st.sampled_from(["yes", "no"]), min_size=1)


@given(st.lists(st.tuples(sheets, sheets), min_size=1, max_size=10))
def test_giving_the_gold_answers_never_lowers_the_agreement(rounds):
    given_agreement = {r.question: r.agreement for r in decide(rounds, STRICT).results}
    perfect = decide([(gold, gold) for gold, _ in rounds], STRICT)
    assert perfect.passed
    assert all(result.agreement >= given_agreement[result.question] for result in perfect.results)
