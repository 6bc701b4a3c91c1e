"""What every test of two evaluators must do."""

import numpy as np
import pytest

from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.significance.compare_pairs import TESTS, compare_pairs
from tests.metaeval.stats.evaluator_cases import random_case

ORDINARY = ["pearson", "spearman", "kendall_b"]
DRAWS = 40


def level_of(test: str) -> str:
    """A level the test is for."""
    return "pooled" if test == "williams" else "article"


def test_the_tests_have_the_names_that_addresses_and_commands_use():
    assert list(TESTS) == [
        "perm_both",
        "perm_inputs",
        "perm_systems",
        "bootstrap_articles",
        "williams",
        "subsample80",
        "paired_t",
    ]


@pytest.mark.parametrize("test", TESTS)
def test_two_evaluators_exchanged_have_the_same_p_value(test):
    labels, scores, *rest = random_case(3, articles=8)
    found = compare_pairs(test, level_of(test), "kendall_b", labels, scores, *rest, resamples=DRAWS)
    exchanged = compare_pairs(test, level_of(test), "kendall_b", labels, scores[::-1], *rest, resamples=DRAWS)
    assert 0 < found.p_values[0, 1] <= 1
    assert exchanged.p_values[0, 1] == pytest.approx(found.p_values[0, 1], abs=1e-12)
    assert exchanged.differences[0, 1] == -found.differences[0, 1]
    np.testing.assert_allclose(exchanged.low[0, 1], -found.high[0, 1], atol=1e-12)


@pytest.mark.parametrize("test", TESTS)
def test_the_matrices_are_symmetric_and_their_diagonal_is_no_comparison(test):
    found = compare_pairs(test, level_of(test), "pearson", *random_case(4, evaluators=3), resamples=DRAWS)
    np.testing.assert_array_equal(found.p_values, found.p_values.T)
    np.testing.assert_array_equal(found.n, found.n.T)
    np.testing.assert_array_equal(found.differences, -found.differences.T)
    np.testing.assert_array_equal(found.low, -found.high.T)
    assert np.isnan(np.diag(found.p_values)).all()
    assert {(at, at) for at in range(3)} <= set(found.reasons)


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("coefficient", ORDINARY)
def test_identical_evaluators_are_not_told_apart(test, coefficient):
    labels, scores, *rest = random_case(5, articles=8)
    alike = np.array([scores[0], scores[0]])
    found = compare_pairs(test, level_of(test), coefficient, labels, alike, *rest, resamples=DRAWS)
    assert (found.differences[0, 1], found.p_values[0, 1]) == (0, 1)


@pytest.mark.parametrize("test", ["perm_both", "perm_inputs", "perm_systems", "bootstrap_articles"])
def test_the_same_scores_on_another_scale_are_not_told_apart(test):
    labels, scores, *rest = random_case(5, articles=8)
    found = compare_pairs(test, "article", "pearson", labels, [scores[0], 3 * scores[0] - 7], *rest)
    assert found.p_values[0, 1] > 0.9


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_a_difference_is_of_coefficients_on_the_common_summaries(level, coefficient):
    yes_no = COEFFICIENTS[coefficient].is_for_yes_no
    labels, scores, articles, systems = random_case(6, evaluators=3, yes_no=yes_no)
    case = labels, scores, articles, systems
    found = compare_pairs("perm_both", level, coefficient, *case, yes_no=yes_no, resamples=2)
    for first, second in ((0, 1), (0, 2), (1, 2)):
        common = ~np.isnan(labels) & ~np.isnan(scores[[first, second]]).any(axis=0)
        values = [
            LEVELS[level].estimate(
                COEFFICIENTS[coefficient],
                labels[common],
                scores[evaluator, common],
                articles[common],
                systems[common],
                yes_no=yes_no,
            )
            for evaluator in (first, second)
        ]
        np.testing.assert_array_equal(found.differences[first, second], values[0].value - values[1].value)
        assert found.n[first, second] == common.sum()


@pytest.mark.parametrize("test", TESTS)
def test_a_third_evaluator_does_not_change_what_is_found_of_two(test):
    labels, scores, *rest = random_case(7, articles=8, evaluators=3)
    three = compare_pairs(test, level_of(test), "kendall_b", labels, scores, *rest, resamples=DRAWS)
    two = compare_pairs(test, level_of(test), "kendall_b", labels, scores[1:], *rest, resamples=DRAWS)
    assert three.p_values[1, 2] == pytest.approx(two.p_values[0, 1], abs=1e-12)


@pytest.mark.parametrize("test", TESTS)
def test_an_undefined_coefficient_leaves_no_p_value_and_a_reason(test):
    labels, scores, *rest = random_case(8)
    found = compare_pairs(test, "pooled", "pearson", labels, [scores[0], np.full(len(labels), 2.0)], *rest)
    assert np.isnan(found.p_values[0, 1])
    assert np.isnan(found.differences[0, 1])
    assert found.reasons[0, 1] == found.reasons[1, 0] == "all scores equal"


@pytest.mark.parametrize("test", TESTS)
def test_evaluators_without_a_common_summary_are_not_compared(test):
    labels, scores, *rest = random_case(8)
    scores[0, ::2] = scores[1, 1::2] = np.nan
    found = compare_pairs(test, "pooled", "pearson", labels, scores, *rest)
    assert found.n[0, 1] == 0
    assert found.reasons[0, 1] == "fewer than two pairs of label and score"


@pytest.mark.parametrize("test", TESTS)
def test_an_evaluator_where_lower_is_better_counts_as_its_negative(test):
    labels, scores, *rest = random_case(9, articles=8)
    turned = scores * [[1], [-1]]
    plain = compare_pairs(test, level_of(test), "kendall_b", labels, turned, *rest, resamples=DRAWS)
    found = compare_pairs(
        test, level_of(test), "kendall_b", labels, scores, *rest, resamples=DRAWS, orientation=[1, -1]
    )
    np.testing.assert_array_equal(found.differences, plain.differences)
    np.testing.assert_array_equal(found.p_values, plain.p_values)
    assert "lower is better" in found.definition
    assert "lower is better" not in plain.definition


def test_turning_an_evaluator_makes_of_an_auc_one_minus_it():
    labels, scores, articles, systems = random_case(10, yes_no=True)
    auc = LEVELS["pooled"].estimate
    scores[:, np.isnan(scores).any(axis=0)] = np.nan
    one, other = (auc(COEFFICIENTS["roc_auc"], labels, row, articles, systems, yes_no=True) for row in scores)
    found = compare_pairs(
        "perm_both", "pooled", "roc_auc", labels, scores, articles, systems, yes_no=True, orientation=[1, -1]
    )
    assert found.differences[0, 1] == pytest.approx(one.value - (1 - other.value), abs=1e-12)


def test_ties_between_yes_and_no_do_not_count_as_common_summaries():
    labels, scores = [1, 0, 0.5, 1, 0], [[1, 2, 3, 4, 5], [2, 1, 4, 3, 5]]
    found = compare_pairs(
        "perm_inputs", "pooled", "roc_auc", labels, scores, [0, 0, 1, 1, 2], [0] * 5, yes_no=True
    )
    assert found.n[0, 1] == 4


@pytest.mark.parametrize("test", ["perm_both", "bootstrap_articles", "subsample80"])
def test_the_definition_says_how_often_was_drawn_with_which_seed(test):
    found = compare_pairs(test, "article", "pearson", *random_case(11), resamples=50, seed=77)
    assert "50" in found.definition
    assert "seed 77" in found.definition


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"orientation": [1, 0]}, "orientation"),
        ({"orientation": [1]}, "orientation"),
        ({"resamples": 0}, "resamples"),
        ({"scores": [[1.0, 2.0]]}, "lengths differ"),
        ({"articles": [0.5, 0.5, 0.5]}, "articles"),
    ],
)
def test_what_cannot_be_compared_is_refused(change, message):
    given = {
        "labels": [1, 2, 3],
        "scores": [[1, 2, 3], [2, 3, 1]],
        "articles": [0, 0, 0],
        "systems": [0, 1, 2],
    }
    with pytest.raises(ValueError, match=message):
        compare_pairs("perm_both", "pooled", "pearson", **(given | change))


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_nothing_to_compare_is_a_reason_and_no_error(test, level, coefficient):
    labels = np.array([1.0, 2.0, 3.0, 4.0])
    unknown = np.full(4, -1)
    found = compare_pairs(test, level, coefficient, labels, [labels, -labels], unknown, unknown, resamples=9)
    assert found.reasons.get((0, 1)) or found.p_values[0, 1] > 0
    assert np.isnan(found.p_values[0, 1]) == bool(found.reasons.get((0, 1)))
