"""Rules for every significance test of two evaluators."""

import numpy as np
import pytest

from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.rows import Resampling, Rows
from metaeval.stats.significance.compare_pairs import TESTS, compare_pairs
from tests.metaeval.stats.evaluator_cases import random_case

ORDINARY = ["pearson", "spearman", "kendall_b"]
DRAWS = 40


def level_of(test: str) -> str:
    """Return a level that the test supports."""
    return "pooled" if test == "williams" else "article"


def test_names_of_tests_in_addresses_and_commands_are_stable():
    assert list(TESTS) == [
        "perm_both",
        "perm_inputs",
        "perm_inputs_t",
        "perm_systems",
        "bootstrap_articles",
        "always_valid",
        "williams",
        "paired_t",
    ]


@pytest.mark.parametrize("test", TESTS)
def test_exchanging_evaluators_keeps_the_p_value(test):
    labels, scores, *rest = random_case(3, articles=80)
    found = compare_pairs(test, level_of(test), "kendall_b", Rows(labels, scores, *rest), Resampling(DRAWS))
    exchanged = compare_pairs(
        test, level_of(test), "kendall_b", Rows(labels, scores[::-1], *rest), Resampling(DRAWS)
    )
    assert 0 < found.p_values[0, 1] <= 1
    assert exchanged.p_values[0, 1] == pytest.approx(found.p_values[0, 1], abs=1e-12)
    assert exchanged.differences[0, 1] == -found.differences[0, 1]


@pytest.mark.parametrize("test", TESTS)
def test_matrices_are_symmetric_with_an_undefined_diagonal(test):
    found = compare_pairs(
        test, level_of(test), "pearson", Rows(*random_case(4, evaluators=3)), Resampling(DRAWS)
    )
    np.testing.assert_array_equal(found.p_values, found.p_values.T)
    np.testing.assert_array_equal(found.n, found.n.T)
    np.testing.assert_array_equal(found.differences, -found.differences.T)
    assert np.isnan(np.diag(found.p_values)).all()
    assert {(at, at) for at in range(3)} <= set(found.reasons)


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("coefficient", ORDINARY)
def test_identical_evaluators_have_a_p_value_of_1(test, coefficient):
    labels, scores, *rest = random_case(5, articles=20)
    alike = np.array([scores[0], scores[0]])
    found = compare_pairs(test, level_of(test), coefficient, Rows(labels, alike, *rest), Resampling(DRAWS))
    assert (found.differences[0, 1], found.p_values[0, 1]) == (0, 1)


@pytest.mark.parametrize(
    "test", ["perm_both", "perm_inputs", "perm_systems", "bootstrap_articles", "always_valid"]
)
def test_rescaled_scores_do_not_differ_significantly(test):
    labels, scores, *rest = random_case(5, articles=20)
    found = compare_pairs(test, "article", "pearson", Rows(labels, [scores[0], 3 * scores[0] - 7], *rest))
    assert found.p_values[0, 1] > 0.9


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_differences_compare_coefficients_on_common_summaries(level, coefficient):
    yes_no = COEFFICIENTS[coefficient].is_for_yes_no
    labels, scores, articles, systems = random_case(6, evaluators=3, yes_no=yes_no)
    case = labels, scores, articles, systems
    found = compare_pairs("perm_both", level, coefficient, Rows(*case, yes_no=yes_no), Resampling(2))
    for first, second in ((0, 1), (0, 2), (1, 2)):
        common = ~np.isnan(labels) & ~np.isnan(scores[[first, second]]).any(axis=0)
        values = [
            LEVELS[level].estimate(
                COEFFICIENTS[coefficient],
                Rows(
                    labels[common],
                    scores[evaluator, common],
                    articles[common],
                    systems[common],
                    yes_no=yes_no,
                ),
            )
            for evaluator in (first, second)
        ]
        np.testing.assert_array_equal(found.differences[first, second], values[0].value - values[1].value)
        assert found.n[first, second] == common.sum()


@pytest.mark.parametrize("test", TESTS)
def test_a_third_evaluator_does_not_change_the_p_value_of_two(test):
    labels, scores, *rest = random_case(7, articles=80, evaluators=3)
    three = compare_pairs(test, level_of(test), "kendall_b", Rows(labels, scores, *rest), Resampling(DRAWS))
    two = compare_pairs(test, level_of(test), "kendall_b", Rows(labels, scores[1:], *rest), Resampling(DRAWS))
    assert three.p_values[1, 2] == pytest.approx(two.p_values[0, 1], abs=1e-12)


@pytest.mark.parametrize("test", TESTS)
def test_an_undefined_coefficient_gives_a_reason_instead_of_a_p_value(test):
    labels, scores, *rest = random_case(8)
    found = compare_pairs(
        test, "pooled", "pearson", Rows(labels, [scores[0], np.full(len(labels), 2.0)], *rest)
    )
    assert np.isnan(found.p_values[0, 1])
    assert np.isnan(found.differences[0, 1])
    assert found.reasons[0, 1] == found.reasons[1, 0] == "all scores equal"


@pytest.mark.parametrize("test", TESTS)
def test_evaluators_without_a_common_summary_are_not_compared(test):
    labels, scores, *rest = random_case(8)
    scores[0, ::2] = scores[1, 1::2] = np.nan
    found = compare_pairs(test, "pooled", "pearson", Rows(labels, scores, *rest))
    assert found.n[0, 1] == 0
    assert found.units[0, 1] == 0
    assert found.reasons[0, 1] == "the two have no summaries in common"


@pytest.mark.parametrize("test", TESTS)
def test_a_lower_is_better_evaluator_counts_as_its_negation(test):
    labels, scores, *rest = random_case(9, articles=20)
    turned = scores * [[1], [-1]]
    plain = compare_pairs(test, level_of(test), "kendall_b", Rows(labels, turned, *rest), Resampling(DRAWS))
    found = compare_pairs(
        test, level_of(test), "kendall_b", Rows(labels, scores, *rest), Resampling(DRAWS), orientation=[1, -1]
    )
    np.testing.assert_array_equal(found.differences, plain.differences)
    np.testing.assert_array_equal(found.p_values, plain.p_values)
    assert "lower is better" in found.definition
    assert "lower is better" not in plain.definition


def test_negating_an_evaluator_turns_its_auc_into_one_minus_it():
    labels, scores, articles, systems = random_case(10, yes_no=True)
    scores[:, np.isnan(scores).any(axis=0)] = np.nan
    rows = Rows(labels, scores, articles, systems, yes_no=True)
    one, other = LEVELS["pooled"].estimates(COEFFICIENTS["roc_auc"], rows)
    found = compare_pairs("perm_both", "pooled", "roc_auc", rows, orientation=[1, -1])
    assert found.differences[0, 1] == pytest.approx(one.value - (1 - other.value), abs=1e-12)


def test_labels_tied_between_yes_and_no_are_not_common_summaries():
    labels, scores = [1, 0, 0.5, 1, 0], [[1, 2, 3, 4, 5], [2, 1, 4, 3, 5]]
    found = compare_pairs(
        "perm_inputs", "pooled", "roc_auc", Rows(labels, scores, [0, 0, 1, 1, 2], [0] * 5, yes_no=True)
    )
    assert found.n[0, 1] == 4


@pytest.mark.parametrize("test", ["perm_both", "bootstrap_articles"])
def test_the_definition_states_the_number_of_draws_and_the_seed(test):
    found = compare_pairs(test, "article", "pearson", Rows(*random_case(11)), Resampling(50, 77))
    assert "50" in found.definition
    assert "seed 77" in found.definition


@pytest.mark.parametrize("orientation", [[1, 0], [1]])
def test_an_orientation_must_be_1_or_minus_1_per_evaluator(orientation):
    rows = Rows([1, 2, 3], [[1, 2, 3], [2, 3, 1]], [0, 0, 0], [0, 1, 2])
    with pytest.raises(ValueError, match="orientation must be 1 or -1 for each of 2 evaluators"):
        compare_pairs("perm_both", "pooled", "pearson", rows, orientation=orientation)


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_pairs_that_cannot_be_compared_have_a_reason(test, level, coefficient):
    labels = np.array([1.0, 2.0, 3.0, 4.0])
    unknown = np.full(4, -1)
    found = compare_pairs(
        test, level, coefficient, Rows(labels, [labels, -labels], unknown, unknown), Resampling(9)
    )
    assert found.reasons.get((0, 1)) or found.p_values[0, 1] > 0
    assert np.isnan(found.p_values[0, 1]) == bool(found.reasons.get((0, 1)))
