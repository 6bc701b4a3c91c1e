"""The jury: combining the scores of several evaluators, and invalid juries."""

from dataclasses import replace
from statistics import fmean, median, pstdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.contract.evaluator import GENERAL, EvaluatorError, Member
from scoring.contract.items import Item
from scoring.contract.params import read_params
from scoring.contract.seen import Seen
from scoring.evaluators.jury import Jury

ONE = Member("one", "Judge one", ("fluency", "consistency"))
TWO = Member("two", "Judge two", ("fluency",))
THREE = Member("three", "Judge three", ("fluency",))
ROUGE = Member("rouge", "ROUGE", (GENERAL,))
BY_NAME = {each.name: each for each in (ONE, TWO, THREE, ROUGE)}
SCORES = st.floats(-100, 100)


def jury(*members: Member, corpus=(), **settings) -> Jury:
    names = ",".join(each.name for each in members)
    evaluator = Jury(read_params(Jury, {"members": names, **settings}))
    evaluator.use_members(members)
    if evaluator.params.standardised:
        evaluator.see_corpus(corpus)
    return evaluator


def item(identifier="x", **scores: float) -> Item:
    """Return an item with each member's score on its first dimension."""
    return Item(
        identifier,
        f"Summary {identifier}.",
        scores={name: {BY_NAME[name].dimensions[0]: score} for name, score in scores.items()},
    )


@given(st.lists(SCORES, min_size=3, max_size=3))
def test_scores_are_combined_by_mean_median_or_majority(scores):
    judged = item(one=scores[0], two=scores[1], three=scores[2])
    expected = {
        "mean": fmean(scores),
        "median": median(scores),
        "majority": sum(score >= 0.5 for score in scores) / 3,
    }
    for how, value in expected.items():
        [scored] = jury(ONE, TWO, THREE, how=how).score([judged])
        assert scored.values == {"fluency": pytest.approx(value)}


def test_explanation_counts_the_jurors_and_lists_their_scores():
    [scored] = jury(ONE, TWO, THREE, quorum=2).score([item(one=0.25, three=0.75)])
    assert scored.values == {"fluency": 0.5}
    assert scored.explanations == {"fluency": "2 of 3 jurors. Judge one: 0.25; Judge three: 0.75"}


def test_jurors_with_the_same_label_count_separately():
    """A judge's scores by two readers, or imported ones, have the same label."""
    namesake = replace(TWO, label=ONE.label)
    [scored] = jury(ONE, namesake).score([item(one=0.25, two=0.75)])
    assert scored.values == {"fluency": 0.5}
    assert scored.explanations == {"fluency": "2 of 2 jurors. Judge one: 0.25; Judge one: 0.75"}


def test_below_the_quorum_the_reason_names_the_missing_jurors():
    whole, two_of_three = jury(ONE, TWO, THREE), jury(ONE, TWO, THREE, quorum=2)
    for evaluator, scores, missing in (
        (whole, {"one": 1.0, "three": 1.0}, "no score by Judge two"),
        (two_of_three, {"one": 1.0}, "no score by Judge two, Judge three"),
    ):
        [scored] = evaluator.score([item(**scores)])
        assert scored.reasons == {"fluency": missing}


def test_general_scores_count_only_if_standardised():
    with pytest.raises(
        EvaluatorError, match=r"no dimension is scored by 2 of them \(Judge two: fluency; ROU"
    ):
        jury(TWO, ROUGE)
    corpus = [item(str(number), two=number / 4, rouge=number) for number in range(4)]
    standardised = jury(TWO, ROUGE, standardised=True, corpus=corpus)
    assert standardised.dimensions == ("fluency",)
    # Both rise together, so the jury equals each of them.
    deviations = [(number - 1.5) / pstdev(range(4)) for number in range(4)]
    values = [each.values["fluency"] for each in standardised.score(corpus)]
    assert values == pytest.approx(deviations)


def test_general_evaluators_form_a_jury():
    assert jury(ROUGE, Member("other", "Other", (GENERAL,))).dimensions == (GENERAL,)


def test_juror_with_lower_is_better_is_reversed_or_refused():
    falling = Member("two", "Judge two", ("fluency",), higher_is_better=False)
    with pytest.raises(EvaluatorError, match="lower scores of Judge two are better"):
        jury(ONE, falling)
    corpus = [item("a", one=0.0, two=1.0), item("b", one=1.0, two=0.0)]
    values = [
        each.values["fluency"] for each in jury(ONE, falling, standardised=True, corpus=corpus).score(corpus)
    ]
    assert values == [-1, 1]


def test_constant_juror_has_no_effect():
    corpus = [item("a", one=0.1, two=0.1), item("b", one=0.1, two=0.9), item("c", one=0.1, two=0.5)]
    values = [
        each.values["fluency"] for each in jury(ONE, TWO, standardised=True, corpus=corpus).score(corpus)
    ]
    assert values[0] < values[2] < values[1]
    assert sum(values) == pytest.approx(0)


def test_jury_excludes_articles_seen_by_its_members():
    seen = Member("two", "Judge two", ("fluency",), seen=Seen({"fluency": frozenset({"a1", "a2"})}))
    assert jury(ONE, seen).seen.article_ids == {"fluency": {"a1", "a2"}}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"members": "one"}, "'members': found 'one', expected two evaluators or more"),
        ({"members": "one,one"}, "'members': found 'one' more than once"),
        ({"members": "one,two", "quorum": 3}, "'quorum': found 3, but there are 2 jurors"),
        ({"members": "one,two", "standardised": True, "how": "majority"}, "'standardised': found yes"),
    ],
)
def test_invalid_juries_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        read_params(Jury, settings)


def test_scoring_needs_members():
    with pytest.raises(RuntimeError, match="use_members"):
        Jury(read_params(Jury, {"members": "one,two"})).score([item(one=1.0)])
