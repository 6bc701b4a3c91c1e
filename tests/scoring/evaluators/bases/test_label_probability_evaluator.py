"""The behaviour that SEAHORSE, TRUE and XNLI share, on tiny models."""

import math

import pytest
import torch
import transformers

from scoring.contract.evaluator import EvaluatorError
from scoring.contract.items import Item
from scoring.contract.params import read_params
from scoring.evaluators import load_evaluator
from tests.scoring.t5_models import label_model, t5_model

NAMES = ("seahorse", "true_nli", "xnli_mt5")
ITEM = Item("a", "The cat sat.", article="Officials said on Monday that the talks went on.")
LONG = "Officials said on Monday that the talks went on. " * 20


def evaluator(name, **settings):
    evaluator_class = load_evaluator(name)
    return evaluator_class(read_params(evaluator_class, {"model": str(label_model()), **settings}))


def value(item, name="seahorse", **settings):
    [scored] = evaluator(name, **settings).score([item])
    [found] = scored.values.values()
    return found


def library_logits(prompt, folder):
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    with torch.inference_mode():
        logits = model(
            **tokenizer(prompt, return_tensors="pt"), decoder_input_ids=torch.tensor([[0]])
        ).logits[0, 0]
    return {label: logits[tokenizer.convert_tokens_to_ids(f"▁{label}")].item() for label in "012"}


def test_score_is_the_share_of_label_1_among_both_labels(subtests):
    for name in NAMES:
        with subtests.test(name=name):
            logits = library_logits(f"premise: {ITEM.article} hypothesis: {ITEM.summary}", label_model())
            expected = 1 / (1 + math.exp(logits["0"] - logits["1"]))
            assert value(ITEM, name) == pytest.approx(expected, abs=1e-5)
            assert value(ITEM, name, positive="0") == pytest.approx(1 - expected, abs=1e-5)


@pytest.mark.parametrize("measure", ["labels", "sequences"])
def test_label_probabilities_sum_to_1(measure):
    shares = [value(ITEM, labels="0,1,2", positive=label, measure=measure) for label in "012"]
    assert sum(shares) == pytest.approx(1, abs=1e-6)
    assert len(set(shares)) == 3


def test_probability_among_the_whole_vocabulary_is_lower():
    assert 0 < value(ITEM, measure="vocabulary") < value(ITEM)


def test_decision_is_the_label_that_the_model_writes():
    folder = label_model()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    [scored] = evaluator("seahorse", measure="decision").score([ITEM])
    assert scored.values["attribution"] == 0
    written = scored.explanations["attribution"]
    assert written
    label = tokenizer.convert_ids_to_tokens(tokenizer(written)["input_ids"][0]).strip("▁")
    assert label == written.split()[0] or written.startswith(label)
    assert value(ITEM, measure="decision", labels=f"0,{written}", positive=written) == 1


def test_labels_with_a_common_first_piece_need_sequences():
    folder = t5_model("t5", untied=True)
    with pytest.raises(EvaluatorError, match="do not tell them apart") as raised:
        value(ITEM, model=str(folder))
    assert raised.value.permanent
    assert 0 < value(ITEM, model=str(folder), measure="sequences") < 1


def test_label_of_two_pieces_is_represented_by_its_first():
    """0 is such a label in T5's own vocabulary, where 1 is one piece."""
    folder = label_model("t5", ("1", "2"))
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    assert tokenizer.tokenize("0") == ["▁", "0"]
    two = value(ITEM, "true_nli", model=str(folder), labels="1,2", positive="1")
    with_first = value(ITEM, "true_nli", model=str(folder))
    logits = {}
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    prompt = f"premise: {ITEM.article} hypothesis: {ITEM.summary}"
    with torch.inference_mode():
        found = model(**tokenizer(prompt, return_tensors="pt"), decoder_input_ids=torch.tensor([[0]])).logits
    for piece in ("▁", "▁1"):
        logits[piece] = found[0, 0, tokenizer.convert_tokens_to_ids(piece)].item()
    assert with_first == pytest.approx(1 / (1 + math.exp(logits["▁"] - logits["▁1"])), abs=1e-5)
    assert with_first != pytest.approx(two, abs=1e-3)


def test_long_article_is_cut_by_default_and_reported():
    long = Item("a", "The cat sat.", article=LONG)
    [scored] = evaluator("seahorse", max_length="64").score([long])
    assert 0 < scored.shares_read["article"] < 1
    assert "summary" not in scored.shares_read
    other = Item("b", "Really? Yes.", article=LONG)
    assert abs(value(long, max_length="64") - value(other, max_length="64")) > 1e-4
    assert value(long, max_length="64", long_article="cut_end") == pytest.approx(
        value(other, max_length="64", long_article="cut_end"), abs=1e-6
    )


def test_parts_of_a_long_article_give_their_highest_or_mean_score():
    long = Item("a", "The cat sat.", article=LONG + "It was a good mat. " * 20)
    highest, average, beginning = (
        value(long, max_length="64", long_article=how) for how in ("parts_max", "parts_mean", "cut")
    )
    assert average < highest
    assert len({highest, average, beginning}) == 3
    [scored] = evaluator("seahorse", max_length="64", long_article="parts_max").score([long])
    assert not scored.shares_read


def test_missing_texts_give_reasons(subtests):
    for name in NAMES:
        with subtests.test(name=name):
            found = evaluator(name).score(
                [Item("a", " ", article="The cat."), Item("b", "The cat.", article=" ")]
            )
            assert [list(each.reasons.values()) for each in found] == [["empty summary"], ["no article"]]


def test_unusable_parameters_are_refused(subtests):
    for name in NAMES:
        more_cases = [
            ({"prompt": "premise: {article}"}, r"parameter 'prompt': .*expected \{summary\} in it once"),
            ({"prompt": "{article} {article} {summary}"}, r"expected \{article\} in it once"),
            ({"labels": "1"}, "parameter 'labels': found '1', expected two or more"),
            ({"labels": "0,1,1"}, "found '1' more than once"),
            ({"positive": "yes"}, "parameter 'positive': found 'yes', expected one of the labels 0,1"),
        ]
        for settings, complaint in more_cases:
            with (
                subtests.test(settings=settings, complaint=complaint, name=name),
                pytest.raises(ValueError, match=complaint),
            ):
                evaluator(name, **settings)
