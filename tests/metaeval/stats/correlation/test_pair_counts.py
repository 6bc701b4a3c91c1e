"""Concordant, discordant and tied pairs."""

import json
from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from metaeval.stats.correlation.pair_counts import PairCounts, inversions, pair_counts
from metaeval.stats.groups import Groups


def count_pairs(labels, scores, sizes):
    counts = pair_counts(
        np.array(labels, dtype=float), np.array(scores, dtype=float), Groups(np.array(sizes))
    )
    return PairCounts(
        *(
            field.tolist()
            for field in (
                counts.concordant,
                counts.discordant,
                counts.tied_labels_only,
                counts.tied_scores_only,
                counts.tied_both,
            )
        )
    )


def count_one_by_one(labels, scores):
    kinds = {"C": 0, "D": 0, "labels": 0, "scores": 0, "both": 0}
    for (z1, x1), (z2, x2) in combinations(zip(labels, scores, strict=True), 2):
        if z1 == z2:
            kinds["both" if x1 == x2 else "labels"] += 1
        elif x1 == x2:
            kinds["scores"] += 1
        else:
            kinds["C" if (z1 < z2) == (x1 < x2) else "D"] += 1
    return list(kinds.values())


def test_each_kind_of_pair_is_counted():
    # Five groups of two rows, each with one kind of pair.
    counts = count_pairs(
        labels=[1, 2, 1, 2, 1, 1, 1, 2, 1, 1], scores=[1, 2, 2, 1, 1, 2, 1, 1, 1, 1], sizes=[2, 2, 2, 2, 2]
    )
    assert counts == PairCounts(
        concordant=[1, 0, 0, 0, 0],
        discordant=[0, 1, 0, 0, 0],
        tied_labels_only=[0, 0, 1, 0, 0],
        tied_scores_only=[0, 0, 0, 1, 0],
        tied_both=[0, 0, 0, 0, 1],
    )


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=20),
        min_size=1,
        max_size=6,
    )
)
def test_counts_of_every_group_equal_counting_pair_by_pair(groups):
    pairs = [pair for group in groups for pair in group]
    counts = count_pairs([z for z, _ in pairs], [x for _, x in pairs], [len(group) for group in groups])
    expected = [count_one_by_one([z for z, _ in group], [x for _, x in group]) for group in groups]
    assert [
        list(row)
        for row in zip(
            counts.concordant,
            counts.discordant,
            counts.tied_labels_only,
            counts.tied_scores_only,
            counts.tied_both,
            strict=True,
        )
    ] == expected


@given(st.lists(st.integers(0, 40), min_size=1, max_size=60))
def test_inversions_count_pairs_in_the_wrong_order(ranks):
    assert inversions(np.array(ranks), Groups(np.array([len(ranks)]))).tolist() == [
        sum(a > b for a, b in combinations(ranks, 2))
    ]


def test_pair_counts_above_32_bits_do_not_overflow():
    n = 100_000
    counts = pair_counts(np.arange(n, dtype=float), -np.arange(n, dtype=float), Groups(np.array([n])))
    assert counts.discordant.tolist() == [n * (n - 1) // 2]


def test_pair_counts_match_golden_values(shared):
    golden = json.loads((shared / "golden" / "metaeval.json").read_text())
    cases = [(case["y"], case["x"], case["expected"]["pairs"]) for case in golden["flat"]]
    cases += [(case["labels"], case["scores"], case["expected"]["pairs"]) for case in golden["binary"]]
    cases += [
        (
            np.ravel(golden["matrices"][case["z"]]),
            np.ravel(golden["matrices"][case["x"]]),
            case["expected"]["pooled"]["pairs"],
        )
        for case in golden["levels"]
    ]
    assert len(cases) > 20
    for labels, scores, expected in cases:
        counts = count_pairs(labels, scores, [len(labels)])
        assert counts == PairCounts(
            concordant=[expected["concordant"]],
            discordant=[expected["discordant"]],
            tied_labels_only=[expected["tied_y_only"]],
            tied_scores_only=[expected["tied_x_only"]],
            tied_both=[expected["tied_both"]],
        )
