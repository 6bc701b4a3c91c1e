"""Embedding similarity on a tiny encoder."""

import math

import pytest

from scoring.contract.items import Item
from scoring.contract.params import read_params
from scoring.evaluators import load_evaluator
from tests.scoring.tiny_models import tiny_model


def similarity(**settings):
    evaluator_class = load_evaluator("similarity")
    return evaluator_class(read_params(evaluator_class, {"model": str(tiny_model("bert")), **settings}))


def value(item, **settings):
    [scored] = similarity(**settings).score([item])
    return scored.values["general"]


def test_identical_texts_get_the_highest_score():
    item = Item("a", "The cat sat on the mat.", references=("Another.", "The cat sat on the mat."))
    assert value(item) == pytest.approx(1, abs=1e-6)


def test_score_is_the_cosine_of_mean_token_vectors():
    import torch
    import transformers

    folder = tiny_model("bert")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder).eval()
    with torch.no_grad():
        one, two = (
            model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0].mean(dim=0)
            for text in ("The cat sat.", "It was a good mat.")
        )
    expected = torch.cosine_similarity(one, two, dim=0).item()
    assert value(Item("a", "The cat sat.", references=("It was a good mat.",))) == pytest.approx(
        expected, abs=1e-6
    )


def test_several_references_give_their_best_mean_or_first_score():
    item = Item("a", "The cat sat.", references=("Officials said.", "The cat sat.", " "))
    first, best = value(item, references="first"), value(item)
    assert best == pytest.approx(1, abs=1e-6)
    assert first < best
    assert value(item, references="mean") == pytest.approx((first + best) / 2)


def test_long_article_is_cut_and_its_share_reported():
    item = Item("a", "The cat sat.", article="The cat sat. " * 300)
    [scored] = similarity(against="article").score([item])
    assert 0 < scored.shares_read["article"] < 1


def test_parts_include_the_end_of_a_long_article():
    beginning = "Officials said on Monday. " * 200
    item = Item("a", "The cat sat.", article=beginning + "The cat sat. " * 200)
    other = Item("b", "The cat sat.", article=beginning + "Really? " * 200)
    assert value(item, against="article") == pytest.approx(value(other, against="article"), abs=1e-6)
    for how in ("parts_max", "parts_mean"):
        [scored] = similarity(against="article", long_article=how).score([item])
        assert not scored.shares_read
        assert abs(scored.values["general"] - value(other, against="article", long_article=how)) > 1e-4


def test_missing_texts_give_reasons():
    results = similarity().score([Item("a", " "), Item("b", "The cat.", references=(" ",))])
    assert [each.reasons["general"] for each in results] == ["empty summary", "no reference"]
    assert all(math.isnan(each.values["general"]) for each in results)
