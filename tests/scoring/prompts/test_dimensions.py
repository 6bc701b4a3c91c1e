"""The text and description that a judge gets for a dimension."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.contract.items import Item
from scoring.prompts.dimensions import (
    SEES,
    Dimension,
    described,
    read_descriptions,
    seen_beside,
    single_line,
    write_descriptions,
)

ITEM = Item("x", "A summary.", article="An article.", references=(" ", "First.", "Second."))


@pytest.mark.parametrize(
    ("sees", "text"), [("article", "An article."), ("reference", "First."), ("summary", "")]
)
def test_dimension_decides_the_text_beside_the_summary(sees, text):
    assert Dimension("x", sees).beside(ITEM) == text


@pytest.mark.parametrize(("sees", "text"), [("article", None), ("reference", None), ("summary", "")])
def test_blank_text_counts_as_missing(sees, text):
    assert Dimension("x", sees).beside(Item("x", "A summary.", article=" \n", references=("", " "))) == text


def test_title_is_one_line_of_words():
    assert Dimension("main_ideas", "article").title == "Main ideas"
    assert Dimension("a\n b", "article").title == "A b"


def test_given_entries_replace_built_in_ones():
    assert seen_beside(["relevance", "fluency"], ["relevance=article", "focus=summary"]) == {
        "relevance": "article",
        "fluency": "summary",
    }
    assert described(["fluency"], "fluency=Is it smooth?")["fluency"] == "Is it smooth?"


def test_built_in_dimensions_have_descriptions():
    assert set(described(SEES, "")) == set(SEES)
    assert len(set(described(SEES, "").values())) == len(SEES)


@pytest.mark.parametrize(
    "entries", ["a=Is it a; b? = yes", "a=Is it a;", " a = Is it a \n b? = yes ;; ", "b?=yes\na=Is  it\ta"]
)
def test_descriptions_are_separated_by_semicolons_or_lines(entries):
    assert described(["a"], entries) == {"a": "Is it a"}


@given(st.text())
def test_single_line_loses_only_white_space(text):
    line = single_line(text)
    assert len(line.splitlines()) <= 1
    assert line.split() == text.split()


def test_json_object_may_contain_separators():
    table = {"a=b; c": "Is it so;\nor not = so?", "é": "Oui ?"}
    written = write_descriptions(table)
    assert read_descriptions(written) == {"a=b; c": "Is it so; or not = so?", "é": "Oui ?"}
    assert "é" in written


@pytest.mark.parametrize("wrong", ['{"a": 5}', '{"a": " "}', '{"": "Is it?"}', '{"a": ["Is it?"]}'])
def test_json_object_with_other_values_is_refused(wrong):
    with pytest.raises(ValueError, match="parameter 'descriptions': found"):
        read_descriptions(wrong)


def test_json_nested_too_deeply_is_no_json():
    with pytest.raises(ValueError, match="expected"):
        read_descriptions('{"focus": ' * 20_000)


def test_braces_alone_are_not_json():
    assert read_descriptions("{a}=Is it?; b={}") == {"{a}": "Is it?", "b": "{}"}


@given(st.dictionaries(st.text(min_size=1).map(str.strip), st.text().map(single_line)))
def test_descriptions_round_trip(table):
    table = {name: text for name, text in table.items() if name and text}
    assert read_descriptions(write_descriptions(table)) == table
