"""Columns of the comparison, whose coefficients are mostly computed from ranks."""

import numpy as np
import pytest

from metaeval.comparison.comparison import compare
from metaeval.snapshot.snapshot import snapshot_of
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.correlation.soft_accuracy import SOFT_ACCURACY, soft_accuracies
from scoring.evaluators.length import Length
from scoring.models import Score


@pytest.mark.parametrize("items", ["own", "common"])
@pytest.mark.parametrize("level", LEVELS)
def test_figures_equal_those_computed_from_the_raw_scores(compared, level, items):
    missing = Score.objects.order_by("pk").first()
    Score.objects.filter(pk=missing.pk).update(value=None, reason="empty")
    snapshot = snapshot_of(compared)
    comparison = compare(snapshot.summaries, snapshot.evaluators)
    column = comparison.column(snapshot.labels()[0], items)
    assert np.isnan(column.rows.scores).sum() == (len(column.evaluators) if items == "common" else 1)
    everyone = range(len(column.evaluators))
    for coefficient in COEFFICIENTS:
        for sign in (1, -1):
            each = column.estimates(level, coefficient, everyone, negated=sign < 0)
            for own, found in zip(column.rows.each, each, strict=True):
                plain = LEVELS[level].estimate(COEFFICIENTS[coefficient], own.with_scores(sign * own.scores))
                assert found.value == pytest.approx(plain.value, abs=1e-12, nan_ok=True)
                assert (found.n, found.left_out, found.reason) == (plain.n, plain.left_out, plain.reason)


def test_soft_accuracy_is_that_of_the_scores_and_its_merit_that_of_negated_ones(compared, monkeypatch):
    monkeypatch.setattr(Length, "higher_is_better", False)
    snapshot = snapshot_of(compared)
    comparison = compare(snapshot.summaries, snapshot.evaluators)
    labels = snapshot.labels()[0]
    rows = comparison.column(labels).rows
    turned = rows.with_scores(-rows.scores)
    for name, level in LEVELS.items():
        pairs = zip(soft_accuracies(level, rows), soft_accuracies(level, turned), strict=True)
        for evaluator, (own, negated) in zip(comparison.evaluators, pairs, strict=True):
            found = comparison.figure(evaluator, labels, name, SOFT_ACCURACY)
            assert found.estimate == own
            assert found.merit == pytest.approx(negated.value, nan_ok=True)
            assert found.as_json().get("reason", "") == own.reason
