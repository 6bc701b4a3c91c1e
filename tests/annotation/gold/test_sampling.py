"""Laws of the choice of gold summaries, over random gold sets."""

from itertools import combinations
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from annotation.gold.sampling import sample_round, unevenness

ANSWERS = ["yes", "no", "unsure"]


@st.composite
def gold_sets(draw):
    """Return sheets of three questions, the first of which ends a rating, and what a rater has seen."""
    sheets = {}
    for pk in range(draw(st.integers(1, 16))):
        gate = draw(st.sampled_from(["yes", "yes", "no"]))
        rest = {key: draw(st.sampled_from(ANSWERS)) for key in ("grammar", "attribution")}
        sheets[pk] = {"gate": gate} | (rest if gate == "yes" else {})
    seen = {
        pk: draw(st.sampled_from([(1, 1), (1, 2), (2, 2)]))
        for pk in draw(st.sets(st.sampled_from(list(sheets))))
    }
    return sheets, seen


@given(gold_sets(), st.integers(1, 10), st.integers(0, 99))
def test_no_seen_summary_repeats_while_unseen_ones_are_left_and_no_exchange_is_more_even(drawn, size, seed):
    sheets, seen = drawn
    chosen = sample_round(sheets, seen, size, Random(seed))
    left = set(sheets) - set(chosen)
    assert len(set(chosen)) == len(chosen) == min(size, len(sheets))

    def order(pk):
        return seen.get(pk, (0, 0))

    assert not left or max(map(order, chosen)) <= min(map(order, left))
    reached = unevenness({pk: sheets[pk] for pk in sheets if order(pk) <= max(map(order, chosen))}, chosen)
    for old in chosen:
        for new in left:
            if order(old) == order(new):
                among = {pk: sheets[pk] for pk in sheets if order(pk) <= order(new)}
                exchanged = [new if pk == old else pk for pk in chosen]
                assert reached <= unevenness(among, exchanged)


@given(st.lists(st.sampled_from(ANSWERS), min_size=1, max_size=12), st.integers(1, 6), st.integers(0, 99))
def test_the_answers_to_one_question_are_as_even_as_any_choice_makes_them(answers, size, seed):
    sheets = {pk: {"grammar": answer} for pk, answer in enumerate(answers)}
    chosen = sample_round(sheets, {}, size, Random(seed))
    best = min(unevenness(sheets, each) for each in combinations(sheets, min(size, len(sheets))))
    assert unevenness(sheets, chosen) == best


def test_a_rare_answer_comes_up_in_every_round_that_may_have_it():
    sheets = {pk: {"grammar": "yes", "attribution": "yes"} for pk in range(40)}
    sheets[7] = {"grammar": "yes", "attribution": "no"}
    for seed in range(10):
        assert 7 in sample_round(sheets, {}, 5, Random(seed))


def test_two_raters_get_different_rounds():
    sheets = {pk: {"grammar": "yes" if pk % 2 else "no"} for pk in range(40)}
    assert sorted(sample_round(sheets, {}, 6, Random(1))) != sorted(sample_round(sheets, {}, 6, Random(2)))
