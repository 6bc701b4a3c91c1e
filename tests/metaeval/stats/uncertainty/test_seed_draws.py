import numpy as np
import pytest

from metaeval.stats.rows import Resampling
from metaeval.stats.uncertainty.seed_draws import drawn_means, seed_stream


@pytest.mark.parametrize("values", [[0.1, 0.4], [0.1, 0.2, 0.6], [0.0, 0.1, 0.3, 0.35, 0.9]])
def test_the_variance_between_repetitions_is_that_of_their_mean(values):
    """The unbiased estimate s² / K, which drawing K out of K would miss by the factor (K − 1) / K."""
    times = 40_000
    replicates = np.repeat(np.array(values)[:, None], times, axis=1)
    drawn = drawn_means(replicates, seed_stream(Resampling()))
    assert drawn.mean() == pytest.approx(np.mean(values), abs=0.005)
    assert drawn.var() == pytest.approx(np.var(values, ddof=1) / len(values), rel=0.03)


def test_what_articles_do_to_all_repetitions_stays():
    shift = np.random.default_rng(1).normal(size=500)
    assert np.allclose(drawn_means(np.array([shift, shift, shift]), seed_stream(Resampling())), shift)


def test_an_undefined_repetition_makes_the_resamples_undefined_that_draw_it():
    replicates = np.array([[1.0] * 400, [np.nan] * 400])
    undefined = np.isnan(drawn_means(replicates, seed_stream(Resampling()))).mean()
    assert 0.4 < undefined < 0.6
