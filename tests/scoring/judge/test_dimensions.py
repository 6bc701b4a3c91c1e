"""What a judge is told of a dimension."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.contract import Item
from scoring.judge.dimensions import SEES, Dimension, described, seen_beside, single_line

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
