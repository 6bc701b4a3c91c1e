"""BARTScore on a tiny random BART."""

import math

import pytest

from scoring.contract.evaluator import EvaluatorError
from scoring.contract.items import Item
from scoring.contract.params import read_params
from scoring.evaluators import load_evaluator
from tests.scoring.further_cases import with_further
from tests.scoring.tiny_models import POSITIONS, tiny_model

ARTICLE = "Officials said on Monday that the talks went on. The cat sat on the mat."
SUMMARY = "The cat sat on the mat."
ITEM = Item("a", SUMMARY, article=ARTICLE, references=("A cat sat.", "Really? Yes.", " "))


def bartscore(**settings):
    evaluator_class = load_evaluator("bartscore")
    return evaluator_class(read_params(evaluator_class, {"model": str(tiny_model("bart")), **settings}))


def value(item=ITEM, **settings):
    [scored] = bartscore(**settings).score([item])
    return scored.values["general"]


def log_likelihood_by_library(source, target):
    import torch
    import transformers

    folder = tiny_model("bart")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.BartForConditionalGeneration.from_pretrained(folder).eval()
    labels = tokenizer(target, return_tensors="pt")["input_ids"]
    with torch.no_grad():
        return -model(**tokenizer(source, return_tensors="pt"), labels=labels).loss.item()


def test_score_is_the_mean_log_probability_of_all_tokens():
    assert value() == pytest.approx(log_likelihood_by_library(ARTICLE, SUMMARY), abs=1e-5)
    single = Item("a", SUMMARY, references=("A cat sat.",))
    assert value(single, direction="ref_hypo") == pytest.approx(
        log_likelihood_by_library("A cat sat.", SUMMARY), abs=1e-5
    )
    assert value(single, direction="hypo_ref") == pytest.approx(
        log_likelihood_by_library(SUMMARY, "A cat sat."), abs=1e-5
    )


@pytest.mark.parametrize("direction", with_further(["ref_hypo"], ["ref_hypo", "hypo_ref"]))
def test_several_references_give_their_mean_best_or_first_score(direction):
    one, two = (
        value(Item("a", SUMMARY, references=(text,)), direction=direction) for text in ITEM.references[:2]
    )
    assert value(direction=direction) == pytest.approx((one + two) / 2, abs=1e-5)
    assert value(direction=direction, references="max") == pytest.approx(max(one, two), abs=1e-5)
    assert value(direction=direction, references="first") == pytest.approx(one, abs=1e-5)


@pytest.mark.parametrize("rule", with_further(["max"], ["mean", "max", "first"]))
def test_directions_are_combined_after_the_references(rule):
    one, two = (value(direction=direction, references=rule) for direction in ("ref_hypo", "hypo_ref"))
    harmonic = 2 / (1 / one + 1 / two)
    assert value(direction="avg_f", references=rule) == pytest.approx((one + two) / 2, abs=1e-5)
    assert value(direction="harm_f", references=rule) == pytest.approx(harmonic, abs=1e-5)
    assert value(direction="harm_f_authors", references=rule) == pytest.approx(harmonic / 2, abs=1e-5)


def test_prompt_follows_the_source_or_begins_the_target_and_several_are_averaged():
    after = value(prompts="In short")
    assert after == pytest.approx(log_likelihood_by_library(f"{ARTICLE} In short,", SUMMARY), abs=1e-5)
    before = value(prompts="In short", prompt_place="target")
    assert before == pytest.approx(log_likelihood_by_library(ARTICLE, f"In short, {SUMMARY}"), abs=1e-5)
    other = value(prompts="To conclude")
    assert value(prompts="In short,To conclude") == pytest.approx((after + other) / 2, abs=1e-5)


def test_prompt_after_a_long_article_is_read():
    long = Item("a", SUMMARY, article=ARTICLE * 100)
    assert abs(value(long) - value(long, prompts="In short")) > 1e-3
    [plain], [prompted] = (bartscore(prompts=each).score([long]) for each in ("", "In short"))
    assert 0 < prompted.shares_read["article"] < plain.shares_read["article"] < 1


def test_prompt_that_leaves_no_room_is_refused():
    for place in ("source", "target"):
        with pytest.raises(EvaluatorError, match="no room"):
            bartscore(prompts="In other words it went on", prompt_place=place, max_length=8).score([ITEM])


def test_text_beyond_the_limit_is_cut_and_the_share_read_is_reported():
    [scored] = bartscore(max_length=12).score([ITEM])
    assert 0 < scored.shares_read["article"] < 1
    [beyond_model] = bartscore(max_length=4096).score([Item("a", SUMMARY * 200, article=ARTICLE * 100)])
    [at_model] = bartscore(max_length=POSITIONS).score([Item("a", SUMMARY * 200, article=ARTICLE * 100)])
    assert beyond_model == at_model
    assert set(at_model.shares_read) == {"article", "summary"}


def test_parts_include_the_end_of_a_long_article():
    beginning = "Officials said on Monday. " * 200
    item = Item("a", SUMMARY, article=beginning + "The cat sat. " * 200)
    other = Item("b", SUMMARY, article=beginning + "Really? " * 200)
    assert value(item) == pytest.approx(value(other), abs=1e-5)
    for how in ("parts_max", "parts_mean"):
        [scored] = bartscore(long_article=how).score([item])
        assert not scored.shares_read
        assert abs(scored.values["general"] - value(other, long_article=how)) > 1e-4
    assert value(item, long_article="parts_mean") < value(item, long_article="parts_max")


def test_missing_texts_give_reasons():
    items = [
        Item("a", " ", article="Text.", references=("Text.",)),
        Item("b", "Text.", article=" ", references=("", " ")),
        Item("c", "Text."),
    ]
    for direction, reason in (("src_hypo", "no article"), ("avg_f", "no reference")):
        results = bartscore(direction=direction).score(items)
        assert [each.reasons["general"] for each in results] == ["empty summary", reason, reason]
        assert all(math.isnan(each.values["general"]) for each in results)


def test_empty_texts_are_scored_like_the_authors_on_request():
    empty = Item("a", "", article=ARTICLE, references=("",))
    assert value(empty, empty_texts="score") == pytest.approx(
        log_likelihood_by_library(ARTICLE, ""), abs=1e-5
    )
    assert value(empty, empty_texts="score", direction="hypo_ref") == pytest.approx(
        log_likelihood_by_library("", ""), abs=1e-5
    )
    absent = bartscore(empty_texts="score").score([Item("b", "Text.")])
    assert absent[0].reasons == {"general": "no article"}
    absent = bartscore(empty_texts="score", direction="avg_f").score([Item("b", "Text.")])
    assert absent[0].reasons == {"general": "no reference"}


def test_articles_in_several_batches_score_the_same_as_alone():
    articles = ["Officials said. " * 60, ARTICLE, "She paid 3.50 for it! " * 50]
    items = [
        Item(f"{number}", f"{start} {SUMMARY * (number % 7)}", article=articles[number % 3])
        for number in range(60)
        for start in ("The company's shares fell", "The company's news")
    ]
    evaluator = bartscore()
    together = [scored.values["general"] for scored in evaluator.score(items)]
    assert together == pytest.approx([value(item) for item in items[:12]] + together[12:], abs=1e-5)
    alone = [evaluator.score([item])[0].values["general"] for item in items]
    assert together == pytest.approx(alone, abs=1e-5)


def test_out_of_memory_leaves_other_scores(monkeypatch):
    from scoring.neural.bart import Bart

    encode = Bart.encode

    def encode_little(self, sources):
        if sum(map(len, sources)) > 100:
            raise MemoryError
        return encode(self, sources)

    items = [ITEM, Item("b", SUMMARY, article=ARTICLE * 10), Item("c", SUMMARY, article="A mat.")]
    wanted = [value(items[0]), value(items[2])]
    monkeypatch.setattr(Bart, "encode", encode_little)
    first, too_long, last = bartscore().score(items)
    assert too_long.reasons == {"general": "out of memory"}
    assert [first.values["general"], last.values["general"]] == pytest.approx(wanted, abs=1e-5)


def test_bfloat16_is_near_float32():
    assert value(precision="bfloat16") == pytest.approx(value(), abs=0.1)
