"""Permutation tests, compared with their definition and with nlpstats."""

import numpy as np
import pytest
import scipy.stats

from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.groups import Groups
from metaeval.stats.rows import Resampling, Rows
from metaeval.stats.significance import pair_count_swaps
from metaeval.stats.significance.compare_pairs import compare_pairs
from metaeval.stats.significance.swaps import Swaps, reweighted_swaps
from tests.metaeval.stats.evaluator_cases import golden, random_case

SCHEMES = ["perm_both", "perm_inputs", "perm_systems"]
DRAWS = 10


def compute_p_value(scheme, level, coefficient, labels, scores, articles, systems, *, yes_no, seed):
    """Compute the p-value by swapping scores summary by summary."""
    rng = np.random.default_rng(seed)
    marked = []
    for codes, drawn in ((articles, scheme != "perm_systems"), (systems, scheme != "perm_inputs")):
        pool = sorted(set(codes))
        coins = (
            rng.integers(0, 2, size=(DRAWS, len(pool)), dtype=bool)
            if drawn
            else [[False] * len(pool)] * DRAWS
        )
        marked.append([dict(zip(pool, row, strict=True)) for row in coins])
    kept = ~np.isnan(labels) & ~np.isnan(scores).any(axis=0)
    labels, articles, systems = labels[kept], articles[kept], systems[kept]
    x, y = (scipy.stats.zscore(row[kept]).round(12) for row in scores)

    def difference(own, other):
        values = [
            LEVELS[level]
            .estimate(COEFFICIENTS[coefficient], Rows(labels, each, articles, systems, yes_no=yes_no))
            .value
            for each in (own, other)
        ]
        return abs(values[0] - values[1])

    found, as_large, defined = difference(x, y), 1, 1
    for of_article, of_system in zip(*marked, strict=True):
        swapped = [of_article[a] != of_system[s] for a, s in zip(articles, systems, strict=True)]
        drawn = difference(np.where(swapped, y, x), np.where(swapped, x, y))
        defined += not np.isnan(drawn)
        as_large += drawn >= found - 1e-9
    return as_large / defined


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_p_values_equal_their_definition(scheme, level, coefficient):
    yes_no = COEFFICIENTS[coefficient].is_for_yes_no
    checked = 0
    for seed in range(2):
        case = random_case(seed, yes_no=yes_no)
        found = compare_pairs(scheme, level, coefficient, Rows(*case, yes_no=yes_no), Resampling(DRAWS, seed))
        if np.isnan(found.differences[0, 1]):
            assert found.reasons[0, 1]
            continue
        plain = compute_p_value(scheme, level, coefficient, *case, yes_no=yes_no, seed=seed)
        assert found.p_values[0, 1] == pytest.approx(plain, abs=1e-12)
        checked += 1
    assert checked or (level, yes_no) == ("system", True)


@pytest.mark.parametrize("scheme", ["inputs", "systems", "both"])
def test_p_values_match_golden_values(shared, scheme):
    cases, arguments = golden(shared)
    for case in cases["permutation"]:
        expected = case["expected"][scheme]
        found = compare_pairs(
            f"perm_{scheme}", "article", "kendall_b", Rows(*arguments(case)), Resampling(10_000, 1)
        )
        assert found.differences[0, 1] == pytest.approx(expected["observed_difference"], abs=1e-12)
        share = (
            found.p_values[0, 1] * 10_001 - 1
        ) / 10_000  # the golden values lack the 1 added to both counts
        assert share == pytest.approx(expected["p_two_sided"], abs=expected["tol_for_10000_resamples"])


def test_the_smallest_p_value_is_one_over_draws_plus_one():
    rng = np.random.default_rng(0)
    labels = rng.normal(size=400)
    scores = np.array([labels, rng.normal(size=400)])
    articles, systems = np.divmod(np.arange(400), 4)
    found = compare_pairs(
        "perm_inputs", "pooled", "pearson", Rows(labels, scores, articles, systems), Resampling(99)
    )
    assert found.p_values[0, 1] == 0.01


# Swapping the only article as a whole just changes the sign of the difference.
def test_perm_inputs_on_a_single_article_has_a_p_value_of_1():
    labels, scores, _, systems = random_case(1)
    found = compare_pairs(
        "perm_inputs", "pooled", "kendall_b", Rows(labels, scores, np.zeros_like(systems), systems)
    )
    assert found.p_values[0, 1] == 1


@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall_b"])
def test_perm_inputs_with_students_t_is_the_paired_t_test_of_articles_coefficients(coefficient):
    labels, scores, *rest = random_case(2, articles=12)
    scores[np.isnan(scores)] = 0.0
    given = ("article", coefficient, Rows(labels, scores, *rest), Resampling(20_000))
    swapped, exact = (compare_pairs(test, *given) for test in ("perm_inputs_t", "paired_t"))
    assert swapped.differences[0, 1] == exact.differences[0, 1] != 0
    assert swapped.p_values[0, 1] == pytest.approx(exact.p_values[0, 1], rel=0.05)


def test_perm_inputs_with_students_t_can_be_significant_among_many_pairs():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(8.0), 30) + rng.normal(size=240)
    scores = np.array([labels + rng.normal(size=240), rng.normal(size=240)])
    systems, articles = np.divmod(np.arange(240), 30)
    rows = Rows(labels, scores, articles, systems)
    counted, student = (
        compare_pairs(test, "system", "pearson", rows, Resampling(99)).p_values[0, 1]
        for test in ("perm_inputs", "perm_inputs_t")
    )
    assert counted == 0.01
    assert student < 1e-4


# Ranks of few systems often tie after a swap. Counted, every tie speaks against a difference.
def test_student_t_finds_more_differences_between_ranks_of_few_systems():
    found = {"perm_inputs": 0, "perm_inputs_t": 0}
    articles, systems = (codes.ravel() for codes in np.indices((20, 5)))
    for seed in range(200):
        rng = np.random.default_rng(seed)
        labels = rng.normal(size=(1, 5)) / 2 + rng.normal(size=(20, 5))
        scores = (0.6 * labels + rng.normal(size=(2, 20, 5))).reshape(2, -1)
        rows = Rows(labels.ravel(), scores, articles, systems)
        for test in found:
            p_value = compare_pairs(test, "system", "kendall_b", rows, Resampling(99)).p_values[0, 1]
            found[test] += p_value <= 0.05
    assert found["perm_inputs"] < found["perm_inputs_t"] <= 14


@pytest.mark.parametrize("scheme", ["perm_systems", "perm_both"])
def test_unknown_systems_cannot_be_permuted(scheme):
    labels, scores, articles, systems = random_case(2)
    found = compare_pairs(
        scheme, "pooled", "pearson", Rows(labels, scores, articles, systems - 1), Resampling(20)
    )
    assert np.isnan(found.p_values[0, 1])
    assert "by system" in found.reasons[0, 1]


def test_summaries_of_unknown_articles_are_permuted_one_by_one():
    labels, scores, articles, systems = random_case(2)
    unknown = compare_pairs("perm_both", "pooled", "pearson", Rows(labels, scores, articles * 0 - 1, systems))
    own = compare_pairs(
        "perm_both", "pooled", "pearson", Rows(labels, scores, np.arange(len(labels)), systems)
    )
    assert unknown.p_values[0, 1] == own.p_values[0, 1]


def test_unknown_systems_do_not_matter_when_articles_are_permuted():
    labels, scores, articles, systems = random_case(2)
    whole = compare_pairs(
        "perm_inputs", "article", "pearson", Rows(labels, scores, articles, systems), Resampling(20)
    )
    systems[:] = -1
    without = compare_pairs(
        "perm_inputs", "article", "pearson", Rows(labels, scores, articles, systems), Resampling(20)
    )
    assert without.p_values[0, 1] == whole.p_values[0, 1]


def make_swaps(seed, *, yes_no):
    labels, scores, articles, systems = random_case(seed, articles=30, yes_no=yes_no)
    kept = ~np.isnan(labels) & ~np.isnan(scores).any(axis=0)
    order = np.flatnonzero(kept)[np.argsort(articles[kept], kind="stable")]
    coins = np.random.default_rng(seed).integers(0, 2, size=(7, 4), dtype=bool)
    sizes = np.unique(articles[order], return_counts=True)[1]
    return Swaps(labels[order], *scores[:, order], Groups(sizes), systems[order], coins)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("coefficient", "quick"),
    [
        ("kendall_b", pair_count_swaps.kendall_b_swaps),
        ("roc_auc", pair_count_swaps.roc_auc_swaps),
    ],
)
def test_the_fast_path_equals_the_general_one(coefficient, quick, seed):
    swaps = make_swaps(seed, yes_no=coefficient == "roc_auc")
    anew = reweighted_swaps(COEFFICIENTS[coefficient], swaps)
    assert np.isnan(anew.first).any()
    for found, expected in zip(quick(swaps), anew, strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall_b"])
@pytest.mark.parametrize("level", LEVELS)
def test_computing_in_blocks_does_not_change_the_p_value(monkeypatch, level, coefficient):
    case = random_case(1, articles=10)
    whole = compare_pairs("perm_both", level, coefficient, Rows(*case), Resampling(DRAWS))
    for place in ("swaps.CELLS_AT_ONCE", "permuted_levels.CELLS_AT_ONCE"):
        monkeypatch.setattr(f"metaeval.stats.significance.{place}", 500)
    blocks = compare_pairs("perm_both", level, coefficient, Rows(*case), Resampling(DRAWS))
    assert blocks.p_values[0, 1] == whole.p_values[0, 1]


@pytest.mark.parametrize("level", LEVELS)
def test_data_too_large_for_tables_use_the_general_path(monkeypatch, level):
    case = random_case(2, articles=10)
    by_tables = compare_pairs("perm_both", level, "kendall_b", Rows(*case), Resampling(DRAWS))
    monkeypatch.setattr("metaeval.stats.significance.pair_count_swaps.MOST_CELLS", 0)
    anew = compare_pairs("perm_both", level, "kendall_b", Rows(*case), Resampling(DRAWS))
    assert anew.p_values[0, 1] == by_tables.p_values[0, 1]


# Both evaluators give an article the same scores in another order. Their means differ by rounding, which must
# not break ties after a swap.
def test_equal_scores_of_two_evaluators_stay_tied_after_a_swap():
    rng = np.random.default_rng(5)
    labels = rng.normal(size=30)
    scores = np.array(
        [np.concatenate([rng.permutation([0.1, 0.2, 0.7]) for _ in range(10)]) for _ in range(2)]
    )
    articles, systems = np.divmod(np.arange(30), 3)
    coarse, fine = (
        compare_pairs("perm_systems", "article", "kendall_b", Rows(labels, each, articles, systems)).p_values[
            0, 1
        ]
        for each in (np.rint(scores * 10), scores)
    )
    assert coarse == fine
