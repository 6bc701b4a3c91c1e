"""Bootstrapped coefficients, compared with resamples built row by row."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.rows import Resampling, Rows
from metaeval.stats.uncertainty.bootstrap import SCHEMES, Bootstrap

NAN = np.nan


def column(draw, values, n):
    return np.array(draw(st.lists(values, min_size=n, max_size=n)))


@st.composite
def studies(draw):
    """Draw labels, scores of two evaluators, articles and systems, with ties and gaps."""
    n = draw(st.integers(1, 40))
    label = st.sampled_from(
        [NAN, *draw(st.sampled_from([[0, 1], [0, 1 / 3, 0.5, 1], list(np.arange(9) / 8)]))]
    )
    few = st.one_of(st.just(NAN), st.integers(0, 4).map(float))
    many = st.one_of(st.just(NAN), st.integers(-1000, 1000).map(lambda number: number / 7))
    return {
        "labels": column(draw, label, n),
        "scores": np.array([column(draw, few, n), column(draw, many, n)]),
        "articles": column(draw, st.integers(0, 5), n),
        "systems": column(draw, st.integers(0, 3), n),
    }


def compute_on_repeated_rows(level, coefficient, study, article_times, system_times):
    """Compute each evaluator's coefficient with summaries repeated as often as drawn."""
    times = article_times * system_times
    row = np.repeat(np.arange(len(times)), times)
    copy = np.arange(len(row)) - np.repeat(np.cumsum(times) - times, times)
    of_system = np.maximum(system_times[row], 1)
    articles = study["articles"][row] * 1000 + copy // of_system
    systems = study["systems"][row] * 1000 + copy % of_system
    return [
        LEVELS[level]
        .estimate(
            COEFFICIENTS[coefficient], Rows(study["labels"][row], scores[row], articles, systems, yes_no=True)
        )
        .value
        for scores in study["scores"]
    ]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("level", LEVELS)
@given(study=studies(), seed=st.integers(0, 1000))
@settings(max_examples=10)
def test_weighting_rows_equals_repeating_them(scheme, level, study, seed):
    for coefficient in COEFFICIENTS:
        bootstrap = Bootstrap(scheme, level, coefficient, Rows(**study, yes_no=True), Resampling(3, seed))
        (times,) = bootstrap.draws()
        found = bootstrap.values(times)

        labelled = ~np.isnan(study["labels"])
        for at in range(3):
            drawn = times[1:, at].astype(int)
            parts = {
                "articles": drawn[: bootstrap.article_count],
                "systems": drawn[bootstrap.article_count :],
            }
            of_row = {}
            for kind, drawn_of_kind in parts.items():
                codes = study[kind]
                pool = np.unique(codes[labelled])
                assert len(drawn_of_kind) == (len(pool) if scheme in (kind, "both") else 0)
                of_code = dict(zip(pool, drawn_of_kind, strict=False))
                of_row[kind] = np.array([of_code.get(code, 0 if of_code else 1) for code in codes])
            expected = compute_on_repeated_rows(
                level, coefficient, study, of_row["articles"], of_row["systems"]
            )
            np.testing.assert_allclose(found[:, at], expected, rtol=0, atol=1e-9, err_msg=coefficient)


def make_study(n, label_values, *, seed=0):
    rng = np.random.default_rng(seed)
    return {
        "labels": rng.choice(label_values, n),
        "scores": rng.normal(size=(1, n)),
        "articles": rng.integers(0, n // 5, n),
        "systems": rng.integers(0, 7, n),
    }


@pytest.mark.parametrize("label_values", [[0, 1], [0, 1 / 3, 1 / 2, 2 / 3, 1], np.arange(500) / 500])
@pytest.mark.parametrize("coefficient", [name for name in COEFFICIENTS if name != "acc_eq_calibrated"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_weighting_many_rows_equals_repeating_them(scheme, coefficient, label_values):
    study = make_study(3000, label_values)
    bootstrap = Bootstrap(scheme, "pooled", coefficient, Rows(**study, yes_no=True), Resampling(2, 1))
    (times,) = bootstrap.draws()
    found = bootstrap.values(times)
    drawn = times[1:].astype(int)
    for at in range(2):
        of_article = drawn[: bootstrap.article_count, at]
        of_system = drawn[bootstrap.article_count :, at]
        pool = np.unique(study["articles"])
        expected = compute_on_repeated_rows(
            "pooled",
            coefficient,
            study,
            of_article[np.searchsorted(pool, study["articles"])] if of_article.size else np.ones(3000, int),
            of_system[study["systems"]] if of_system.size else np.ones(3000, int),
        )
        np.testing.assert_allclose(found[:, at], expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("coefficient", ["spearman", "kendall_b", "roc_auc"])
def test_pair_counts_beyond_single_precision_are_exact(coefficient):
    study = make_study(20_000, [0, 1, 1])
    study["scores"] = np.round(study["scores"] + study["labels"])
    bootstrap = Bootstrap("systems", "pooled", coefficient, Rows(**study, yes_no=True), Resampling(1))
    (times,) = bootstrap.draws()
    of_system = times[1:, 0].astype(int)[study["systems"]]
    expected = compute_on_repeated_rows("pooled", coefficient, study, np.ones(20_000, int), of_system)
    assert bootstrap.values(times)[0, 0] == pytest.approx(expected[0], abs=1e-13)


def test_an_outlier_outside_the_resample_costs_no_precision():
    labels, scores = np.array([1.0, 2, 4, 1e9]), np.array([[2.0, 1, 5, -1e9]])
    study = {"labels": labels, "scores": scores, "articles": np.arange(4), "systems": np.zeros(4, int)}
    bootstrap = Bootstrap("articles", "pooled", "pearson", Rows(**study))
    times = np.array([[1.0], [2], [1], [1], [0]])
    expected = np.corrcoef([1, 1, 2, 4], [2, 2, 1, 5])[0, 1]
    assert bootstrap.values(times)[0, 0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_unit_is_equally_likely_and_resamples_keep_the_size(scheme):
    study = make_study(50, [0, 1])
    bootstrap = Bootstrap(scheme, "pooled", "pearson", Rows(**study), Resampling(4000))
    (times,) = bootstrap.draws()
    np.testing.assert_array_equal(times[0], 1)
    counts = {"articles": bootstrap.article_count, "systems": bootstrap.system_count}
    articles, systems = np.split(times[1:], [bootstrap.article_count])
    for kind, drawn in (("articles", articles), ("systems", systems)):
        assert len(drawn) == counts[kind]
        assert (counts[kind] > 0) == (scheme in (kind, "both"))
        np.testing.assert_array_equal(drawn.sum(axis=0), counts[kind])
        np.testing.assert_allclose(drawn.mean(axis=1), 1, atol=0.1)


def test_evaluators_coefficients_and_levels_share_the_same_draws():
    study = make_study(60, [0, 1, 2])
    other = np.where(np.arange(60) < 20, NAN, study["scores"])
    drawn = [
        next(Bootstrap("both", level, name, Rows(**(study | {"scores": scores})), Resampling(5, 7)).draws())
        for level, name, scores in (
            ("pooled", "pearson", study["scores"]),
            ("article", "kendall_b", study["scores"]),
            ("system", "spearman", other),
        )
    ]
    for times in drawn[1:]:
        np.testing.assert_array_equal(times, drawn[0])


def test_draws_do_not_depend_on_the_block_size(monkeypatch):
    study = make_study(60, [0, 1, 2])
    at_once = Bootstrap("both", "article", "spearman", Rows(**study), Resampling(50, 3)).replicates
    monkeypatch.setattr("metaeval.stats.uncertainty.bootstrap.LARGEST_BLOCK", 0)
    in_turn = Bootstrap("both", "article", "spearman", Rows(**study), Resampling(50, 3)).replicates
    np.testing.assert_allclose(in_turn, at_once, rtol=0, atol=1e-12)


def test_the_order_of_the_summaries_does_not_matter():
    study = make_study(60, [0, 1, 2])
    order = np.random.default_rng(1).permutation(60)
    shuffled = {key: values[..., order] for key, values in study.items()}
    for level in LEVELS:
        found = Bootstrap("both", level, "kendall_b", Rows(**shuffled), Resampling(20)).replicates
        expected = Bootstrap("both", level, "kendall_b", Rows(**study), Resampling(20)).replicates
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall_b"])
def test_one_resample_matches_golden_values(shared, name):
    golden = json.loads((shared / "golden" / "metaeval.json").read_text())
    (case,) = golden["weighted_resample"]
    assert case["case"] == "binary[1]"
    data = golden["binary"][1]
    rows = np.arange(len(data["labels"]))
    times = np.array([1, *case["weights"]], dtype=float)[:, None]
    for coefficient in ("roc_auc", name):
        bootstrap = Bootstrap(
            "articles", "pooled", coefficient, Rows(data["labels"], [data["scores"]], rows, rows, yes_no=True)
        )
        golden_name = {"kendall_b": "kendall_tau_b"}.get(coefficient, coefficient)
        assert bootstrap.values(times)[0, 0] == pytest.approx(case["expected"][golden_name], abs=1e-9)


@pytest.mark.parametrize(
    ("scheme", "level", "coefficient"), [("cells", "pooled", "pearson"), ("both", "pooled", "tau")]
)
def test_an_unknown_name_is_refused(scheme, level, coefficient):
    with pytest.raises(KeyError):
        Bootstrap(scheme, level, coefficient, Rows(**make_study(20, [0, 1])))


def test_scores_must_have_one_row_per_evaluator():
    study = make_study(20, [0, 1])
    with pytest.raises(ValueError, match=r"not of shape \(20,\)"):
        Bootstrap("both", "pooled", "pearson", Rows(**(study | {"scores": study["scores"][0]})))
