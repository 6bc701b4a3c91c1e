"""Reading the values of an experiment's parameter as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.declared.settings import settings_of
from metaeval.experiments.values import MOST, as_numbers, kind_of, read_values, usual_values
from scoring.evaluators import load_evaluator

ICE = {spec.name: spec for spec in settings_of(load_evaluator("ice").Params)}
ROUGE = {spec.name: spec for spec in settings_of(load_evaluator("rouge").Params)}


@pytest.mark.parametrize(
    ("kind", "text", "values"),
    [
        ("text", "uniform, stratified", ("uniform", "stratified")),
        ("integer", " 0 ,1,, 2 ", ("0", "1", "2")),
        ("integer", "1..3, 8", ("1", "2", "3", "8")),
        ("text", "1..3, 8", ("1..3", "8")),
        ("text", "a,b; c", ("a,b", "c")),
        ("list", "coherence,fluency; fluency", ("coherence,fluency", "fluency")),
    ],
)
def test_values_are_read(kind, text, values):
    assert read_values(kind, text) == values


@pytest.mark.parametrize(
    ("kind", "text", "told"),
    [
        ("text", "", "found 0 values, expected 2 to 64"),
        ("text", "uniform", "found 1 value, expected 2 to 64"),
        ("integer", "1, 2, 1", "1: given twice"),
        ("integer", "1..3, 2", "2: given twice"),
        ("integer", "1..1000000000", "1,000,000,000 values, expected at most 64"),
        ("integer", "1..40, 41..80", "found 80 values"),
        ("integer", "4..1", "found 0 values"),
        ("list", "coherence, fluency", "separated by semicolons"),
    ],
)
def test_invalid_lists_of_values_are_refused(kind, text, told):
    with pytest.raises(ValueError, match=told):
        read_values(kind, text)


@given(st.lists(st.integers(0, 999), min_size=2, max_size=MOST, unique=True))
def test_whole_numbers_round_trip(numbers):
    assert as_numbers(list(read_values("integer", ",".join(map(str, numbers))))) == numbers


@given(st.integers(0, 50), st.integers(1, MOST - 1))
def test_range_includes_both_ends(first, steps):
    found = read_values("integer", f"{first}..{first + steps}")
    assert found == tuple(map(str, range(first, first + steps + 1)))


def test_usual_values_are_proposed_and_can_be_read():
    assert usual_values(ICE["sampling"]) == "uniform, stratified"
    for spec in (ICE["seed"], ICE["examples"], ICE["sampling"], ROUGE["variant"], ROUGE["stem"]):
        assert len(read_values(spec.type, usual_values(spec))) >= 2
    assert usual_values(ICE["model"]) == ""


def test_kind_depends_on_the_parameter():
    found = [kind_of(name) for name in ("sampling", "seed", "examples", "model", "variant")]
    assert found == ["sampling", "seeds", "examples", "models", "parameter"]


def test_labels_are_numbers_only_if_all_are():
    assert as_numbers(["1", "-2.5"]) == [1.0, -2.5]
    assert as_numbers(["1", "two"]) is None
    assert as_numbers(["nan", "1"]) is None
