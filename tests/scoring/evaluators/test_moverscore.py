"""MoverScore on a tiny encoder."""

import math
import random

import numpy as np
import pytest

from scoring.contract.items import Item
from scoring.contract.params import read_params
from scoring.evaluators import load_evaluator
from tests.scoring.tiny_models import tiny_model

OTHERS = [
    Item("x", "Officials said on Monday.", references=("The talks went on.",), article="It was Monday."),
    Item("y", "She paid for it.", references=("Shares fell by 4 percent.",), article="Really? Yes. No."),
]


def moverscore(corpus=(), **settings):
    evaluator_class = load_evaluator("moverscore")
    evaluator = evaluator_class(read_params(evaluator_class, {"model": str(tiny_model("bert")), **settings}))
    if evaluator.params.idf:
        evaluator.see_corpus([*corpus, *OTHERS])
    return evaluator


def value(item, **settings):
    [scored] = moverscore([item], **settings).score([item])
    return scored.values["general"]


def reason(item, corpus=(), **settings):
    [scored] = moverscore([item, *corpus], **settings).score([item])
    assert math.isnan(scored.values["general"])
    return scored.reasons["general"]


@pytest.mark.parametrize("form", ["v1", "v2"])
@pytest.mark.parametrize("n_gram", [1, 2])
def test_identical_texts_get_the_highest_score(form, n_gram):
    item = Item("a", "The cat sat on the mat.", references=("The cat sat on the mat.",))
    assert value(item, form=form, n_gram=n_gram, idf=False) == pytest.approx(1, abs=2e-6)
    other = Item("a", "The cat sat on the mat.", references=("The minister said so.",))
    assert value(other, form=form, n_gram=n_gram, idf=False) < 0.999


def test_score_is_the_optimal_transport_between_word_vectors():
    """Two words against one: all mass goes to one word, so the work is a weighted mean of two distances."""
    import torch
    import transformers

    folder = tiny_model("bert")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder).eval()

    def vectors(text):
        with torch.no_grad():
            return torch.nn.functional.normalize(
                model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0], dim=-1
            ).numpy()

    item = Item("a", "cat mat", references=("Monday",))
    weights = {word: math.log(4 / (1 + 1)) for word in ("cat", "mat")}
    ends = vectors("monday")[1]
    works = [
        weights[word] * np.linalg.norm(vector - ends)
        for word, vector in zip(weights, vectors("cat mat")[1:3], strict=True)
    ]
    expected = 1 / (1 + sum(works) / sum(weights.values()))
    assert value(item, form="v2") == pytest.approx(expected, abs=1e-6)


def test_masses_are_exact_unless_rounding_is_chosen():
    chooser = random.Random(1)
    words = ["cat", "mat", "talks", "shares", "news", "report", "minister", "officials", "company", "percent"]
    summary, reference = (" ".join(chooser.choices(words, k=300)) for _ in range(2))
    item = Item("a", summary, references=(reference,))
    exact, rounded = value(item, masses="exact"), value(item, masses="rounded")
    assert value(item) == exact
    assert 0 < abs(exact - rounded) < 1e-4


def test_several_references_give_their_mean_best_or_first_score():
    item = Item("a", "The cat sat.", references=("Officials said.", "The cat sat.", " "))
    first, best = value(item, references="first", idf=False), value(item, references="max", idf=False)
    assert best == pytest.approx(1, abs=1e-5)
    assert first < best
    assert value(item, idf=False) == pytest.approx((first + best) / 2)


def test_stop_words_come_from_the_list_and_the_parameter():
    item = Item("a", "The cat sat on the mat.", references=("On Monday the minister sat.",))
    none = value(item, idf=False)
    english = value(item, idf=False, stop_list="english")
    assert english != pytest.approx(none, abs=1e-4)
    assert value(item, idf=False, stop_words="The,on") == pytest.approx(english, abs=1e-9)


@pytest.mark.parametrize("kind", ["roberta", "xlm-roberta"])
def test_stop_words_are_found_with_any_word_mark(kind):
    item = Item("a", "Officials said that the cat sat.", references=("On Monday it was the cat.",))
    settings = {"model": str(tiny_model(kind)), "idf": False}
    assert value(item, **settings, stop_words="the") != pytest.approx(value(item, **settings), abs=1e-5)


def test_rare_words_have_more_weight():
    item = Item("a", "The cat sat.", references=("The cat sat on the mat.",))
    common = [Item(str(number), "sat", references=("sat",)) for number in range(20)]
    [alone], [among_many] = (moverscore([item, *corpus]).score([item]) for corpus in ([], common))
    assert alone.values["general"] != pytest.approx(among_many.values["general"], abs=1e-4)


def test_reference_counts_once_per_article():
    references = ("A cat on a mat.", "Monday.")
    item = Item("a", "The cat sat.", references=references, article_id="1")
    same_article = [Item(name, "It was good.", references=references, article_id="1") for name in "bcd"]
    without = [Item(name, "It was good.", article_id="1") for name in "bcd"]
    another = [Item(name, "It was good.", references=references, article_id=name) for name in "bcd"]
    once, often, thrice = (
        moverscore([item, *corpus]).score([item])[0].values["general"]
        for corpus in (without, same_article, another)
    )
    assert often == once
    assert thrice != pytest.approx(once, abs=1e-4)


@pytest.mark.parametrize("form", ["v1", "v2"])
def test_text_without_weight_is_not_scored(form):
    references = ("The cat sat on the mat.",)
    assert (
        reason(Item("a", "... !", references=references), form=form)
        == "no word of the summary has any weight"
    )
    assert (
        reason(Item("a", "The the on.", references=references), form=form, stop_list="english")
        == "no word of the summary has any weight"
    )
    assert (
        reason(Item("a", "The cat sat.", references=("...",)), form=form)
        == "no word of the text it is compared with has any weight"
    )


def test_word_in_all_summaries_has_no_weight():
    item = Item("a", "Monday", references=("The cat.",))
    corpus = [Item("b", "On Monday.", references=("The cat sat.",))]
    evaluator = moverscore()
    evaluator.see_corpus([item, *corpus])
    [scored] = evaluator.score([item])
    assert scored.reasons["general"] == "no word of the summary has any weight"


def test_references_without_weight_are_ignored():
    item = Item("a", "The cat sat.", references=("...", "The cat sat on the mat."))
    without = Item("a", "The cat sat.", references=("The cat sat on the mat.",))
    evaluator = moverscore([item])
    assert evaluator.score([item])[0].values == evaluator.score([without])[0].values


def test_missing_texts_give_reasons():
    results = moverscore().score([Item("a", " "), Item("b", "The cat.", references=(" ",))])
    assert [each.reasons["general"] for each in results] == ["empty summary", "no reference"]


def test_long_article_is_cut_and_its_share_reported():
    item = Item("a", "The cat sat.", article="The cat sat. " * 300)
    [scored] = moverscore([item], against="article").score([item])
    assert 0 < scored.shares_read["article"] < 1


def test_idf_weights_need_the_corpus():
    evaluator_class = load_evaluator("moverscore")
    evaluator = evaluator_class(read_params(evaluator_class, {"model": str(tiny_model("bert"))}))
    with pytest.raises(RuntimeError, match="see_corpus"):
        evaluator.score([Item("a", "The cat.", references=("A cat.",))])
