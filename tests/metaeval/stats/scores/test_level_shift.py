"""Bias and calibration of scores on the labels' scale."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metaeval.stats.scores.calibration_bins import bins_of
from metaeval.stats.scores.level_shift import level_shift
from metaeval.stats.uncertainty.percentile_interval import NO_SPREAD

unit = st.floats(0, 1)


@given(st.lists(st.tuples(unit, unit), min_size=1, max_size=40))
@settings(max_examples=50, deadline=None)
def test_numbers_are_those_of_the_definition(rows):
    labels, scores = (np.array(column) for column in zip(*rows, strict=True))
    found = level_shift(labels, scores, np.arange(len(rows)), resamples=5)
    assert found.bias == pytest.approx(sum(x - z for z, x in rows) / len(rows))
    assert found.error == pytest.approx(sum(abs(x - z) for z, x in rows) / len(rows))
    bins = bins_of(scores)
    by_hand = sum(abs((scores - labels)[bins == at].sum()) for at in set(bins.tolist())) / len(rows)
    assert found.calibration_error == pytest.approx(by_hand)
    assert abs(found.bias) <= found.calibration_error + 1e-9
    assert found.calibration_error <= found.error + 1e-9


def test_a_constant_shift_is_found_and_its_resamples_tell_nothing():
    rng = np.random.default_rng(1)
    labels = rng.uniform(0, 0.8, 500)
    found = level_shift(labels, labels + 0.2, np.repeat(np.arange(50), 10), resamples=200)
    assert found.bias == pytest.approx(0.2)
    assert found.bias_interval.reason == NO_SPREAD
    assert found.calibration_error == pytest.approx(0.2)


def test_the_interval_knows_that_summaries_of_an_article_belong_together():
    rng = np.random.default_rng(1)
    shift = np.repeat(rng.uniform(-0.3, 0.3, 20), 20)
    labels = np.full(400, 0.5)
    together = level_shift(labels, labels + shift, np.repeat(np.arange(20), 20), resamples=300)
    apart = level_shift(labels, labels + shift, np.arange(400), resamples=300)
    width, narrower = (each.bias_interval.high - each.bias_interval.low for each in (together, apart))
    assert width > 3 * narrower


def test_what_lacks_something_is_left_out_and_counted():
    found = level_shift([0.5, np.nan, 0.2, 0.4], [0.7, 0.1, np.nan, 0.3], [0, 0, 0, -1], resamples=5)
    assert found.n == 1
    assert found.bias == pytest.approx(0.2)
    assert sum(found.left_out.values()) == 3
    assert found.bias_interval.reason


def test_nothing_has_no_level():
    found = level_shift([np.nan], [0.5], [0])
    assert math.isnan(found.bias)
    assert found.reason == "no summary has both a label and a score"


@pytest.mark.parametrize("wrong", [{"labels": [1.1]}, {"scores": [-0.1]}])
def test_numbers_beyond_the_scale_are_refused(wrong):
    with pytest.raises(ValueError, match=r"must lie between 0 and 1"):
        level_shift(**{"labels": [0.5], "scores": [0.5], "articles": [1], **wrong})
