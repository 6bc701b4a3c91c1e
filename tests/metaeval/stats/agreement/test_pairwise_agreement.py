"""Pairwise agreement and the share of summaries on which all agree."""

import json
import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.stats.agreement.all_agree_share import all_agree_share
from metaeval.stats.agreement.pairwise_agreement import pairwise_agreement

tables = st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=1, max_size=12)


# By hand: (2, 0) has one agreeing pair of one, (1, 2) one of three.
def test_over_pairs_weighs_pairs_and_over_units_weighs_summaries():
    counts = [[2, 0], [1, 2]]
    assert pairwise_agreement(counts).value == 2 / 4
    assert pairwise_agreement(counts, over="units").value == pytest.approx((1 + 1 / 3) / 2, abs=1e-12)


def test_all_agree_share_by_hand():
    assert all_agree_share([[2, 0], [1, 2], [0, 3], [1, 0]]).value == pytest.approx(2 / 3, abs=1e-12)


def test_one_answer_only_is_full_agreement():
    assert pairwise_agreement([[3, 0]]).value == 1
    assert all_agree_share([[3, 0]]).value == 1


@pytest.mark.parametrize("statistic", [pairwise_agreement, all_agree_share])
def test_they_say_on_what_they_stand(statistic):
    agreement = statistic([[2, 0], [1, 2], [1, 0]])
    assert (agreement.units, agreement.ratings) == (2, 5)
    assert agreement.left_out == {"summaries with fewer than two ratings": 1}
    assert agreement.definition.endswith(".")


@pytest.mark.parametrize("statistic", [pairwise_agreement, all_agree_share])
@pytest.mark.parametrize("counts", [[[1, 0], [0, 1]], np.zeros((0, 2), dtype=int)])
def test_no_summary_with_two_ratings_is_undefined(statistic, counts):
    agreement = statistic(counts)
    assert math.isnan(agreement.value)
    assert agreement.reason == "no summary has two ratings or more"


def test_the_two_ways_have_different_definitions():
    counts = [[1, 1]]
    over_pairs, over_units = (pairwise_agreement(counts, over=over).definition for over in ("pairs", "units"))
    assert over_pairs != over_units


def test_it_refuses_an_unknown_way_of_averaging_by_name():
    with pytest.raises(ValueError, match="'raters' does not exist: choose from pairs, units"):
        pairwise_agreement([[1, 1]], over="raters")


@given(tables)
def test_it_equals_looking_at_every_pair(table):
    shares, agreeing, pairs = [], 0, 0
    for row in table:
        ratings = [answer for answer, times in enumerate(row) for _ in range(times)]
        same = [a == b for a, b in combinations(ratings, 2)]
        if same:
            shares.append(sum(same) / len(same))
            agreeing, pairs = agreeing + sum(same), pairs + len(same)
    if pairs:
        assert pairwise_agreement(table).value == pytest.approx(agreeing / pairs, abs=1e-12)
        assert pairwise_agreement(table, over="units").value == pytest.approx(np.mean(shares), abs=1e-12)
        assert all_agree_share(table).value == pytest.approx(np.mean([s == 1 for s in shares]), abs=1e-12)
    else:
        assert math.isnan(pairwise_agreement(table).value)


def test_golden_agreement(shared):
    cases = json.loads((shared / "golden" / "metaeval.json").read_text())["alpha"]
    assert cases
    for case in cases:
        answers = sorted({r for unit in case["units"] for r in unit if r is not None})
        counts = np.array([[unit.count(answer) for answer in answers] for unit in case["units"]])
        expected = case["expected"]
        for statistic, golden in (
            (pairwise_agreement(counts), expected["pairwise_agreement"]["over_pairs"]),
            (pairwise_agreement(counts, over="units"), expected["pairwise_agreement"]["over_units"]),
            (all_agree_share(counts), expected["all_agree_share"]),
        ):
            assert statistic.value == pytest.approx(
                math.nan if golden is None else golden, abs=1e-9, nan_ok=True
            ), case["name"]
