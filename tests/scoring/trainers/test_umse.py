"""What UMSE's trainer learns from, before any training."""

from dataclasses import replace

import pytest

from annotation.declared.settings import read_settings
from annotation.texts.text_digests import text_digest
from scoring.texts.sentences import sentences
from scoring.trainers import load_trainer
from scoring.trainers.contract import CannotTrain, TrainingItem
from tests.scoring.trainers.umse_items import articles_with_references


def item(number, split):
    """Return an article whose sentences no other article has."""
    article = " ".join(f"Fact {place} of article {number} is news." for place in range(5))
    reference = f"Reference {number} tells the news. It ends with {number}."
    return TrainingItem(str(number), f"id {number}", article, "Not read.", (reference,), "en", split=split)


ITEMS = [item(number, "validation" if number % 4 == 3 else "train") for number in range(16)]


def prepared(items, **settings):
    found = load_trainer("umse")
    return found(read_settings(found.Params, {"test_share": 0, **settings}, of="umse")).prepare(items)


def digests(items, split):
    return tuple(sorted(text_digest(each.article) for each in items if each.split == split))


def test_counts_say_what_is_learnt_from():
    without = replace(item(16, "train"), references=(" ",))
    data = prepared([*ITEMS, without, item(17, "test")])
    counts = {what: number for what, number in data.counts.items() if isinstance(number, int)}
    assert counts == {
        "Training articles": 12,
        "Validation articles": 4,
        "Test articles, never seen": 1,
        "Articles without a reference": 1,
        "Training examples": 12 * 2 * 3,
        "Validation examples": 4 * 2 * 3,
    }
    assert data.dimensions == ("general",)
    assert data.languages == ("en",)
    assert data.articles == {split: digests(ITEMS, split) for split in ("train", "validation")}


def test_near_duplicates_are_counted():
    corrected = replace(item(0, "train"), id="corrected", article=f"{ITEMS[0].article} A word was corrected.")
    assert prepared([*ITEMS, corrected]).counts["Near-duplicate articles"] == 2


def test_words_and_length_that_tell_pairs_apart_are_told_and_warned_of():
    data = prepared(ITEMS, scenarios="as_released", lead="three")
    shares = {what: number for what, number in data.counts.items() if isinstance(number, float)}
    assert shares.keys() == {
        f"Told apart by {what} alone, {where}"
        for what in ("shared words", "length")
        for where in ("with the reference", "with the article")
    }
    # Three sentences of an article are longer than each reference of two; references are alike in length.
    assert shares["Told apart by length alone, with the reference"] == 1
    assert 0.5 <= shares["Told apart by length alone, with the article"] < 0.7
    [warning] = [each for each in data.warnings if "length alone" in each]
    assert warning.startswith("Scenario with the reference: length alone can tell 100% of the matching texts")


def test_a_lead_about_as_long_as_the_mismatch_is_not_told_apart_by_its_length():
    # As in the articles, each sentence of the references has seven words.
    sentence = "Reference {} tells us all the news."
    items = [replace(each, references=(" ".join([sentence.format(each.id)] * 2),)) for each in ITEMS]
    data = prepared(items, scenarios="sum_ref")
    assert data.counts["Told apart by length alone, with the reference"] == 0.5
    assert not any("length alone" in each for each in data.warnings)


def test_a_scenario_without_examples_is_refused_with_what_it_needs():
    short = [replace(each, references=(each.references[0].partition(".")[0] + ".",)) for each in ITEMS]
    with pytest.raises(CannotTrain, match="there are 0 with a reference of at least 2 sentences"):
        prepared(short)
    assert {each.scenario for each in prepared(short, scenarios="sum_doc").train} == {"sum_doc"}


@pytest.mark.parametrize(("part", "trains_all"), [("all", True), ("upper", True), ("none", False)])
def test_a_frozen_encoder_needs_no_memory_for_its_training(part, trains_all):
    found = load_trainer("umse")
    trainer = found(read_settings(found.Params, {"trained_part": part}, of="umse"))
    assert trainer.trains_all is trains_all


def test_no_sentence_of_another_split_is_in_an_example():
    items = [*ITEMS, *(item(number, "test") for number in range(16, 20))]
    data = prepared(items)
    for split, examples in (("train", data.train), ("validation", data.validation)):
        found = {sentence for each in examples for text in each.texts for sentence in sentences(text)}
        own = [each for each in items if each.split == split]
        assert found <= {
            s for each in own for text in (each.article, *each.references) for s in sentences(text)
        }


def test_the_same_article_under_two_ids_is_on_one_side():
    copy = replace(ITEMS[0], id="copy", article_id="copy", split="validation")
    data = prepared([*ITEMS, replace(copy, article=f"  {copy.article.upper()}\u200b ")])
    assert not set(data.articles["train"]) & set(data.articles["validation"])
    assert text_digest(copy.article) in data.articles["validation"]


def test_summaries_of_one_article_give_its_references_once():
    others = [replace(each, id=f"{each.id} again") for each in ITEMS]
    assert prepared([*ITEMS, *others]).digest == prepared(ITEMS).digest


def test_the_order_of_items_does_not_matter_and_the_seed_does():
    assert prepared(ITEMS[::-1]).digest == prepared(ITEMS).digest
    assert prepared(ITEMS, split_seed=1).digest != prepared(ITEMS).digest


@pytest.mark.parametrize(
    ("scenarios", "expected"),
    [
        ("all", {"sum_ref", "sum_doc", "sum_doc_ref"}),
        ("as_released", {"sum_ref", "sum_doc"}),
        ("sum_doc", {"sum_doc"}),
    ],
)
def test_only_the_scenarios_asked_for_are_learnt(scenarios, expected):
    data = prepared(articles_with_references(), scenarios=scenarios)
    assert {each.scenario for each in data.train} == expected


@pytest.mark.parametrize(
    ("items", "problem"),
    [
        ([], "The train articles give no examples with the reference: there are 0 with a"),
        ([ITEMS[0], *(each for each in ITEMS if each.split == "validation")], "there are 1 with a reference"),
        ([each for each in ITEMS if each.split == "train"] + [ITEMS[3]], "The validation articles give no"),
        ([replace(each, references=()) for each in ITEMS], "there are 0 with a reference"),
    ],
)
def test_too_little_is_refused_with_what_is_missing(items, problem):
    with pytest.raises(CannotTrain, match=problem):
        prepared(items)
