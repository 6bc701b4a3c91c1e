"""The mean of labels and its interval."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from metaeval.stats.labels.label_mean import EVEN_ARTICLES, FEWER_THAN_TWO, NO_LABEL, NO_SPREAD, label_mean
from metaeval.stats.uncertainty.always_valid import always_valid_interval

some_labels = st.lists(st.sampled_from([1.0, 2.0, 2.5, 5.0]), min_size=2, max_size=30).filter(
    lambda labels: len(set(labels)) > 1
)


@given(some_labels)
def test_one_label_per_article_gives_the_t_interval(labels):
    mean = label_mean([*labels, np.nan], range(len(labels) + 1))
    low, high = stats.t.interval(0.95, len(labels) - 1, np.mean(labels), stats.sem(labels))
    assert mean.value == pytest.approx(np.mean(labels))
    assert (mean.interval.low, mean.interval.high) == pytest.approx((low, high))
    assert (mean.labelled, mean.scored_only) == (len(labels), 0)


@given(some_labels)
def test_repeated_labels_of_an_article_do_not_narrow_the_interval(labels):
    articles = list(range(len(labels)))
    once, thrice = label_mean(labels, articles), label_mean(labels * 3, articles * 3)
    assert thrice.value == pytest.approx(once.value)
    assert thrice.interval.low == pytest.approx(once.interval.low)


@given(some_labels)
def test_each_unknown_article_counts_as_its_own_article(labels):
    known, unknown = label_mean(labels, range(len(labels))), label_mean(labels, [-1] * len(labels))
    assert (unknown.interval.low, unknown.interval.high) == pytest.approx(
        (known.interval.low, known.interval.high)
    )


@pytest.mark.parametrize(
    ("labels", "articles", "value", "reason"),
    [
        ([], [], np.nan, NO_LABEL),
        ([np.nan, np.nan], [0, 1], np.nan, NO_LABEL),
        ([2.0], [0], 2.0, FEWER_THAN_TWO),
        ([2.0, 3.0], [4, 4], 2.5, FEWER_THAN_TWO),
        ([2.0, 2.0, 2.0], [0, 1, 2], 2.0, NO_SPREAD),
        ([0.1, 0.7, 0.7, 0.1], [0, 0, 1, 1], 0.4, EVEN_ARTICLES),
    ],
)
def test_a_missing_interval_has_a_reason(labels, articles, value, reason):
    mean = label_mean(labels, articles)
    assert label_mean(labels, articles, at_every_look=True).interval.reason == reason
    assert mean.value == pytest.approx(value, nan_ok=True)
    assert mean.reason == (reason if np.isnan(value) else "")
    assert np.isnan([mean.interval.low, mean.interval.high]).all()
    assert mean.interval.reason == reason


@pytest.mark.parametrize(("labels", "articles"), [([1.0], [0, 1]), ([np.inf], [0]), ([1.0], [0.5])])
def test_invalid_arguments_are_refused(labels, articles):
    with pytest.raises(ValueError, match=r"labels|articles"):
        label_mean(labels, articles)


def test_at_every_look_the_interval_is_the_always_valid_one_of_the_mean():
    labels = np.random.default_rng(5).normal(size=40)
    once, always = (label_mean(labels, range(40), at_every_look=each) for each in (False, True))
    without = (labels.sum() - labels) / 39
    expected = always_valid_interval(labels.mean(), without, 40, least=None)
    assert (always.interval.low, always.interval.high) == pytest.approx(expected)
    assert always.interval.low < once.interval.low < once.interval.high < always.interval.high
    assert "always-valid" in always.definition
    assert "always-valid" not in once.definition


def test_at_every_look_there_is_no_interval_before_ten_articles_carry_its_error():
    rare = label_mean([1.0] * 3 + [0.0] * 60, range(63), at_every_look=True)
    assert rare.interval.reason == "too early: fewer than 10 articles carry the standard error"
    assert rare.value == pytest.approx(3 / 63)


@given(some_labels)
def test_equal_chances_change_nothing(labels):
    plain = label_mean(labels, range(len(labels)))
    even = label_mean(labels, range(len(labels)), chances=[0.25] * len(labels))
    assert even.value == pytest.approx(plain.value)
    assert (even.interval.low, even.interval.high) == pytest.approx((plain.interval.low, plain.interval.high))


def test_a_label_counts_as_often_as_one_over_its_chance():
    mean = label_mean([1.0, 3.0, 9.0], [0, 1, 2], chances=[1.0, 0.25, np.nan])
    assert mean.value == pytest.approx((1 + 4 * 3) / 5)
    assert mean.labelled == 2
    assert "one over the chance" in mean.definition


@pytest.mark.parametrize("chances", [[0.0, 1.0], [1.0, 1.5], [1.0]])
def test_impossible_chances_are_refused(chances):
    with pytest.raises(ValueError, match="chances"):
        label_mean([1.0, 2.0], [0, 1], chances=chances)
