"""SUPERT on a tiny encoder."""

import math

import pytest

from scoring.contract.items import Item
from scoring.contract.params import read_params
from scoring.evaluators import load_evaluator
from tests.scoring.tiny_models import tiny_model

ARTICLE = "The cat sat on the mat. It was a good mat. Officials said on Monday that the talks went on."


def supert(**settings):
    evaluator_class = load_evaluator("supert")
    return evaluator_class(read_params(evaluator_class, {"model": str(tiny_model("bert")), **settings}))


def value(item, **settings):
    [scored] = supert(**settings).score([item])
    return scored.values["general"]


def test_article_scores_best_as_its_own_summary():
    assert value(Item("a", ARTICLE, article=ARTICLE)) == pytest.approx(1, abs=1e-6)
    assert value(Item("a", "She paid 3.50 for it!", article=ARTICLE)) < 0.99


def test_precision_compares_with_the_source_and_recall_with_the_summary():
    item = Item("a", "The cat sat on the mat.", article=ARTICLE)
    precision, recall = value(item, measure="precision"), value(item, measure="recall")
    assert precision == pytest.approx(1, abs=1e-6)
    assert recall < 0.99
    assert value(item) == pytest.approx(2 * precision * recall / (precision + recall))


def test_only_the_first_sentences_are_compared():
    item = Item("a", "The cat sat on the mat.", article=ARTICLE)
    assert value(item, first_sentences=1, measure="recall") == pytest.approx(1, abs=1e-6)
    assert value(item, first_sentences=2) == value(
        Item("b", item.summary, article="The cat sat on the mat. It was a good mat."), first_sentences=0
    )


def test_given_sentences_replace_the_splitter():
    given = ("The cat sat", "on the mat.")
    item = Item("a", "The cat sat on the mat.", article=ARTICLE, summary_sentences=given)
    assert value(item) != pytest.approx(value(Item("a", item.summary, article=ARTICLE)), abs=1e-5)
    first = Item("a", "The cat sat.", article=ARTICLE, article_sentences=("Really?", "Yes."))
    assert value(first) == value(Item("a", "The cat sat.", article="Really? Yes."))


def test_stop_words_come_from_the_list_and_the_parameter():
    item = Item("a", "The cat was on a mat.", article=ARTICLE)
    english = value(item)
    assert value(item, stop_list="none") != pytest.approx(english, abs=1e-5)
    assert value(item, stop_list="none", stop_words="The,was,on,a,it,that") == pytest.approx(
        english, abs=1e-6
    )


def test_texts_of_stop_words_alone_are_not_scored():
    results = supert().score(
        [
            Item("a", "It was on the", article=ARTICLE, summary_sentences=()),
            Item("b", "The cat.", article="It was on the"),
        ]
    )
    assert [each.reasons["general"] for each in results] == [
        "the summary has nothing but stop words",
        "the article's sentences have nothing but stop words",
    ]
    assert all(math.isnan(each.values["general"]) for each in results)


def test_missing_texts_give_reasons():
    results = supert().score(
        [
            Item("a", " ", article=ARTICLE),
            Item("b", "The cat."),
        ]
    )
    assert [each.reasons["general"] for each in results] == ["empty summary", "no article"]


def test_long_sentence_is_cut_and_reported():
    sentence = "the cat and " * 100
    [scored] = supert().score([Item("a", "The cat sat.", article=sentence)])
    assert 0 < scored.shares_read["article"] < 1
    assert "summary" not in scored.shares_read
