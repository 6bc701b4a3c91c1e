"""An evaluator's decisions compared with people's, in resamples of articles."""

import numpy as np
import pytest

from metaeval.stats.rows import Resampling
from metaeval.stats.scores.decisions import STATISTICS, confusion_of, decided, decision_replicates
from tests.metaeval.stats.simple_rows import make_rows

LABELS = np.array([1, 0.5, 0, 1, np.nan, 0, 2 / 3, 1])
SCORES = np.array([0.9, 0.9, 0.5, np.nan, 1, 0.2, 0.49, 0.5])


def test_tied_unlabelled_and_unscored_summaries_are_left_out():
    assert decided(LABELS, SCORES).tolist() == [True, False, True, False, False, True, True, True]
    found = confusion_of(LABELS, SCORES)
    assert (found.true_yes, found.false_yes, found.false_no, found.true_no) == (2, 1, 1, 1)


@pytest.mark.parametrize("statistic", STATISTICS)
def test_replicates_equal_the_statistic_of_the_resampled_data(statistic):
    rng = np.random.default_rng(0)
    articles = np.repeat(np.arange(12), 3)
    labels = rng.choice([0, 1, 0.5], 36)
    scores = np.where(rng.random((2, 36)) < 0.1, np.nan, rng.random((2, 36)))
    found = decision_replicates(statistic, make_rows(labels, scores, articles), Resampling(5, 4))
    kept = labels != 0.5
    pool, draws = np.unique(articles[kept]), np.random.default_rng(4)
    for resample in range(5):
        drawn = pool[draws.integers(len(pool), size=len(pool))]
        rows = np.concatenate([np.flatnonzero(kept & (articles == article)) for article in drawn])
        for row, value in zip(scores, found[:, resample], strict=True):
            confusion = confusion_of(labels[rows], row[rows])
            assert value == pytest.approx(getattr(confusion, statistic).value)


def test_an_unknown_statistic_is_refused():
    with pytest.raises(KeyError):
        decision_replicates("luck", make_rows(LABELS, SCORES[None]), Resampling(1))
