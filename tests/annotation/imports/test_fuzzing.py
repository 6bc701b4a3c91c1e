"""Imports of damaged files are complete, or refused with a place and nothing stored.

`python -m benchmarks.import_fuzz` runs as many cases as one likes.
"""

import pytest

from tests.annotation.imports.fuzzing import FAILURES, FORMATS, Fuzzer, Outcome

CASES = 10  # of each format
FURTHER_CASES = 50  # of each format, in a thorough run

pytestmark = pytest.mark.django_db


@pytest.fixture
def fuzzer(shared, tmp_path):
    return Fuzzer(shared / "data", tmp_path)


def failures(fuzzer, seeds):
    results = {seed: fuzzer.run(seed) for seed in seeds}
    outcomes = {result.outcome for result in results.values()}
    assert outcomes >= {Outcome.ACCEPTED, Outcome.REFUSED}
    return {seed: result.words for seed, result in results.items() if result.outcome in FAILURES}


def test_damaged_files_are_imported_completely_or_refused(fuzzer):
    assert failures(fuzzer, range(CASES * len(FORMATS))) == {}


@pytest.mark.thorough
def test_more_damaged_files_are_imported_completely_or_refused(fuzzer):
    first = CASES * len(FORMATS)
    assert failures(fuzzer, range(first, first + FURTHER_CASES * len(FORMATS))) == {}
