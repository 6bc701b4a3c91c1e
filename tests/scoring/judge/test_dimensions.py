"""What a judge is told of a dimension."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.contract import Item
from scoring.judge.dimensions import (
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
def test_the_text_beside_the_summary(sees, text):
    assert Dimension("x", sees).beside(ITEM) == text


@pytest.mark.parametrize(("sees", "text"), [("article", None), ("reference", None), ("summary", "")])
def test_a_blank_text_is_missing(sees, text):
    assert Dimension("x", sees).beside(Item("x", "A summary.", article=" \n", references=("", " "))) == text


def test_a_name_is_written_as_words_on_one_line():
    assert Dimension("main_ideas", "article").title == "Main ideas"
    assert Dimension("a\n b", "article").title == "A b"


def test_what_is_said_goes_before_what_is_ready():
    assert seen_beside(["relevance", "fluency"], ["relevance=article", "focus=summary"]) == {
        "relevance": "article",
        "fluency": "summary",
    }
    assert described(["fluency"], "fluency=Is it smooth?")["fluency"] == "Is it smooth?"


def test_every_ready_dimension_has_a_description():
    assert set(described(SEES, "")) == set(SEES)
    assert len(set(described(SEES, "").values())) == len(SEES)


@pytest.mark.parametrize(
    "entries", ["a=Is it a; b? = yes", "a=Is it a;", " a = Is it a \n b? = yes ;; ", "b?=yes\na=Is  it\ta"]
)
def test_descriptions_are_separated_by_semicolons_or_lines(entries):
    assert described(["a"], entries) == {"a": "Is it a"}


@given(st.text())
def test_a_single_line_is_one_for_everyone_and_loses_only_white_space(text):
    line = single_line(text)
    assert len(line.splitlines()) <= 1
    assert line.split() == text.split()


def test_a_json_object_may_hold_what_separates_entries():
    table = {"a=b; c": "Is it so;\nor not = so?", "é": "Oui ?"}
    written = write_descriptions(table)
    assert read_descriptions(written) == {"a=b; c": "Is it so; or not = so?", "é": "Oui ?"}
    assert "é" in written


@pytest.mark.parametrize("wrong", ['{"a": 5}', '{"a": " "}', '{"": "Is it?"}', '{"a": ["Is it?"]}'])
def test_an_object_of_anything_but_texts_is_refused(wrong):
    with pytest.raises(ValueError, match="parameter 'descriptions': found"):
        read_descriptions(wrong)


def test_braces_alone_make_no_object():
    assert read_descriptions("{a}=Is it?; b={}") == {"{a}": "Is it?", "b": "{}"}


@given(st.dictionaries(st.text(min_size=1).map(str.strip), st.text().map(single_line)))
def test_what_was_written_is_read(table):
    table = {name: text for name, text in table.items() if name and text}
    assert read_descriptions(write_descriptions(table)) == table
