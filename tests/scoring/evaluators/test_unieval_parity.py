"""UniEval compared with the authors' code on a tiny model."""

import math
from dataclasses import replace

import pytest

from tests.scoring.parity_sets import evaluator_with, parity_set

TOLERANCE = 2e-5
EMPTY = "a04-empty-summary"


@pytest.fixture
def folder(shared):
    return shared / "parity" / "unieval"


@pytest.fixture
def expected(shared):
    return parity_set(shared, "unieval").expected["items"]


@pytest.fixture
def items(shared):
    return parity_set(shared, "unieval").items


def scores(folder, items, **settings):
    return evaluator_with("unieval", {"model": str(folder / "model"), **settings}).score(items)


def largest(deviations, record_property):
    deviations = list(deviations)
    assert deviations
    assert not any(map(math.isnan, deviations))
    record_property("largest deviation", max(deviations))
    return max(deviations)


@pytest.mark.parametrize("max_length", [1024, 128])
def test_scores_of_every_dimension_equal_the_authors(folder, items, expected, max_length, record_property):
    deviations = []
    for each, scored in zip(expected, scores(folder, items, max_length=max_length), strict=True):
        wanted = each[f"max_length_{max_length}"]
        if each["id"] == EMPTY:
            assert set(scored.reasons.values()) == {"empty summary"}
            continue
        deviations += [abs(scored.values[dimension] - wanted[dimension]) for dimension in scored.values]
    assert len(deviations) == 5 * (len(items) - 1)
    assert largest(deviations, record_property) <= TOLERANCE


@pytest.mark.parametrize("max_length", [1024, 128])
@pytest.mark.parametrize("dimension", ["consistency", "fluency"])
def test_scores_of_every_sentence_equal_the_authors(
    folder, items, expected, max_length, dimension, record_property
):
    alone, wanted = [], []
    for item, each in zip(items, expected, strict=True):
        wanted += each[f"max_length_{max_length}"].get(f"{dimension}_sentences", ())
        alone += [replace(item, summary_sentences=(sentence,)) for sentence in item.summary_sentences]
    found = scores(folder, alone, max_length=max_length, dimensions=dimension)
    deviations = (abs(scored.values[dimension] - value) for scored, value in zip(found, wanted, strict=True))
    assert largest(deviations, record_property) <= TOLERANCE


@pytest.mark.parametrize("max_length", [1024, 128])
@pytest.mark.parametrize("rule", ["first", "max", "mean"])
def test_scores_of_every_reference_equal_the_authors(
    folder, items, expected, max_length, rule, record_property
):
    rules = {"first": lambda each: each[0], "max": max, "mean": lambda each: sum(each) / len(each)}
    settings = {"max_length": max_length, "references": rule, "dimensions": "relevance"}
    deviations = (
        abs(
            scored.values["relevance"]
            - rules[rule](each[f"max_length_{max_length}"]["relevance_per_reference"])
        )
        for each, scored in zip(expected, scores(folder, items, **settings), strict=True)
        if each["id"] != EMPTY
    )
    assert largest(deviations, record_property) <= TOLERANCE


def test_token_ids_equal_the_authors(folder, items, expected):
    from scoring.neural.unieval import YesOrNo

    model = YesOrNo(folder / "model", "float32", 10_000)
    for item, each in zip(items, expected, strict=True):
        coherence = model.whole(
            "question: Is this a coherent summary to the document?",
            [("summary:", item.summary), ("document:", item.article)],
        )
        assert list(coherence.ids[:24]) == each["tokens"]["coherence_first_24"], item.id
        assert len(coherence.ids) == each["tokens"]["coherence_n_untruncated"], item.id
        relevance = model.whole(
            "question: Is this summary relevant to the reference?",
            [("summary:", item.summary), ("reference:", item.references[0])],
        )
        assert len(relevance.ids) == each["tokens"]["relevance_n"], item.id
