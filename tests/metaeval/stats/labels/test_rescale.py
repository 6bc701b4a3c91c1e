"""Scores rescaled to the raters' answers, without using an article's own labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.stats.labels.rescale import rescale
from tests.metaeval.stats.simple_rows import make_rows


def make_noisy(seed, n=400, direction=1.0):
    rng = np.random.default_rng(seed)
    labels = rng.normal(3, 1, n)
    return direction * 20 * (labels + rng.normal(0, 0.4, n)), labels, np.arange(n) // 4


@given(st.integers(0, 1000), st.sampled_from([1.0, -0.01]))
def test_numeric_answers_follow_the_regression_on_the_other_nine_folds(seed, direction):
    scores, labels, articles = make_noisy(seed, n=80, direction=direction)
    answers = rescale(make_rows(labels, scores, articles))
    for part in range(10):
        mine = articles % 10 == part
        slope, start = np.polyfit(scores[~mine], labels[~mine], 1)
        assert answers[mine] == pytest.approx(start + slope * scores[mine])


@pytest.mark.parametrize("direction", [1.0, -1.0])
def test_yes_no_answers_are_split_where_raters_split_them(direction):
    scores, labels, articles = make_noisy(3, direction=direction)
    yes = (labels > 3).astype(float)
    answers = rescale(make_rows(yes, scores, articles, yes_no=True))
    assert set(answers) == {0.0, 1.0}
    assert (answers == yes).mean() > 0.85


@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from([0.0, 0.5, 1.0])), min_size=2, max_size=30))
def test_the_chosen_cut_agrees_with_the_most_raters(rows):
    scores, labels = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    scores, labels = np.append(scores, 9.0), np.append(labels, np.nan)
    answers = rescale(make_rows(labels, scores, np.append(np.zeros(len(rows), dtype=int), 1), yes_no=True))
    assert np.isnan(answers[:-1]).all()  # they could only learn from their own article
    known = scores[:-1]
    if np.ptp(known) == 0:
        assert np.isnan(answers[-1])
        return
    tries = [(known > cut).astype(float) for cut in (-1, *np.unique(known)[:-1])]
    best = max(
        max(count_agreeing(each, labels[:-1]), count_agreeing(1 - each, labels[:-1])) for each in tries
    )
    # A score of 9 lies above all scores in the training data, so it gets the answer above the cut.
    above = [each for each in tries if count_agreeing(each, labels[:-1]) == best]
    below = [each for each in tries if count_agreeing(1 - each, labels[:-1]) == best]
    assert answers[-1] == (1.0 if above else 0.0)
    assert above or below


def count_agreeing(answers, labels):
    return float((answers * labels + (1 - answers) * (1 - labels)).sum())


def test_an_articles_own_labels_do_not_change_its_answers():
    scores, labels, articles = make_noisy(5)
    changed = np.where(articles == 7, -100.0, labels)
    before, after = (rescale(make_rows(each, scores, articles)) for each in (labels, changed))
    assert before[articles == 7].tolist() == after[articles == 7].tolist()
    assert before.tolist() != after.tolist()


def test_scored_summaries_get_an_answer_even_without_a_label():
    scores, labels, articles = make_noisy(6)
    labels[:10], scores[390:] = np.nan, np.nan
    answers = rescale(make_rows(labels, scores, articles))
    assert not np.isnan(answers[:390]).any()
    assert np.isnan(answers[390:]).all()


def test_no_training_data_gives_no_answers():
    assert np.isnan(rescale(make_rows([1, 2, 3], [1, 1, 1], [0, 1, 2]))).all()
    assert np.isnan(rescale(make_rows([1, 2], [1, 2], [0, 0]))).all()
    assert rescale(make_rows([], [], yes_no=True)).tolist() == []
