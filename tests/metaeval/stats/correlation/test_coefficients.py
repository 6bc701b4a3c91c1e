"""Coefficients over one set of pairs, and over many groups at once."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given
from hypothesis import strategies as st

from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.groups import Groups

RANK_COEFFICIENTS = ["spearman", "kendall_b", "kendall_c"]
CORRELATIONS = ["pearson", *RANK_COEFFICIENTS]
GOLDEN_NAMES = {
    "pearson": "pearson",
    "spearman": "spearman",
    "kendall_b": "kendall_tau_b",
    "kendall_c": "kendall_tau_c",
    "acc_eq": "acc_eq",
    "roc_auc": "roc_auc",
}


def value_of(name, labels, scores):
    return COEFFICIENTS[name].of(np.array(labels, dtype=float), np.array(scores, dtype=float)).value


def reason_of(name, labels, scores):
    single = COEFFICIENTS[name].of(np.array(labels, dtype=float), np.array(scores, dtype=float))
    assert math.isnan(single.value)
    return single.reason


@st.composite
def varied_pairs(draw, smallest_size=2):
    """Draw labels and scores with many ties, neither constant."""
    size = draw(st.integers(smallest_size, 30))
    few = st.integers(-5, 5)
    labels = draw(st.lists(few, min_size=size, max_size=size))
    scores = draw(st.lists(few, min_size=size, max_size=size))
    assume(len(set(labels)) > 1)
    assume(len(set(scores)) > 1)
    return np.array(labels, dtype=float), np.array(scores, dtype=float)


# Derived by hand: deviations (-1, 0, 1) and (-3, -1, 4); S_xz = 7, S_xx = 26, S_zz = 2.
def test_pearson_matches_a_worked_example():
    assert value_of("pearson", [1, 2, 3], [2, 4, 9]) == pytest.approx(7 / math.sqrt(52), abs=1e-12)


# Ranks (1.5, 1.5, 3, 4) and (1, 2, 4, 3): S_xz = 3.5, S_xx = 5, S_zz = 4.5.
def test_spearman_gives_ties_their_mean_rank():
    assert value_of("spearman", [1, 1, 2, 3], [10, 20, 40, 30]) == pytest.approx(
        3.5 / math.sqrt(22.5), abs=1e-12
    )


# Six pairs: four concordant, one discordant (the last two), one tied in the labels only.
def test_kendall_b_counts_a_tie_on_one_side_in_the_denominator():
    assert value_of("kendall_b", [1, 1, 2, 3], [10, 20, 40, 30]) == pytest.approx(
        3 / math.sqrt(30), abs=1e-12
    )


# Four pairs of a yes and a no: (3 > 1), (3 > 2), (2 > 1), (2 = 2): 3.5 of 4.
def test_roc_auc_counts_an_equal_score_as_half():
    assert value_of("roc_auc", [1, 1, 0, 0], [3, 2, 2, 1]) == 3.5 / 4


def test_negative_zero_is_tied_with_zero():
    assert value_of("kendall_b", [1, 2, 3], [-0.0, 0.0, 1.0]) == pytest.approx(2 / math.sqrt(6), abs=1e-12)


def test_values_that_differ_in_the_last_digit_correlate_exactly():
    just_above_one = np.nextafter(1.0, 2.0)
    assert value_of("pearson", [1, 1, 1, 2], [1, 1, 1, just_above_one]) == pytest.approx(1, abs=1e-12)
    assert value_of("pearson", [1, 2, 3], [0, 5e-324, 1e-323]) == pytest.approx(1, abs=1e-12)


def test_fewer_than_two_pairs_are_undefined(subtests):
    for pairs in [[], [1]]:
        for name in COEFFICIENTS:
            with subtests.test(name=name, pairs=pairs):
                assert reason_of(name, pairs, pairs) == "fewer than two pairs of label and score"


def test_a_constant_side_is_undefined_and_named(subtests):
    for name in CORRELATIONS:
        with subtests.test(name=name):
            assert reason_of(name, [0.1] * 3, [1, 2, 3]) == "all labels equal"
            assert reason_of(name, [1, 2, 3], [0.1] * 3) == "all scores equal"
            assert reason_of(name, [2, 2], [3, 3]) == "all labels equal"


@pytest.mark.parametrize("label", [0, 1])
def test_roc_auc_of_one_class_is_undefined(label):
    assert reason_of("roc_auc", [label] * 3, [1, 2, 3]) == "only yes or only no among the labels"


def test_roc_auc_of_equal_scores_is_a_half():
    assert value_of("roc_auc", [0, 1, 1], [7, 7, 7]) == 0.5


def test_roc_auc_refuses_labels_that_are_not_yes_or_no():
    with pytest.raises(ValueError, match=r"0 or 1, not 0\.5"):
        value_of("roc_auc", [0, 1, 0.5], [1, 2, 3])


def test_every_coefficient_has_a_name_a_label_and_a_formula(subtests):
    for name in COEFFICIENTS:
        with subtests.test(name=name):
            coefficient = COEFFICIENTS[name]
            assert coefficient.name == name
            assert coefficient.label
            assert "=" in coefficient.definition
            assert coefficient.definition.endswith(".")


@given(varied_pairs())
def test_correlations_match_scipy(pairs):
    labels, scores = pairs
    assert value_of("pearson", *pairs) == pytest.approx(scipy.stats.pearsonr(labels, scores)[0], abs=1e-9)
    assert value_of("spearman", *pairs) == pytest.approx(scipy.stats.spearmanr(labels, scores)[0], abs=1e-9)
    for variant in "bc":
        tau = scipy.stats.kendalltau(labels, scores, variant=variant)[0]
        assert value_of(f"kendall_{variant}", *pairs) == pytest.approx(tau, abs=1e-9)


@given(varied_pairs())
def test_roc_auc_is_the_share_of_correctly_ordered_yes_no_pairs(pairs):
    answers = (pairs[0] > pairs[0].min()).astype(float)
    scores = pairs[1]
    differences = np.subtract.outer(scores[answers == 1], scores[answers == 0])
    share = ((differences > 0) + 0.5 * (differences == 0)).mean()
    assert value_of("roc_auc", answers, scores) == pytest.approx(share, abs=1e-12)


@given(varied_pairs())
@pytest.mark.parametrize("name", CORRELATIONS)
def test_correlations_are_symmetric_in_labels_and_scores(name, pairs):
    labels, scores = pairs
    assert value_of(name, labels, scores) == pytest.approx(value_of(name, scores, labels), abs=1e-12)


@given(varied_pairs())
@pytest.mark.parametrize("name", CORRELATIONS)
def test_negated_scores_negate_the_correlation(name, pairs):
    labels, scores = pairs
    assert value_of(name, labels, -scores) == pytest.approx(-value_of(name, labels, scores), abs=1e-12)


@given(varied_pairs())
def test_negated_scores_turn_roc_auc_into_one_minus_it(pairs):
    answers = (pairs[0] > pairs[0].min()).astype(float)
    mirrored = value_of("roc_auc", answers, -pairs[1])
    assert mirrored == pytest.approx(1 - value_of("roc_auc", answers, pairs[1]), abs=1e-12)


@given(varied_pairs())
@pytest.mark.parametrize("name", RANK_COEFFICIENTS)
def test_rank_coefficients_ignore_monotonic_rescaling(name, pairs):
    labels, scores = pairs
    assert value_of(name, np.exp(labels), scores**3) == pytest.approx(value_of(name, *pairs), abs=1e-12)


@given(varied_pairs(), st.integers(1, 1000), st.integers(-1_000_000, 1_000_000))
def test_pearson_ignores_scale_and_offset(pairs, scale, offset):
    labels, scores = pairs
    moved = value_of("pearson", labels, scores * scale + offset)
    assert moved == pytest.approx(value_of("pearson", *pairs), abs=1e-9)


@given(varied_pairs(), st.randoms(use_true_random=False))
@pytest.mark.parametrize("name", CORRELATIONS)
def test_the_order_of_the_pairs_does_not_matter(name, pairs, random):
    order = list(range(len(pairs[0])))
    random.shuffle(order)
    shuffled = value_of(name, pairs[0][order], pairs[1][order])
    assert shuffled == pytest.approx(value_of(name, *pairs), abs=1e-12)


@given(
    st.lists(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 3)), max_size=8), min_size=1, max_size=8)
)
@pytest.mark.parametrize("name", [each for each in COEFFICIENTS if not COEFFICIENTS[each].is_fitted_to_all])
def test_many_groups_at_once_equal_each_group_alone(name, groups):
    labels = np.array([label for group in groups for label, _ in group], dtype=float)
    scores = np.array([score for group in groups for _, score in group], dtype=float)
    sizes = np.array([len(group) for group in groups])

    values, undefined = COEFFICIENTS[name].of_groups(labels, scores, Groups(sizes))

    ends = np.cumsum(sizes)
    alone = [
        COEFFICIENTS[name].of(labels[end - size : end], scores[end - size : end])
        for size, end in zip(sizes, ends, strict=True)
    ]
    np.testing.assert_allclose(values, [single.value for single in alone], rtol=0, atol=1e-12)
    reasons = [single.reason for single in alone if single.reason]
    assert undefined == {reason: reasons.count(reason) for reason in reasons}


def golden_cases(shared: Path, part: str):
    cases = json.loads((shared / "golden" / "metaeval.json").read_text())[part]
    assert cases
    return cases


def assert_as_golden(coefficient, labels, scores, case):
    expected = case["expected"][GOLDEN_NAMES[coefficient]]
    value = value_of(coefficient, labels, scores)
    if expected is None:
        assert math.isnan(value), case["name"]
    else:
        assert value == pytest.approx(expected, abs=1e-9), case["name"]


@pytest.mark.parametrize("name", [*CORRELATIONS, "acc_eq"])
def test_ungrouped_values_match_golden_values(shared, name):
    for case in golden_cases(shared, "flat"):
        assert_as_golden(name, case["y"], case["x"], case)


@pytest.mark.parametrize("name", GOLDEN_NAMES)
def test_values_of_yes_no_labels_match_golden_values(shared, name):
    for case in golden_cases(shared, "binary"):
        assert_as_golden(name, case["labels"], case["scores"], case)


@given(varied_pairs())
def test_order_based_coefficients_depend_only_on_the_order(pairs):
    labels, scores = (np.array(values, dtype=float) for values in pairs)
    places = [np.unique(values, return_inverse=True)[1] for values in (labels, scores)]
    for name, coefficient in COEFFICIENTS.items():
        if coefficient.is_of_order:
            assert value_of(name, *places) == value_of(name, labels, scores), name
