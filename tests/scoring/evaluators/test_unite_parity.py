"""UniTE compared with the authors' model code on a tiny model."""

import pytest

from tests.scoring.parity_sets import evaluator_with, parity_set

TOLERANCE = 5e-5
VARIANTS = {
    "ref": {"scenario": "ref"},
    "src": {"scenario": "src"},
    "src_ref": {"scenario": "src_ref"},
    "src_ref_no_src_ref_attention": {"scenario": "src_ref", "attention": "regional"},
    "src_ref_positions_restart": {"scenario": "src_ref", "positions": "restart"},
}
TEXTS = {
    "ref": lambda item: (item.summary, item.references[0]),
    "src": lambda item: (item.summary, item.article),
    "src_ref": lambda item: (item.summary, item.article, item.references[0]),
}


@pytest.fixture(scope="module")
def folder(shared):
    return shared / "parity" / "unite"


@pytest.fixture(scope="module")
def items(shared):
    return parity_set(shared, "unite").items


@pytest.fixture(scope="module")
def expected(shared):
    return parity_set(shared, "unite").expected["items"]


def unite(folder, **settings):
    given = {"model": str(folder / "model"), "empty_summary": "score", **settings}
    return evaluator_with("unite", given)


def largest_deviation(evaluator, items, wanted, record_property):
    found = [scored.values["general"] for scored in evaluator.score(items)]
    largest = max(abs(one - two) for one, two in zip(found, wanted, strict=True))
    record_property("largest deviation", largest)
    return largest


def test_parity_set_covers_every_variant(expected):
    for each in expected:
        assert set(each) == {"id", "batch_1", "batches_of_8", "segment_lengths", "input_ids"}
        assert set(each["batch_1"]) == set(each["segment_lengths"]) == set(VARIANTS)
        assert set(each["batches_of_8"]) == set(each["input_ids"]) == set(TEXTS)


@pytest.mark.parametrize("variant", VARIANTS)
def test_ids_and_lengths_equal_the_authors(folder, items, expected, variant):
    settings = VARIANTS[variant]
    sequences, _ = unite(folder, **settings).model.inputs.of(
        [TEXTS[settings["scenario"]](item) for item in items]
    )
    assert [list(each.ids) for each in sequences] == [
        each["input_ids"][settings["scenario"]] for each in expected
    ]
    assert [list(each.lengths) for each in sequences] == [
        each["segment_lengths"][variant] for each in expected
    ]


@pytest.mark.parametrize("variant", VARIANTS)
def test_scores_equal_the_authors_at_batch_1(folder, items, expected, variant, record_property):
    wanted = [each["batch_1"][variant] for each in expected]
    evaluator = unite(folder, **VARIANTS[variant])
    assert largest_deviation(evaluator, items, wanted, record_property) <= TOLERANCE
