"""80% subsamples without replacement."""

import numpy as np
import pytest

from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.significance.compare_pairs import TESTS, compare_pairs
from metaeval.stats.significance.compared import compared
from metaeval.stats.significance.subsamples import win_shares
from tests.metaeval.stats.evaluator_cases import golden, random_case

DRAWS = 25


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("cells_at_once", [1_000_000, 30])
def test_p_values_are_those_of_the_definition(monkeypatch, level, coefficient, cells_at_once):
    monkeypatch.setattr("metaeval.stats.significance.subsamples.CELLS_AT_ONCE", cells_at_once)
    yes_no = COEFFICIENTS[coefficient].is_for_yes_no
    labels, scores, articles, systems = random_case(0, articles=6, yes_no=yes_no)
    found = compare_pairs(
        "subsample80",
        level,
        coefficient,
        labels,
        scores,
        articles,
        systems,
        yes_no=yes_no,
        resamples=DRAWS,
        seed=4,
    )
    if (level, yes_no) == ("system", True):
        assert np.isnan(found.p_values[0, 1])
        return

    rng = np.random.default_rng(4)
    kept = np.flatnonzero(~np.isnan(labels) & ~np.isnan(scores).any(axis=0))
    units = np.arange(len(kept)) if level == "pooled" else articles[kept]
    pool = np.unique(units)
    differences = []
    for _ in range(DRAWS):
        drawn = pool[rng.permutation(len(pool))[: len(pool) * 8 // 10]]
        rows = kept[np.isin(units, drawn)]
        one, other = (
            LEVELS[level].estimate(
                COEFFICIENTS[coefficient],
                labels[rows],
                row[rows],
                articles[rows],
                systems[rows],
                yes_no=yes_no,
            )
            for row in scores
        )
        differences.append(one.value - other.value)
    gap = np.array(differences)
    gap = gap[~np.isnan(gap)]
    expected = min(1, 2 * (min((gap <= 1e-9).sum(), (gap >= -1e-9).sum()) + 1) / (len(gap) + 1))
    assert found.p_values[0, 1] == pytest.approx(expected, abs=1e-12)


def _in_article_of_equal_scores(scores):
    equal = (np.ptp(scores.reshape(2, -1, 16), axis=2) == 0).any(axis=0)
    return np.repeat(equal, 16)


def test_golden_shares(shared):
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
                # These golden values are means of differences, so of articles where both are defined.
                labels[_in_article_of_equal_scores(scores)] = np.nan
            found = compare_pairs(
                "subsample80", level, coefficient, labels, scores, articles, systems, resamples=draws, seed=2
            )
            assert found.differences[0, 1] == pytest.approx(expected["full_difference"], abs=1e-9)
            loses = (found.p_values[0, 1] * (draws + 1) / 2 - 1) / draws
            share = 1 - loses if found.differences[0, 1] > 0 else loses
            tolerance = expected["tol_share_1000" if level == "article" else "tol_share"]
            assert share == pytest.approx(expected["share_x_better"], abs=tolerance)


def test_the_definition_warns():
    assert "Warning" in TESTS["subsample80"].definition
    assert ".21" in TESTS["subsample80"].definition


def test_it_gives_no_interval():
    found = compare_pairs("subsample80", "article", "pearson", *random_case(1), resamples=DRAWS)
    assert np.isnan(found.low).all()
    assert np.isnan(found.high).all()


# As if each were the only summary of its article.
def test_summaries_of_unknown_articles_are_drawn_each_on_its_own():
    labels, scores, articles, systems = random_case(1, articles=8)
    unknown = compare_pairs("subsample80", "system", "pearson", labels, scores, articles * 0 - 1, systems)
    own = compare_pairs("subsample80", "system", "pearson", labels, scores, np.arange(len(labels)), systems)
    assert unknown.p_values[0, 1] == own.p_values[0, 1]


@pytest.mark.parametrize("level", ["pooled", "article"])
def test_shares_of_wins_are_those_the_p_values_are_made_of(level):
    labels, scores, articles, systems = random_case(3, articles=8)
    of_both = {"yes_no": False, "resamples": 40, "seed": 2, "orientation": None, "bootstrap": None}
    data = compared(level, "kendall_b", labels, scores, articles, systems, **of_both)
    shares = win_shares(data)
    p_value = TESTS["subsample80"].tester(data)(0, 1).p_value
    assert np.isnan(np.diag(shares)).all()
    assert shares[0, 1] + shares[1, 0] <= 1
    assert p_value == pytest.approx(min(1, 2 * (40 * min(1 - shares[0, 1], 1 - shares[1, 0]) + 1) / 41))


def test_the_better_evaluator_wins_and_nobody_wins_against_an_equal_one():
    labels = np.arange(40.0)
    noise = np.random.default_rng(0).permutation(40).astype(float)
    scores = np.array([labels, noise, labels])
    nowhere = np.full(40, -1)
    data = compared(
        "pooled",
        "spearman",
        labels,
        scores,
        nowhere,
        nowhere,
        yes_no=False,
        resamples=30,
        seed=0,
        orientation=None,
        bootstrap=None,
    )
    shares = win_shares(data)
    assert (shares[0, 1], shares[1, 0]) == (1, 0)
    assert (shares[0, 2], shares[2, 0]) == (0, 0)


@pytest.mark.parametrize("labels", [[1.0, 2, 3, 4, 5], [np.nan] * 5])
def test_where_a_coefficient_is_undefined_there_is_no_share(labels):
    scores = np.array([[1.0, 1, 1, 1, 1], [1.0, 2, 3, 4, 5]])
    nowhere = np.full(5, -1)
    options = {"yes_no": False, "resamples": 5, "seed": 0, "orientation": None, "bootstrap": None}
    data = compared("pooled", "spearman", labels, scores, nowhere, nowhere, **options)
    assert np.isnan(win_shares(data)).all()
