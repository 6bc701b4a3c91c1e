"""BLANC compared with the authors' package: scores, and counts of right guesses."""

import functools
import re
from itertools import chain

import pytest

from tests.scoring.parity_sets import evaluator_with, parity_set

HELP = {
    "help_default": {},
    "help_paper_gap6": {"gap": 6},
    "help_improve": {"measure": "improve"},
    "help_batch_16": {},
    "help_gap4_mask2": {"gap": 4, "masked_per_gap": 2},
}
TUNE = {
    "tune_default_seed1": {},
    "tune_no_replacement_seed1": {"learning_rate": 1e-3, "p_replace": 0, "p_keep": 0},
    "tune_lr1e-3_seed1": {"learning_rate": 1e-3},
}


@pytest.fixture(scope="module")
def parity(shared):
    folder, expected, items = parity_set(shared, "blanc")
    return folder / "model", items, {each["id"]: each for each in expected["items"]}


@pytest.fixture(scope="module")
def scores(parity):
    """Return a function that scores items; variants with equal settings share the results."""
    model, items, _ = parity
    by_id = {item.id: item for item in items}

    @functools.cache
    def made(ids, **settings):
        return evaluator_with("blanc", {"model": str(model), **settings}).score([by_id[id] for id in ids])

    return made


def counts(scored):
    """Return [[never, only with the summary], [only without, either way]], the package's layout."""
    _, gained, lost, both, never = map(int, re.findall(r"\d+", scored.explanations["general"])[:5])
    return [[never, gained], [lost, both]]


def differences(parity, scores, variant, settings):
    """Return the largest difference of the four counts for each item with a summary."""
    _, items, expected = parity
    wanted = [item for item in items if expected[item.id].get(variant)]
    found = {}
    results = scores(tuple(item.id for item in wanted), **settings)
    for item, scored in zip(wanted, results, strict=True):
        their = expected[item.id][variant]
        if not item.summary.strip():
            assert scored.reasons == {"general": "empty summary"}
            assert their["score"] == 0
            continue
        ours, theirs = (list(chain.from_iterable(each)) for each in (counts(scored), their["S"]))
        found[item.id] = max(abs(one - two) for one, two in zip(ours, theirs, strict=True))
        if not found[item.id]:
            assert scored.values["general"] == pytest.approx(their["score"], abs=1e-12)
    return found


FURTHER = {"help_paper_gap6", "help_improve", "help_gap4_mask2", "tune_default_seed1", "tune_lr1e-3_seed1"}
"""Variants that take longest, and differ in a number or in what is made of the counts."""


def each_of(variants):
    marks = {variant: [pytest.mark.thorough] if variant in FURTHER else [] for variant in variants}
    return [pytest.param(variant, marks=marks[variant]) for variant in variants]


@pytest.mark.parametrize("variant", each_of(HELP))
def test_help_counts_equal_the_authors(parity, scores, variant, record_property):
    found = differences(parity, scores, variant, HELP[variant])
    record_property("largest difference of a count", max(found.values()))
    assert len(found) >= 10
    assert found == dict.fromkeys(found, 0)


@pytest.mark.parametrize("variant", each_of(TUNE))
def test_tune_counts_equal_the_authors(parity, scores, variant, record_property):
    found = differences(parity, scores, variant, {"form": "tune", **TUNE[variant]})
    record_property("largest difference of a count", max(found.values()))
    assert len(found) >= 9
    assert found == dict.fromkeys(found, 0)
