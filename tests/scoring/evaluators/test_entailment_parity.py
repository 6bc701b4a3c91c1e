"""Entailment compared with the library's pair encoding and classifier."""

import math

import pytest

from tests.scoring.parity_sets import evaluator_with, parity_set

TOLERANCE = 1e-5
MEASURES = {"entailment": "prob_entailment", "ratio": "entailment_over_entailment_plus_contradiction"}


@pytest.fixture
def folder(shared):
    return shared / "parity" / "entailment"


@pytest.fixture
def expected(shared):
    return {each["id"]: each for each in parity_set(shared, "entailment").expected["items"]}


@pytest.fixture
def items(shared):
    return parity_set(shared, "entailment").items


@pytest.mark.parametrize("measure", MEASURES)
def test_probabilities_equal_the_librarys(folder, items, expected, measure, record_property):
    settings = {"model": str(folder / "model"), "measure": measure}
    results = evaluator_with("entailment", settings).score(items)

    deviations = []
    for item, scored in zip(items, results, strict=True):
        if not item.summary.strip():
            assert scored.reasons["general"] == "empty summary"
            continue
        deviations.append(abs(scored.values["general"] - expected[item.id][MEASURES[measure]]))
        is_cut = len(expected[item.id]["input_ids"]) == 512
        assert list(scored.shares_read) == (["article"] if is_cut else [])
    assert len(deviations) == len(items) - 1
    assert not any(map(math.isnan, deviations))
    record_property("largest deviation", max(deviations))
    assert max(deviations) <= TOLERANCE


def test_ids_and_token_types_equal_the_librarys(folder, items, expected):
    from scoring.neural.pair_classifier import PairClassifier

    classifier = PairClassifier(folder / "model", "float32", 512, ["entailment"])
    for item in items:
        if not item.summary:
            continue
        [[pair]] = classifier.pairs.grid([item.article], [item.summary], in_parts=False).rows
        assert list(pair.ids) == expected[item.id]["input_ids"], item.id
        assert len(pair.ids) - pair.start == expected[item.id]["n_type_1"], item.id
