"""Wins in 80% subsamples without replacement."""

import numpy as np
import pytest

from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.rows import Resampling, Rows
from metaeval.stats.significance.compared import compared
from metaeval.stats.significance.subsamples import win_shares
from tests.metaeval.stats.evaluator_cases import golden, random_case

DRAWS = 25


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("cells_at_once", [1_000_000, 30])
def test_shares_equal_their_definition(monkeypatch, level, coefficient, cells_at_once):
    monkeypatch.setattr("metaeval.stats.significance.subsamples.CELLS_AT_ONCE", cells_at_once)
    yes_no = COEFFICIENTS[coefficient].is_for_yes_no
    labels, scores, articles, systems = random_case(0, articles=6, yes_no=yes_no)
    rows = Rows(labels, scores, articles, systems, yes_no=yes_no)
    found = win_shares(compared(level, coefficient, rows, Resampling(DRAWS, 4)))
    if (level, yes_no) == ("system", True):
        assert np.isnan(found).all()
        return

    rng = np.random.default_rng(4)
    kept = np.flatnonzero(~np.isnan(labels) & ~np.isnan(scores).any(axis=0))
    if LEVELS[level].group:
        kept = kept[~defined_for_one(level, coefficient, labels, scores, articles, systems, kept)]
    units = np.arange(len(kept)) if level == "pooled" else articles[kept]
    pool = np.unique(units)
    differences = []
    for _ in range(DRAWS):
        drawn = pool[rng.permutation(len(pool))[: len(pool) * 8 // 10]]
        rows = kept[np.isin(units, drawn)]
        one, other = (
            LEVELS[level].estimate(
                COEFFICIENTS[coefficient],
                Rows(labels[rows], row[rows], articles[rows], systems[rows], yes_no=yes_no),
            )
            for row in scores
        )
        differences.append(one.value - other.value)
    gap = np.array(differences)
    gap = gap[~np.isnan(gap)]
    assert found[0, 1] == pytest.approx((gap > 1e-9).mean(), abs=1e-12)
    assert found[1, 0] == pytest.approx((gap < -1e-9).mean(), abs=1e-12)


def defined_for_one(level, coefficient, labels, scores, articles, systems, kept):
    """Return whether only one evaluator has a coefficient in the article, or system, of each kept row."""
    groups = (articles if level == "article" else systems)[kept]
    found = np.zeros(len(kept), dtype=bool)
    for group in np.unique(groups):
        rows = kept[groups == group]
        undefined = [bool(COEFFICIENTS[coefficient].of(labels[rows], row[rows]).reason) for row in scores]
        found[groups == group] = undefined[0] != undefined[1]
    return found


def _in_article_of_equal_scores(scores):
    equal = (np.ptp(scores.reshape(2, -1, 16), axis=2) == 0).any(axis=0)
    return np.repeat(equal, 16)


def test_shares_match_golden_values(shared):
    cases, arguments = golden(shared)
    for case in cases["subsample80"]:
        for key, level, coefficient in (
            ("kendall_tau_b", "pooled", "kendall_b"),
            ("spearman", "pooled", "spearman"),
            ("article_mean_kendall_tau_b_80pct_of_articles", "article", "kendall_b"),
        ):
            expected = case["expected"][key]
            draws = 1000 if level == "article" else 300
            labels, scores, articles, systems = arguments(case)
            if level == "article":
                # The golden values average the differences of articles where both coefficients are defined.
                labels[_in_article_of_equal_scores(scores)] = np.nan
            rows = Rows(labels, scores, articles, systems)
            [[_, share], _] = win_shares(compared(level, coefficient, rows, Resampling(draws, 2)))
            tolerance = expected["tol_share_1000" if level == "article" else "tol_share"]
            assert share == pytest.approx(expected["share_x_better"], abs=tolerance)


# As if each were the only summary of its article.
def test_summaries_of_unknown_articles_are_drawn_one_by_one():
    labels, scores, articles, systems = random_case(1, articles=8)
    unknown, own = (
        win_shares(compared("system", "pearson", Rows(labels, scores, each, systems), Resampling(40)))
        for each in (articles * 0 - 1, np.arange(len(labels)))
    )
    np.testing.assert_array_equal(unknown, own)


def test_the_better_evaluator_always_wins_and_equal_ones_never_do():
    labels = np.arange(40.0)
    noise = np.random.default_rng(0).permutation(40).astype(float)
    scores = np.array([labels, noise, labels])
    nowhere = np.full(40, -1)
    data = compared(
        "pooled",
        "spearman",
        Rows(labels, scores, nowhere, nowhere),
        Resampling(30),
    )
    shares = win_shares(data)
    assert (shares[0, 1], shares[1, 0]) == (1, 0)
    assert (shares[0, 2], shares[2, 0]) == (0, 0)


@pytest.mark.parametrize("labels", [[1.0, 2, 3, 4, 5], [np.nan] * 5])
def test_undefined_coefficients_have_no_win_share(labels):
    scores = np.array([[1.0, 1, 1, 1, 1], [1.0, 2, 3, 4, 5]])
    nowhere = np.full(5, -1)
    data = compared("pooled", "spearman", Rows(labels, scores, nowhere, nowhere), Resampling(5))
    assert np.isnan(win_shares(data)).all()
