"""Entailment on tiny classifiers."""

import json
import math
import shutil

import pytest

from scoring.contract.items import Item
from scoring.contract.params import read_params
from scoring.evaluators import load_evaluator
from scoring.weights.model_files import MissingWeights
from tests.scoring.evaluator_settings import NLI
from tests.scoring.further_cases import with_further
from tests.scoring.tiny_models import POSITIONS, tiny_model

HEAD = "ForSequenceClassification"
ARTICLE = "The cat sat on the mat. She paid 3.50 for it! The talks went on."
SUMMARY = "The cat liked it. Officials said no."


def entailment(kind="bert", **settings):
    evaluator_class = load_evaluator("entailment")
    settings = {"model": str(tiny_model(kind, HEAD, NLI)), **settings}
    return evaluator_class(read_params(evaluator_class, settings))


def value(item, kind="bert", **settings):
    [scored] = entailment(kind, **settings).score([item])
    return scored.values["general"]


def library_probabilities(premise, hypothesis, kind="bert"):
    """Return probabilities in the order of NLI, with the library's encoding of one pair."""
    import torch
    import transformers

    folder = tiny_model(kind, HEAD, NLI)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    encoded = tokenizer(
        premise, hypothesis, truncation="only_first", max_length=POSITIONS, return_tensors="pt"
    )
    with torch.no_grad():
        return model(**encoded).logits[0].softmax(dim=-1).tolist()


@pytest.mark.parametrize("times", [1, 60])
@pytest.mark.parametrize("kind", with_further(["bert"], ["bert", "roberta", "xlm-roberta"]))
def test_the_article_is_the_premise_and_the_summary_the_hypothesis(kind, times):
    article = " ".join([ARTICLE] * times)
    contradiction, _, entails = library_probabilities(article, SUMMARY, kind)
    item = Item("a", SUMMARY, article=article)
    assert value(item, kind) == pytest.approx(entails, abs=1e-6)
    assert value(item, kind, measure="ratio") == pytest.approx(entails / (entails + contradiction), abs=1e-6)
    assert value(item, kind, measure="difference") == pytest.approx(entails - contradiction, abs=1e-6)


@pytest.fixture
def relabelled(tmp_path):
    """Return a function that copies the model's folder with other label names."""

    def with_labels(*labels):
        folder = tmp_path / labels[0]
        shutil.copytree(tiny_model("bert", HEAD, NLI), folder)
        config = json.loads((folder / "config.json").read_text())
        config["id2label"] = dict(enumerate(labels))
        config["label2id"] = {label: number for number, label in enumerate(labels)}
        (folder / "config.json").write_text(json.dumps(config))
        return str(folder)

    return with_labels


def test_the_label_is_found_by_its_name(relabelled):
    item = Item("a", SUMMARY, article=ARTICLE)
    first, _, last = library_probabilities(ARTICLE, SUMMARY)
    turned = relabelled("Entailment", "neutral", "contradiction")
    assert value(item, model=turned) == pytest.approx(first, abs=1e-6)
    two_labels = relabelled("not_entailment", "other", "entailment")
    assert value(item, model=two_labels) == pytest.approx(last, abs=1e-6)


def test_model_without_the_required_labels_is_refused(relabelled):
    item = Item("a", SUMMARY, article=ARTICLE)
    with pytest.raises(
        MissingWeights, match="labels label_0, label_1, label_2, and none is named entailment"
    ):
        value(item, model=relabelled("LABEL_0", "LABEL_1", "LABEL_2"))
    without_contradiction = relabelled("not_entailment", "other", "entailment")
    for how in ("difference", "ratio"):
        with pytest.raises(MissingWeights, match="none is named contradiction"):
            value(item, model=without_contradiction, measure=how)


def test_each_summary_sentence_takes_its_best_premise():
    item = Item("a", SUMMARY, article=ARTICLE)
    premises = ["The cat sat on the mat.", "She paid 3.50 for it!", "The talks went on."]
    table = [
        [library_probabilities(premise, hypothesis) for premise in premises]
        for hypothesis in ("The cat liked it.", "Officials said no.")
    ]
    entails = [max(row[2] for row in column) for column in table]
    contradicts = [max(row[0] for row in column) for column in table]
    differences = [one - other for one, other in zip(entails, contradicts, strict=True)]
    by_sentences = {"granularity": "sentences"}
    assert value(item, **by_sentences) == pytest.approx(sum(entails) / 2, abs=1e-6)
    assert value(item, **by_sentences, measure="difference") == pytest.approx(sum(differences) / 2, abs=1e-6)


def test_given_sentences_replace_the_splitter():
    given = Item(
        "a",
        SUMMARY,
        article=ARTICLE,
        references=(ARTICLE,),
        article_sentences=(ARTICLE, " "),
        summary_sentences=(SUMMARY,),
        reference_sentences=(ARTICLE,),
    )
    whole = value(given)
    assert value(given, granularity="sentences") == pytest.approx(whole, abs=1e-6)
    assert value(given, granularity="sentences", against="references") == pytest.approx(whole, abs=1e-6)
    assert value(Item("a", SUMMARY, article=ARTICLE), granularity="sentences") != pytest.approx(whole)


def test_several_references_give_their_best_mean_or_first_score():
    texts = ("The talks went on.", " ", ARTICLE)
    item = Item("a", SUMMARY, references=texts)
    one, other = (value(Item("a", SUMMARY, article=text)) for text in (texts[0], texts[2]))
    assert one != pytest.approx(other)
    assert value(item, against="references") == pytest.approx(max(one, other), abs=1e-6)
    assert value(item, against="references", references="mean") == pytest.approx((one + other) / 2, abs=1e-6)
    assert value(item, against="references", references="first") == pytest.approx(one, abs=1e-6)


def test_only_the_article_is_cut_if_some_of_it_remains():
    item = Item("a", "cat " * 500, article="mat " * 1000)
    [scored] = entailment().score([item])
    assert scored.shares_read == {"article": pytest.approx(9 / 1000)}
    assert scored.values["general"] == pytest.approx(
        library_probabilities(item.article, item.summary)[2], abs=1e-6
    )


def test_summary_is_cut_too_if_nothing_of_the_article_would_remain():
    for words, article_words, expected in (
        (509, 1000, {"article": 255 / 1000, "summary": 254 / 509}),
        (3000, 9, {"summary": 500 / 3000}),
    ):
        item = Item("a", "cat " * words, article="mat " * article_words)
        [scored] = entailment().score([item])
        assert scored.shares_read == pytest.approx(expected)


def test_parts_include_the_end_of_a_long_article():
    beginning = "Officials said on Monday. " * 200
    one = Item("a", SUMMARY, article=beginning + "The cat sat. " * 200)
    other = Item("b", SUMMARY, article=beginning + "Really? " * 200)
    assert value(one) == pytest.approx(value(other), abs=1e-6)
    for how in ("parts_max", "parts_mean"):
        [scored] = entailment(long_article=how).score([one])
        assert not scored.shares_read
        assert abs(scored.values["general"] - value(other, long_article=how)) > 1e-4
    assert value(one, long_article="parts_max") > value(one, long_article="parts_mean")


def test_fitting_article_scores_the_same_in_parts():
    item = Item("a", SUMMARY, article=ARTICLE)
    assert value(item, long_article="parts_mean") == pytest.approx(value(item), abs=1e-7)


def test_shorter_limit_can_be_set():
    [scored] = entailment(max_length=32).score([Item("a", SUMMARY, article="mat " * 100)])
    assert scored.shares_read["article"] < 0.3


def test_missing_texts_give_reasons():
    results = entailment().score([Item("a", " ", article=ARTICLE), Item("b", SUMMARY, article=" ")])
    assert [each.reasons["general"] for each in results] == ["empty summary", "no article"]
    assert all(math.isnan(each.values["general"]) for each in results)
    [scored] = entailment(against="references").score([Item("a", SUMMARY, article=ARTICLE)])
    assert scored.reasons["general"] == "no reference"


def test_separator_written_in_a_summary_is_plain_text():
    summary = f"{SUMMARY} [SEP] Officials said yes."
    assert abs(value(Item("a", summary, article=ARTICLE)) - library_probabilities(ARTICLE, summary)[2]) > 1e-6
