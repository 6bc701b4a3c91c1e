"""Articles to all of whose summaries an evaluator gave the same score."""

import json

import numpy as np
import pytest

from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.constant_scores import CONSTANT, coefficient_at
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.rows import Resampling, Rows
from metaeval.stats.significance.compare_pairs import TESTS, compare_pairs
from metaeval.stats.uncertainty.bootstrap import Bootstrap

UNDEFINED_IF_CONSTANT = ["pearson", "spearman", "kendall_b", "kendall_c"]


def three_articles(scores):
    """Labels vary in the first two articles of three."""
    return Rows(np.array([1, 2, 3, 1, 2, 3, 2, 2, 2.0]), scores, [0, 0, 0, 1, 1, 1, 2, 2, 2], [0, 1, 2] * 3)


@pytest.mark.parametrize("name", UNDEFINED_IF_CONSTANT)
def test_an_unordered_article_counts_as_zero_or_is_left_out(name):
    rows = three_articles(np.array([1, 2, 3, 5, 5, 5, 1, 2, 3.0]))
    zero, left_out = (
        LEVELS["article"].estimate(coefficient_at("article", name, each), rows) for each in CONSTANT
    )
    assert left_out.value == pytest.approx(1)
    assert zero.value == pytest.approx(0.5)
    assert (zero.articles, left_out.articles) == (2, 1)
    assert zero.counted_as_zero == {"articles with all scores equal": 1}
    assert zero.left_out == {"articles with all labels equal": 1}
    assert left_out.counted_as_zero == {}
    assert "count as 0: the evaluator does not order them" in zero.definition


def test_all_scores_equal_give_zero_not_a_gap():
    rows = three_articles(np.full(9, 4.0))
    assert LEVELS["article"].estimate(coefficient_at("article", "spearman", "zero"), rows).value == 0


@pytest.mark.parametrize("level", ["pooled", "system"])
def test_levels_of_one_coefficient_keep_it_undefined(level):
    rows = three_articles(np.full(9, 4.0))
    assert LEVELS[level].estimate(coefficient_at(level, "spearman", "zero"), rows).reason


def test_an_unknown_policy_is_refused():
    with pytest.raises(KeyError):
        coefficient_at("article", "spearman", "half")


@pytest.mark.parametrize("name", UNDEFINED_IF_CONSTANT)
@pytest.mark.parametrize("level", ["article", "within_system"])
@pytest.mark.parametrize("scheme", ["articles", "systems"])
def test_resamples_equal_the_data_as_drawn(name, level, scheme):
    """Each resample, written out with a new code for each copy, gives the same mean."""
    rng = np.random.default_rng(5)
    articles, systems = (codes.ravel() for codes in np.indices((5, 4)))
    labels, scores = rng.integers(1, 4, 20).astype(float), rng.integers(1, 3, 20).astype(float)
    scores[articles == 1] = 2.0
    rows = Rows(labels, scores[None], articles, systems)
    drawn = Bootstrap(scheme, level, name, rows, Resampling(20, 3), constant="zero")
    codes = articles if scheme == "articles" else systems
    times = np.concatenate(list(drawn.draws()), axis=1)[1:]
    for at, count in enumerate(times.T.astype(int)):
        places = np.concatenate([np.tile(np.flatnonzero(codes == unit), n) for unit, n in enumerate(count)])
        copies = np.concatenate(
            [np.repeat(np.arange(n) + 10 * unit, (codes == unit).sum()) for unit, n in enumerate(count)]
        )
        as_drawn = Rows(
            labels[places],
            scores[places],
            copies if scheme == "articles" else articles[places],
            copies if scheme == "systems" else systems[places],
        )
        expected = LEVELS[level].estimate(coefficient_at(level, name, "zero"), as_drawn).value
        assert drawn.replicates[0, at] == pytest.approx(expected, abs=1e-9, nan_ok=True)


def copier(articles=40, systems=8, *, ordered=10):
    """Return the rows of an evaluator that orders all articles and one that orders only the first few.

    In those few the second is exactly as good as the first.
    """
    rng = np.random.default_rng(8)
    labels = rng.normal(size=(articles, systems))
    good = labels + rng.normal(size=labels.shape)
    few = np.where(np.arange(articles)[:, None] < ordered, good, 1.0)
    codes = (each.ravel() for each in np.indices(labels.shape))
    return Rows(labels.ravel(), np.array([good.ravel(), few.ravel()]), *codes)


ON_ARTICLES = [
    name for name, test in TESTS.items() if not test.why_not(LEVELS["article"], COEFFICIENTS["pearson"])
]


@pytest.mark.parametrize("test", ON_ARTICLES)
def test_two_evaluators_are_compared_on_the_articles_that_both_order(test):
    """Left out, the second one's articles are the few that it orders, where the two are equal."""
    found = compare_pairs(test, "article", "kendall_b", copier(), Resampling(99))
    assert (found.units[0, 1], found.units[0, 0], found.units[1, 1]) == (10, 40, 10)
    assert found.n[0, 1] == 80
    assert found.differences[0, 1] == 0
    assert found.p_values[0, 1] == 1


@pytest.mark.parametrize("test", ON_ARTICLES)
def test_counted_as_zero_the_one_that_orders_all_articles_is_better(test):
    found = compare_pairs(test, "article", "kendall_b", copier(), Resampling(99), constant="zero")
    assert found.units[0, 1] == found.units[1, 1] == 40
    assert found.differences[0, 1] > 0.2
    assert found.p_values[0, 1] < 0.05


@pytest.mark.parametrize("name", UNDEFINED_IF_CONSTANT)
def test_articles_counted_as_zero_match_golden_values(shared, name):
    golden = json.loads((shared / "golden" / "metaeval.json").read_text())
    golden_name = {"kendall_b": "kendall_tau_b", "kendall_c": "kendall_tau_c"}.get(name, name)
    for case in golden["levels"]:
        scores, labels = (np.array(golden["matrices"][case[side]]) for side in "xz")
        codes = (each.ravel() for each in np.indices(scores.shape))
        found = LEVELS["article"].estimate(
            coefficient_at("article", name, "zero"), Rows(labels.ravel(), scores.ravel(), *codes)
        )
        # There, articles with equal labels count as 0, too; here they are always left out.
        varied = (np.ptp(labels, axis=1) > 0).mean()
        expected = case["expected"]["article_mean"][f"{golden_name}_constant_as_0"]
        assert found.value * varied == pytest.approx(expected, abs=1e-9), case["x"]
