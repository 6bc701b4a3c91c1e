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


@given(st.integers(0, 1000), st.booleans())
def test_answers_never_fall_where_scores_get_better(seed, higher_is_better):
    direction = 1.0 if higher_is_better else -0.01
    scores, labels, articles = make_noisy(seed, n=80, direction=direction)
    answers = rescale(make_rows(labels, scores, articles), higher_is_better=higher_is_better)
    for part in range(10):
        mine = articles % 10 == part
        ordered = answers[mine][np.argsort(direction * scores[mine])]
        assert (np.diff(ordered) >= 0).all()
        rest = labels[~mine]
        assert rest.min() <= ordered[0] < ordered[-1] <= rest.max()
    assert np.mean((answers - labels) ** 2) < 0.6 * labels.var()


def test_an_evaluator_that_orders_summaries_the_wrong_way_is_not_turned_round():
    scores, labels, articles = make_noisy(3, direction=-1.0)
    answers = rescale(make_rows(labels, scores, articles))
    assert np.corrcoef(answers, labels)[0, 1] < 0.1
    assert answers.std() < 0.2 * labels.std()


def test_yes_no_answers_are_split_where_raters_split_them():
    scores, labels, articles = make_noisy(3)
    yes = (labels > 3).astype(float)
    answers = np.round(rescale(make_rows(yes, scores, articles, yes_no=True)))
    assert (answers == yes).mean() > 0.85


def test_a_constant_score_gets_the_mean_label_of_other_articles():
    answers = rescale(make_rows([1, 2, 3, 6], [7, 7, 7, 7], [0, 1, 2, 3]))
    assert answers == pytest.approx([11 / 3, 10 / 3, 3, 2])


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
    assert np.isnan(rescale(make_rows([1, 2], [np.nan, 1], [0, 1]))).all()
    assert np.isnan(rescale(make_rows([1, 2], [1, 2], [0, 0]))).all()
    assert rescale(make_rows([], [], yes_no=True)).tolist() == []
