"""Bootstraps of agreement statistics over summaries or raters."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from metaeval.stats.agreement.agreement_bootstrap import (
    article_draws,
    articles_left_out,
    rater_draws,
    replicates,
    unit_draws,
    units_left_out,
)
from metaeval.stats.agreement.fleiss_kappa import FLEISS
from metaeval.stats.agreement.gwet import GWET
from metaeval.stats.agreement.krippendorff import ALPHA, SCALES
from metaeval.stats.agreement.pairwise_agreement import ALL_AGREE, PAIRWISE
from metaeval.stats.agreement.rated_units import RatedUnits
from metaeval.stats.agreement.unit_patterns import single_units, unit_patterns
from metaeval.stats.result import NoIntervalError
from metaeval.stats.uncertainty.bca_interval import bca_interval
from metaeval.stats.uncertainty.percentile_interval import percentile_interval
from tests.metaeval.stats.rating_lists import N_ANSWERS, columns, counts_of, rated, units_of

STATISTICS = [ALPHA, PAIRWISE, ALL_AGREE, FLEISS, GWET]
NUMBERS = np.array([1.0, 2.0, 4.0])


def make_skewed(n_units=200, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.random(n_units) < 0.9
    answers = np.where(rng.random((2, n_units)) < 0.85, truth, ~truth).astype(int).T.ravel()
    return np.repeat(np.arange(n_units), 2), answers


def make_patterns(n_units=200, seed=0):
    return unit_patterns(*make_skewed(n_units, seed), n_units=n_units, n_answers=2).units


def patterns_of(units):
    """Return the patterns of units that are mappings of raters to answers."""
    table = np.array([[list(unit.values()).count(answer) for answer in range(N_ANSWERS)] for unit in units])
    codes, answers = np.nonzero(table)
    times = table[codes, answers]
    return unit_patterns(
        np.repeat(codes, times), np.repeat(answers, times), n_units=len(units), n_answers=N_ANSWERS
    )


@given(rated)
@pytest.mark.parametrize("scale", SCALES)
def test_resampling_patterns_equals_resampling_their_rows(scale, ratings):
    units = units_of(ratings)
    if not units:
        return
    found = patterns_of(units).units
    draws = list(unit_draws(found, 5, 0))
    values = replicates(STATISTICS, draws, scale, NUMBERS)
    drawn = np.concatenate([block.times for block in draws], axis=1).astype(int)
    assert (drawn.sum(axis=0) == len(units)).all()
    dense = np.zeros((len(found), N_ANSWERS), dtype=int)
    dense[found.cells.units, found.cells.answers] = found.counts[:, 0]
    for at in range(5):
        rows = RatedUnits.of_counts(np.repeat(dense, drawn[:, at], axis=0))
        expected = [each.values(rows, scale, NUMBERS)[0] for each in STATISTICS]
        assert values[:, at].tolist() == pytest.approx(expected, abs=1e-9, nan_ok=True)


def test_resampled_units_spread_like_scipys_bootstrap():
    """The 1,000 patterns of alpha against SciPy's bootstrap over the rows."""
    units, answers = make_skewed()
    table = counts_of(units, answers, n_units=200, n_answers=2)
    (values,) = replicates([ALPHA], unit_draws(make_patterns(), 2000, 0), "nominal", np.arange(2.0))

    def alpha(rows):
        return ALPHA.values(RatedUnits.of_counts(table[rows]), "nominal", np.arange(2.0))[0]

    expected = scipy_stats.bootstrap(
        (np.arange(200),), alpha, vectorized=False, n_resamples=2000, method="percentile", rng=1
    )
    assert values.std() == pytest.approx(expected.standard_error, rel=0.08)
    assert percentile_interval(values) == pytest.approx(expected.confidence_interval, abs=0.03)


def make_clustered(articles=40, per_article=8, seed=0):
    """Return units and answers by two raters, who see the truth in one half of the articles."""
    rng = np.random.default_rng(seed)
    seen = np.repeat(rng.choice([0.5, 1.0], articles), per_article)
    truth = rng.random(len(seen)) < 0.5
    answers = np.where(rng.random((2, len(truth))) < seen, truth, ~truth).astype(int).T.ravel()
    return np.repeat(np.arange(len(truth)), 2), answers


def of_articles(patterns, articles):
    n_articles = int(articles.max()) + 1
    return unit_patterns(articles, patterns.of_unit, n_units=n_articles, n_answers=len(patterns.units)).units


def test_resampled_articles_spread_like_scipys_bootstrap():
    """Alpha in resamples of articles against SciPy's bootstrap over articles with all their rows."""
    units, answers = make_clustered()
    table = counts_of(units, answers, n_units=320, n_answers=2).reshape(40, 8, 2)
    patterns = unit_patterns(units, answers, n_units=320, n_answers=2)
    draws = article_draws(patterns.units, of_articles(patterns, np.arange(320) // 8), 2000, 0)
    (values,) = replicates([ALPHA], draws, "nominal", np.arange(2.0))

    def alpha(articles):
        rows = RatedUnits.of_counts(table[articles].reshape(-1, 2))
        return ALPHA.values(rows, "nominal", np.arange(2.0))[0]

    expected = scipy_stats.bootstrap(
        (np.arange(40),), alpha, vectorized=False, n_resamples=2000, method="percentile", rng=1
    )
    assert values.std() == pytest.approx(expected.standard_error, rel=0.08)
    assert percentile_interval(values) == pytest.approx(expected.confidence_interval, abs=0.03)
    (alone,) = replicates([ALPHA], unit_draws(patterns.units, 2000, 0), "nominal", np.arange(2.0))
    assert alone.std() < 0.8 * values.std()


@given(rated)
def test_articles_of_one_unit_are_drawn_like_units(ratings):
    units = units_of(ratings)
    if not units:
        return
    patterns = patterns_of(units)
    alone = list(unit_draws(patterns.units, 5, 0))
    found = list(article_draws(patterns.units, of_articles(patterns, np.arange(len(units))), 5, 0))
    for one, other in zip(alone, found, strict=True):
        assert one.times.tolist() == other.times.tolist()


@given(rated, st.lists(st.integers(0, 3), min_size=8, max_size=8))
@pytest.mark.parametrize("scale", SCALES)
def test_articles_left_out_by_pattern_equal_articles_really_left_out(scale, ratings, drawn_articles):
    units = units_of(ratings)
    if not units:
        return
    _, articles = np.unique(drawn_articles[: len(units)], return_inverse=True)
    patterns = patterns_of(units)
    n_articles = int(articles.max()) + 1
    kinds = unit_patterns(articles, patterns.of_unit, n_units=n_articles, n_answers=len(patterns.units))
    found = replicates(STATISTICS, articles_left_out(patterns.units, kinds.units), scale, NUMBERS)
    table = np.array([[list(unit.values()).count(answer) for answer in range(N_ANSWERS)] for unit in units])
    for article, kind in enumerate(kinds.of_unit):
        rows = RatedUnits.of_counts(table[articles != article])
        expected = [each.values(rows, scale, NUMBERS)[0] for each in STATISTICS]
        assert found[:, kind].tolist() == pytest.approx(expected, abs=1e-9, nan_ok=True)


def test_single_units_are_left_out_like_their_patterns():
    """Of articles one by one, as of groups of articles, the values are those of their patterns."""
    units, answers = make_clustered()
    patterns = unit_patterns(units, answers, n_units=320, n_answers=2)
    articles = np.arange(320) // 8
    n_patterns = len(patterns.units)
    by_pattern = unit_patterns(articles, patterns.of_unit, n_units=40, n_answers=n_patterns)
    each = single_units(articles, patterns.of_unit, n_units=40, n_answers=n_patterns)
    assert each.times.tolist() == [[1.0]] * 40
    (of_patterns,), (one_by_one,) = (
        replicates([ALPHA], articles_left_out(patterns.units, held), "nominal", NUMBERS)
        for held in (by_pattern.units, each)
    )
    assert one_by_one.tolist() == pytest.approx(of_patterns[by_pattern.of_unit].tolist(), abs=1e-12)


def test_each_draw_has_whole_articles():
    # The first article has two units of the first pattern, the second one of each, the third one of the last.
    patterns = unit_patterns(
        np.repeat(np.arange(5), 2), np.array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1]), n_units=5, n_answers=2
    )
    articles = of_articles(patterns, np.array([0, 0, 1, 1, 2]))
    drawn = np.concatenate([each.times for each in article_draws(patterns.units, articles, 300, 0)], axis=1)
    of_three = {(2 * a + b, b + c) for a in range(4) for b in range(4 - a) for c in [3 - a - b]}
    assert set(map(tuple, drawn.T.astype(int).tolist())) == of_three


def test_draws_depend_on_the_seed_but_not_on_blocks(monkeypatch):
    whole, again, other = (
        replicates([ALPHA], unit_draws(make_patterns(), 100, seed), "nominal", NUMBERS) for seed in (0, 0, 1)
    )
    assert whole.tolist() == again.tolist() != other.tolist()
    monkeypatch.setattr("metaeval.stats.agreement.agreement_bootstrap.LARGEST_BLOCK", 30)
    blocks = list(unit_draws(make_patterns(), 100, 0))
    assert len(blocks) > 3
    assert replicates([ALPHA], blocks, "nominal", NUMBERS).tolist() == whole.tolist()


def test_resamples_of_constant_data_equal_the_value_of_the_data():
    units = unit_patterns(np.repeat(np.arange(9), 2), np.ones(18, int), n_units=9, n_answers=2).units
    values = replicates(STATISTICS, unit_draws(units, 100, 0), "nominal", np.arange(2.0))
    expected = [math.nan, 1, 1, math.nan, 1]
    assert values == pytest.approx(np.tile(expected, (100, 1)).T, abs=1e-12, nan_ok=True)


def naive_rater_draw(ratings, times):
    """Compute alpha and pairwise agreement with times[r] copies of rater r.

    A rater is never compared with their own copy.
    """
    pairs_of, totals, observed, agreeing, n_pairs = [], {}, 0.0, 0, 0
    for unit in units_of(ratings):
        copies = [(rater, answer) for rater, answer in unit.items() for _ in range(times[rater])]
        pairs_of = [(a, b) for r, a in copies for s, b in copies if r != s]
        if not pairs_of:
            continue
        observed += len(copies) * sum(a != b for a, b in pairs_of) / len(pairs_of)
        agreeing += sum(a == b for a, b in pairs_of)
        n_pairs += len(pairs_of)
        for _, answer in copies:
            totals[answer] = totals.get(answer, 0) + 1
    n = sum(totals.values())
    expected = (n**2 - sum(each**2 for each in totals.values())) / (n - 1) if n > 1 else 0
    alpha = 1 - observed / expected if expected else math.nan
    return alpha, agreeing / n_pairs if n_pairs else math.nan


@given(rated)
def test_resampled_raters_equal_the_definition_with_copied_raters(ratings):
    paired = [(u, r, a) for u, r, a in ratings if sum(unit == u for unit, *_ in ratings) > 1]
    if not paired:
        return
    units, raters, answers = columns(paired)
    _, units = np.unique(units, return_inverse=True)
    draws = rater_draws(units, raters, answers, n_answers=N_ANSWERS, resamples=6, seed=3)
    found = replicates([ALPHA, PAIRWISE], draws, "nominal", NUMBERS)
    present = np.unique(raters)
    drawn = np.random.default_rng(3).multinomial(len(present), [1 / len(present)] * len(present), size=6)
    for at, times in enumerate(drawn):
        expected = naive_rater_draw(paired, dict(zip(present.tolist(), times.tolist(), strict=True)))
        assert found[:, at].tolist() == pytest.approx(expected, abs=1e-9, nan_ok=True)


def test_three_raters_leave_too_many_resamples_undefined():
    """In 3 of 27 resamples one rater is drawn three times and has nobody to be compared with. The same
    happens when the raters drawn share no summary."""
    units, answers = make_skewed()
    raters = np.tile([0, 1], 200)
    raters[::6] = 2
    draws = rater_draws(units, raters, answers, n_answers=2, resamples=1000, seed=0)
    (values,) = replicates([ALPHA], draws, "nominal", NUMBERS)
    assert np.isnan(values).mean() > 3 / 27 - 0.03
    with pytest.raises(NoIntervalError, match="undefined in"):
        percentile_interval(values)


def test_bca_interval_matches_scipy():
    units, answers = make_skewed(120, 3)
    table = counts_of(units, answers, n_units=120, n_answers=2)
    found = make_patterns(120, 3)

    def share(rows):
        return PAIRWISE.values(RatedUnits.of_counts(table[rows]), "nominal", NUMBERS)[0]

    expected = scipy_stats.bootstrap(
        (np.arange(120),), share, vectorized=False, n_resamples=4000, method="BCa", rng=1
    ).confidence_interval
    (values,) = replicates([PAIRWISE], unit_draws(found, 4000, 0), "nominal", NUMBERS)
    (left,) = replicates([PAIRWISE], units_left_out(found), "nominal", NUMBERS)
    (value,) = PAIRWISE.values(found, "nominal", NUMBERS)
    assert bca_interval(value, values, left, found.times[:, 0]) == pytest.approx(expected, abs=0.012)


def test_jackknife_of_patterns_equals_jackknife_of_rows():
    found = make_patterns(30)
    (left,) = replicates([ALPHA], units_left_out(found), "nominal", NUMBERS)
    dense = np.zeros((len(found), 2), dtype=int)
    dense[found.cells.units, found.cells.answers] = found.counts[:, 0]
    times = found.times[:, 0].astype(int)
    for at, value in enumerate(left.tolist()):
        rows = np.repeat(dense, times - (np.arange(len(found)) == at), axis=0)
        assert value == pytest.approx(ALPHA.of_counts(rows, "nominal").value, abs=1e-12)
