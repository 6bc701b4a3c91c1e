"""Pairwise accuracy with ties, exact and calibrated."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.stats.correlation import calibrated_accuracy
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import article_mean
from metaeval.stats.groups import Groups
from metaeval.stats.rows import Rows

few = st.integers(0, 4).map(float)
rows = st.lists(st.tuples(few, few), min_size=2, max_size=12)


def share_of_right_pairs(pairs, epsilon):
    """Return the share of pairs that labels and scores order alike, or tie in both."""
    right = [
        np.sign(z - w) == (0 if abs(x - y) <= epsilon else np.sign(x - y))
        for (z, x), (w, y) in itertools.combinations(pairs, 2)
    ]
    return np.mean(right)


def columns(pairs):
    return np.array(pairs, dtype=float).reshape(-1, 2).T


@given(rows)
def test_exact_accuracy_is_the_share_of_correctly_ordered_pairs(pairs):
    assert COEFFICIENTS["acc_eq"].of(*columns(pairs)).value == pytest.approx(
        share_of_right_pairs(pairs, 0), abs=1e-12
    )


@given(rows)
def test_calibrated_accuracy_uses_the_best_epsilon(pairs):
    best = max(share_of_right_pairs(pairs, epsilon) for epsilon in range(5))
    assert COEFFICIENTS["acc_eq_calibrated"].of(*columns(pairs)).value == pytest.approx(best, abs=1e-12)


@given(st.lists(rows, min_size=1, max_size=4))
def test_all_articles_share_one_epsilon(articles):
    labels, scores = columns([pair for article in articles for pair in article])
    codes = np.repeat(np.arange(len(articles)), [len(article) for article in articles])
    best = max(
        np.mean([share_of_right_pairs(article, epsilon) for article in articles]) for epsilon in range(5)
    )
    found = article_mean(COEFFICIENTS["acc_eq_calibrated"], Rows(labels, scores, codes, codes * 0))
    assert found.value == pytest.approx(best, abs=1e-12)


def test_both_accuracies_are_defined_for_equal_labels_or_scores():
    for name in ("acc_eq", "acc_eq_calibrated"):
        assert COEFFICIENTS[name].of(np.ones(3), np.ones(3)).value == 1
        assert COEFFICIENTS[name].of(np.arange(3.0), np.ones(3)).value == 0


def test_calibration_refuses_too_many_pairs(monkeypatch):
    monkeypatch.setattr(calibrated_accuracy, "MOST_PAIRS", 5)
    numbers = np.arange(8.0)
    assert not COEFFICIENTS["acc_eq_calibrated"].of(numbers[:3], numbers[:3]).reason
    found = COEFFICIENTS["acc_eq_calibrated"].of_groups(numbers, numbers, Groups(np.array([4, 4])))
    assert np.isnan(found.values).all()
    assert list(found.undefined) == ["more than 2,000,000 pairs of summaries to calibrate ties on"]
