"""A column's figures are those of the plain numbers, although most are computed from their order alone."""

import numpy as np
import pytest

from metaeval.comparison import compare
from metaeval.snapshot import snapshot_of
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from scoring.models import Score


@pytest.mark.parametrize("items", ["own", "common"])
@pytest.mark.parametrize("level", LEVELS)
def test_a_figure_is_that_of_the_plain_numbers(compared, level, items):
    missing = Score.objects.order_by("pk").first()
    Score.objects.filter(pk=missing.pk).update(value=None, reason="empty")
    snapshot = snapshot_of(compared)
    comparison = compare(snapshot.summaries, snapshot.evaluators)
    column = comparison.column(snapshot.labels()[0], items)
    assert np.isnan(column.scores).sum() == (len(column.evaluators) if items == "common" else 1)
    everyone = range(len(column.scores))
    for coefficient in COEFFICIENTS:
        for sign in (1, -1):
            each = column.estimates(level, coefficient, everyone, negated=sign < 0)
            for scores, found in zip(column.scores, each, strict=True):
                plain = LEVELS[level].estimate(
                    COEFFICIENTS[coefficient],
                    column.human,
                    sign * scores,
                    column.articles,
                    column.systems,
                    yes_no=column.labels.is_yes_no,
                )
                assert found.value == pytest.approx(plain.value, abs=1e-12, nan_ok=True)
                assert (found.n, found.left_out, found.reason) == (plain.n, plain.left_out, plain.reason)
