"""Pairwise agreement, and the share of summaries on which all raters agree."""

import json
import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.stats.agreement.pairwise_agreement import ALL_AGREE, PAIRWISE

tables = st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=1, max_size=12)


# By hand: (2, 0) has one agreeing pair of one, (1, 2) one of three.
def test_summaries_are_weighted_by_their_pairs():
    assert PAIRWISE.of_counts([[2, 0], [1, 2]], "nominal").value == 2 / 4


def test_all_agree_share_matches_a_worked_example():
    assert ALL_AGREE.of_counts([[2, 0], [1, 2], [0, 3], [1, 0]], "nominal").value == pytest.approx(
        2 / 3, abs=1e-12
    )


def test_constant_answers_are_full_agreement():
    assert PAIRWISE.of_counts([[3, 0]], "nominal").value == 1
    assert ALL_AGREE.of_counts([[3, 0]], "nominal").value == 1


@pytest.mark.parametrize("statistic", [PAIRWISE, ALL_AGREE])
def test_both_statistics_report_their_sample_size(statistic):
    agreement = statistic.of_counts([[2, 0], [1, 2], [1, 0]], "nominal")
    assert (agreement.units, agreement.ratings) == (2, 5)
    assert agreement.left_out == {"summaries with fewer than two ratings": 1}
    assert agreement.definition.endswith(".")


@pytest.mark.parametrize("statistic", [PAIRWISE, ALL_AGREE])
@pytest.mark.parametrize("counts", [[[1, 0], [0, 1]], np.zeros((0, 2), dtype=int)])
def test_no_summary_with_two_ratings_is_undefined(statistic, counts):
    agreement = statistic.of_counts(counts, "nominal")
    assert math.isnan(agreement.value)
    assert agreement.reason == "no summary has two ratings or more"


@given(tables)
def test_both_statistics_equal_counting_every_pair(table):
    shares, agreeing, pairs = [], 0, 0
    for row in table:
        ratings = [answer for answer, times in enumerate(row) for _ in range(times)]
        same = [a == b for a, b in combinations(ratings, 2)]
        if same:
            shares.append(sum(same) / len(same))
            agreeing, pairs = agreeing + sum(same), pairs + len(same)
    if pairs:
        assert PAIRWISE.of_counts(table, "nominal").value == pytest.approx(agreeing / pairs, abs=1e-12)
        assert ALL_AGREE.of_counts(table, "nominal").value == pytest.approx(
            np.mean([s == 1 for s in shares]), abs=1e-12
        )
    else:
        assert math.isnan(PAIRWISE.of_counts(table, "nominal").value)


def test_both_statistics_match_golden_values(shared):
    cases = json.loads((shared / "golden" / "metaeval.json").read_text())["alpha"]
    assert cases
    for case in cases:
        answers = sorted({r for unit in case["units"] for r in unit if r is not None})
        counts = np.array([[unit.count(answer) for answer in answers] for unit in case["units"]])
        expected = case["expected"]
        for statistic, golden in (
            (PAIRWISE.of_counts(counts, "nominal"), expected["pairwise_agreement"]["over_pairs"]),
            (ALL_AGREE.of_counts(counts, "nominal"), expected["all_agree_share"]),
        ):
            assert statistic.value == pytest.approx(
                math.nan if golden is None else golden, abs=1e-9, nan_ok=True
            ), case["name"]
