"""The luck of the best of equal judges, against simulation."""

import numpy as np
import pytest

from metaeval.stats.scores.decisions import confusion_of, decision_replicates
from metaeval.stats.uncertainty.luck_of_the_best import luck_of_the_best


def test_one_alone_has_no_luck():
    assert luck_of_the_best(np.random.default_rng(0).normal(size=(1, 500))) == pytest.approx(0, abs=1e-12)


def test_it_is_the_expected_highest_error():
    """Of k independent standard errors: 1 / sqrt(pi) for two, 1.5388 for ten."""
    rng = np.random.default_rng(1)
    assert luck_of_the_best(rng.normal(5, 1, size=(2, 100_000))) == pytest.approx(np.pi**-0.5, abs=0.01)
    assert luck_of_the_best(rng.normal(5, 1, size=(10, 100_000))) == pytest.approx(1.5388, abs=0.01)


def test_judges_that_err_together_have_no_luck_over_each_other():
    one = np.random.default_rng(2).normal(size=1000)
    assert luck_of_the_best(np.array([one, one])) == pytest.approx(0, abs=1e-12)


def test_resamples_where_one_is_undefined_are_left_out():
    found = np.array([[0.0, np.nan, 1.0], [1.0, 5.0, 0.0]])
    assert luck_of_the_best(found) == pytest.approx(0.5)
    assert np.isnan(luck_of_the_best(np.array([[np.nan]])))


def test_the_best_of_ten_equal_judges_on_fifty_labels():
    """Right on 80% each: what is told from each set of 50 labels is what happens over many sets."""
    rng = np.random.default_rng(3)
    happened, told = [], []
    for seed in range(60):
        labels = rng.integers(0, 2, 50).astype(float)
        shared = rng.random(50)
        right = np.where(rng.random((10, 50)) < 0.4, shared, rng.random((10, 50))) < 0.8
        scores = np.where(right, labels, 1 - labels)
        happened.append(right.mean(axis=1).max() - 0.8)
        replicates = decision_replicates("accuracy", labels, scores, np.arange(50), resamples=300, seed=seed)
        told.append(luck_of_the_best(replicates))
        assert confusion_of(labels, scores[0]).accuracy.value == pytest.approx(right[0].mean())
    assert np.mean(happened) == pytest.approx(0.08, abs=0.015)
    assert np.mean(told) == pytest.approx(np.mean(happened), abs=0.015)
