"""The bias of the best of several equal judges, compared with simulation."""

import numpy as np
import pytest

from metaeval.stats.rows import Resampling
from metaeval.stats.scores.decisions import confusion_of, decision_replicates
from metaeval.stats.uncertainty.best_of_many_bias import best_of_many_bias
from tests.metaeval.stats.simple_rows import make_rows


def test_one_evaluator_has_no_bias():
    assert best_of_many_bias(np.random.default_rng(0).normal(size=(1, 500))) == pytest.approx(0, abs=1e-12)


def test_bias_is_the_expected_highest_error():
    """The expected maximum of standard normal errors is 1 / sqrt(pi) of two and 1.5388 of ten."""
    rng = np.random.default_rng(1)
    assert best_of_many_bias(rng.normal(5, 1, size=(2, 100_000))) == pytest.approx(np.pi**-0.5, abs=0.01)
    assert best_of_many_bias(rng.normal(5, 1, size=(10, 100_000))) == pytest.approx(1.5388, abs=0.01)


def test_judges_with_equal_errors_have_no_bias():
    one = np.random.default_rng(2).normal(size=1000)
    assert best_of_many_bias(np.array([one, one])) == pytest.approx(0, abs=1e-12)


def test_resamples_with_an_undefined_value_are_left_out():
    found = np.array([[0.0, np.nan, 1.0], [1.0, 5.0, 0.0]])
    assert best_of_many_bias(found) == pytest.approx(0.5)
    assert np.isnan(best_of_many_bias(np.array([[np.nan]])))


def test_the_estimate_matches_simulated_bias_of_ten_equal_judges():
    """All judges are right 80% of the time; each estimate sees only one set of 50 labels."""
    rng = np.random.default_rng(3)
    happened, told = [], []
    for seed in range(60):
        labels = rng.integers(0, 2, 50).astype(float)
        shared = rng.random(50)
        right = np.where(rng.random((10, 50)) < 0.4, shared, rng.random((10, 50))) < 0.8
        scores = np.where(right, labels, 1 - labels)
        happened.append(right.mean(axis=1).max() - 0.8)
        replicates = decision_replicates(
            "accuracy", make_rows(labels, scores, np.arange(50)), Resampling(300, seed)
        )
        told.append(best_of_many_bias(replicates))
        assert confusion_of(labels, scores[0]).accuracy.value == pytest.approx(right[0].mean())
    assert np.mean(happened) == pytest.approx(0.08, abs=0.015)
    assert np.mean(told) == pytest.approx(np.mean(happened), abs=0.015)
