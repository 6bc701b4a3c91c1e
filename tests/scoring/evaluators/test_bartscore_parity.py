"""BARTScore compared with the authors' program on the same tiny model."""

from itertools import product

import pytest

from scoring.contract.items import Item
from tests.scoring.further_cases import with_further
from tests.scoring.parity_sets import evaluator_with, parity_set

LENGTHS = {"max_length_1024": 1024, "max_length_64": 64}


@pytest.fixture(scope="module")
def golden(shared):
    return shared / "parity" / "bartscore"


@pytest.fixture(scope="module")
def items(shared):
    return parity_set(shared, "bartscore").items


@pytest.fixture(scope="module")
def expected(shared):
    return parity_set(shared, "bartscore").expected


def scores(golden, items, **settings):
    settings = {"model": str(golden / "model"), "empty_texts": "score", **settings}
    return evaluator_with("bartscore", settings).score(items)


def values(*arguments, **settings):
    return [scored.values["general"] for scored in scores(*arguments, **settings)]


def wanted(expected, length, direction, rule):
    """Yield the authors' value for each item, or None where their program gives none."""
    for item in expected["items"]:
        found = item[length]
        if direction == "src_hypo":
            yield found["src_hypo"]
        elif rule == "first":
            single = found["first_ref"]
            yield found[direction][0] if direction in ("ref_hypo", "hypo_ref") else single[direction]
        else:
            yield found[f"{rule}_over_refs"][direction]


RULES = [
    ("src_hypo", "mean"),
    *product(("ref_hypo", "hypo_ref"), ("first", "mean", "max")),
    *product(("avg_f", "harm_f"), ("first", "mean")),
]
EVERY = [(*rule, length) for rule in RULES for length in LENGTHS]
IN_EACH_RUN = [
    ("src_hypo", "mean", "max_length_64"),
    ("ref_hypo", "max", "max_length_1024"),
    ("hypo_ref", "first", "max_length_64"),
    ("avg_f", "first", "max_length_1024"),
    ("harm_f", "mean", "max_length_1024"),
]


@pytest.mark.parametrize(("direction", "rule", "length"), with_further(IN_EACH_RUN, EVERY))
def test_every_score_equals_the_authors(golden, items, expected, length, direction, rule, record_property):
    name = "harm_f_authors" if direction == "harm_f" else direction
    found = values(golden, items, direction=name, references=rule, max_length=LENGTHS[length])
    theirs = list(wanted(expected, length, direction, rule))
    record_property("largest_deviation", max(abs(a - b) for a, b in zip(found, theirs, strict=True)))
    assert found == pytest.approx(theirs, abs=expected["tolerance"]["abs"], rel=0)
    if direction == "harm_f":
        sound = values(golden, items, direction="harm_f", references=rule, max_length=LENGTHS[length])
        assert sound == pytest.approx([2 * value for value in theirs], abs=4e-5, rel=0)


def test_scores_of_each_reference_equal_the_authors(golden, items, expected):
    alone = [
        Item(f"{item.id} {number}", item.summary, references=(reference,))
        for item in items
        for number, reference in enumerate(item.references)
    ]
    for length, tokens in LENGTHS.items():
        for direction in ("ref_hypo", "hypo_ref"):
            theirs = [value for item in expected["items"] for value in item[length][direction]]
            found = values(golden, alone, direction=direction, max_length=tokens)
            assert found == pytest.approx(theirs, abs=expected["tolerance"]["abs"], rel=0)


def test_only_the_empty_summary_has_no_score_by_default(golden, items, expected):
    results = scores(golden, items, empty_texts="unscored")
    assert {item.id: scored.reasons.get("general") for item, scored in zip(items, results, strict=True)} == {
        item.id: None if item.summary else "empty summary" for item in items
    }
    theirs = list(wanted(expected, "max_length_1024", "src_hypo", "mean"))
    for scored, value in zip(results, theirs, strict=True):
        assert scored.reasons or scored.values["general"] == pytest.approx(value, abs=2e-5)


def test_cut_articles_are_reported(golden, items, expected):
    results = scores(golden, items, max_length=64)
    for scored, each in zip(results, expected["items"], strict=True):
        uncut = each["max_length_1024"]["n_tokens"]["article"]
        if uncut <= 64:
            assert "article" not in scored.shares_read
        elif uncut < 1024:
            assert scored.shares_read["article"] == pytest.approx(62 / (uncut - 2))
