"""UMSE compared with the authors' model code on a tiny model."""

from dataclasses import replace

import pytest

from tests.scoring.further_cases import with_further
from tests.scoring.parity_sets import evaluator_with, parity_set

SCORES, LOGITS = 2e-5, 1e-4
TEXTS = {
    "sum_ref": lambda item: (item.summary, item.references[0]),
    "sum_doc": lambda item: (item.summary, item.article),
    "sum_doc_ref": lambda item: (item.summary, item.article, item.references[0]),
}
FUSIONS = ("arithmetic_mean", "min", "max", "geometric_mean")
EMPTY = "a03"


@pytest.fixture(scope="module")
def folder(shared):
    return shared / "parity" / "umse"


@pytest.fixture(scope="module")
def items(shared):
    return parity_set(shared, "umse").items


@pytest.fixture(scope="module")
def expected(shared):
    found = parity_set(shared, "umse").expected["items"]
    parts = {"id", "whole", "fusion", "sentence_by_sentence", "whole_in_batches_of_8"}
    assert {part for each in found for part in each} == parts
    return found


def umse(folder, **settings):
    given = {"model": str(folder / "model"), "empty_summary": "score", "granularity": "whole", **settings}
    return evaluator_with("umse", given)


def deviation(found, expected, record_property):
    """Return the largest deviation; both lists must have the same items."""
    pairs = list(zip(found, expected, strict=True))
    assert pairs
    largest = max(abs(one - two) for one, two in pairs)
    record_property("largest deviation", largest)
    return largest


def values(evaluator, items, dimension="general"):
    return [scored.values[dimension] for scored in evaluator.score(items)]


@pytest.mark.parametrize("scenario", TEXTS)
def test_ids_lengths_and_logits_equal_the_authors(folder, items, expected, scenario, record_property):
    model = umse(folder).model
    texts = [TEXTS[scenario](item) for item in items]
    golden = [each["whole"][scenario] for each in expected]
    sequences, _ = model.inputs.of(texts)
    assert [list(each.ids) for each in sequences] == [each["input_ids"] for each in golden]
    assert [list(each.lengths) for each in sequences] == [each["segment_lengths"] for each in golden]
    readings = model.read([(scenario, [each]) for each in texts])
    logits = [logit for [reading] in readings for logit in reading.outputs]
    wanted = [logit for each in golden for logit in each["logits"]]
    assert deviation(logits, wanted, record_property) <= LOGITS


@pytest.mark.parametrize("scenario", with_further(["sum_ref"], TEXTS))
def test_scores_of_whole_summaries_equal_the_authors(folder, items, expected, scenario, record_property):
    found = values(umse(folder, scenario=scenario, fusion="none"), items)
    wanted = [each["whole"][scenario]["score"] for each in expected]
    assert deviation(found, wanted, record_property) <= SCORES


@pytest.mark.parametrize("fusion", FUSIONS)
def test_fused_scores_equal_the_authors(folder, items, expected, fusion, record_property):
    found = values(umse(folder, fusion=fusion), items)
    assert deviation(found, [each["fusion"][fusion] for each in expected], record_property) <= SCORES


@pytest.mark.parametrize("scenario", with_further(["sum_ref"], ["sum_ref", "sum_doc"]))
@pytest.mark.parametrize(
    ("layer_norm", "key"), [("as_released", "score"), ("per_item", "score_one_at_a_time")]
)
def test_means_over_sentences_equal_the_authors(
    folder, items, expected, scenario, layer_norm, key, record_property
):
    evaluator = umse(folder, scenario=scenario, granularity="sentences", layer_norm=layer_norm)
    scored = evaluator.score(items)
    golden = [each["sentence_by_sentence"] for each in expected]
    assert [each.reasons.get("general") for each in scored] == [
        None if each else "empty summary" for each in golden
    ]
    found = [each.values["general"] for each, told in zip(scored, golden, strict=True) if told]
    wanted = [told[scenario][key] for told in golden if told]
    assert deviation(found, wanted, record_property) <= SCORES


@pytest.mark.parametrize("scenario", with_further(["sum_ref"], ["sum_ref", "sum_doc"]))
def test_scores_of_each_sentence_equal_the_authors(folder, items, expected, scenario, record_property):
    evaluator = umse(folder, scenario=scenario)
    found, wanted = [], []
    for item, each in zip(items, expected, strict=True):
        if item.id != EMPTY:
            found += values(evaluator, [replace(item, summary=text) for text in item.summary_sentences])
            wanted += each["sentence_by_sentence"][scenario]["sentence_scores_one_at_a_time"]
    assert deviation(found, wanted, record_property) <= SCORES


def test_released_script_shares_one_score_between_two_dimensions(folder, items, expected, record_property):
    evaluator = umse(folder, granularity="by_dimension", layer_norm="as_released")
    scored = evaluator.score(items)
    whole = [each["fusion"]["arithmetic_mean"] for each in expected]
    sentences = [(each["sentence_by_sentence"] or {}).get("arithmetic_mean") for each in expected]
    for dimension in ("coherence", "relevance"):
        found = [each.values[dimension] for each in scored]
        assert deviation(found, whole, record_property) <= SCORES
    for dimension in ("consistency", "fluency"):
        found = [each.values[dimension] for each, told in zip(scored, sentences, strict=True) if told]
        assert deviation(found, [told for told in sentences if told], record_property) <= SCORES
        assert scored[[item.id for item in items].index(EMPTY)].reasons[dimension] == "empty summary"
