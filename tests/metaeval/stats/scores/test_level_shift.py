"""Bias and calibration of scores on the labels' scale."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.stats.rows import Resampling
from metaeval.stats.scores.calibration_bins import bins_of
from metaeval.stats.scores.level_shift import level_shift
from metaeval.stats.uncertainty.percentile_interval import NO_SPREAD
from tests.metaeval.stats.simple_rows import make_rows

unit = st.floats(0, 1)


@given(st.lists(st.tuples(unit, unit), min_size=1, max_size=40))
def test_bias_and_errors_equal_their_definitions(rows):
    labels, scores = (np.array(column) for column in zip(*rows, strict=True))
    found = level_shift(make_rows(labels, scores, np.arange(len(rows))), Resampling(5))
    assert found.bias == pytest.approx(sum(x - z for z, x in rows) / len(rows))
    assert found.error == pytest.approx(sum(abs(x - z) for z, x in rows) / len(rows))
    bins = bins_of(scores)
    by_hand = sum(abs((scores - labels)[bins == at].sum()) for at in set(bins.tolist())) / len(rows)
    assert found.calibration_error == pytest.approx(by_hand)
    assert abs(found.bias) <= found.calibration_error + 1e-9
    assert found.calibration_error <= found.error + 1e-9


def test_a_constant_shift_is_found_without_an_interval():
    rng = np.random.default_rng(1)
    labels = rng.uniform(0, 0.8, 500)
    found = level_shift(make_rows(labels, labels + 0.2, np.repeat(np.arange(50), 10)), Resampling(200))
    assert found.bias == pytest.approx(0.2)
    assert found.bias_interval.reason == NO_SPREAD
    assert found.calibration_error == pytest.approx(0.2)


def test_the_interval_resamples_whole_articles():
    rng = np.random.default_rng(1)
    shift = np.repeat(rng.uniform(-0.3, 0.3, 20), 20)
    labels = np.full(400, 0.5)
    together = level_shift(make_rows(labels, labels + shift, np.repeat(np.arange(20), 20)), Resampling(300))
    apart = level_shift(make_rows(labels, labels + shift, np.arange(400)), Resampling(300))
    width, narrower = (each.bias_interval.high - each.bias_interval.low for each in (together, apart))
    assert width > 3 * narrower


def test_incomplete_rows_are_counted_as_left_out():
    found = level_shift(
        make_rows([0.5, np.nan, 0.2, 0.4], [0.7, 0.1, np.nan, 0.3], [0, 0, 0, -1]), Resampling(5)
    )
    assert found.n == 1
    assert found.bias == pytest.approx(0.2)
    assert sum(found.left_out.values()) == 3
    assert found.bias_interval.reason


def test_no_summaries_give_no_level_shift():
    found = level_shift(make_rows([np.nan], [0.5], [0]))
    assert math.isnan(found.bias)
    assert found.reason == "no summary has both a label and a score"


@pytest.mark.parametrize("wrong", [{"labels": [1.1]}, {"scores": [-0.1]}])
def test_numbers_beyond_the_scale_are_refused(wrong):
    with pytest.raises(ValueError, match=r"must lie between 0 and 1"):
        level_shift(make_rows(**{"labels": [0.5], "scores": [0.5], "articles": [1], **wrong}))
