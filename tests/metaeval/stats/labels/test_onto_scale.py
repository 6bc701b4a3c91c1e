"""Scores turned into answers on the raters' scale, never by the help of the article's own labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.stats.labels.onto_scale import onto_scale


def noisy(seed, n=400, direction=1.0):
    rng = np.random.default_rng(seed)
    labels = rng.normal(3, 1, n)
    return direction * 20 * (labels + rng.normal(0, 0.4, n)), labels, np.arange(n) // 4


@given(st.integers(0, 1000), st.sampled_from([1.0, -0.01]))
def test_numbers_follow_the_line_of_the_other_nine_parts(seed, direction):
    scores, labels, articles = noisy(seed, n=80, direction=direction)
    answers = onto_scale(scores, labels, articles, yes_no=False)
    for part in range(10):
        mine = articles % 10 == part
        slope, start = np.polyfit(scores[~mine], labels[~mine], 1)
        assert answers[mine] == pytest.approx(start + slope * scores[mine])


@pytest.mark.parametrize("direction", [1.0, -1.0])
def test_yes_and_no_are_parted_where_raters_part_them(direction):
    scores, labels, articles = noisy(3, direction=direction)
    yes = (labels > 3).astype(float)
    answers = onto_scale(scores, yes, articles, yes_no=True)
    assert set(answers) == {0.0, 1.0}
    assert (answers == yes).mean() > 0.85


@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from([0.0, 0.5, 1.0])), min_size=2, max_size=30))
def test_no_other_cut_agrees_with_more_raters(rows):
    scores, labels = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    scores, labels = np.append(scores, 9.0), np.append(labels, np.nan)
    answers = onto_scale(scores, labels, np.append(np.zeros(len(rows), dtype=int), 1), yes_no=True)
    assert np.isnan(answers[:-1]).all()  # nothing but their own article to learn from
    known = scores[:-1]
    if np.ptp(known) == 0:
        assert np.isnan(answers[-1])
        return
    tries = [(known > cut).astype(float) for cut in (-1, *np.unique(known)[:-1])]
    best = max(max(agreeing(each, labels[:-1]), agreeing(1 - each, labels[:-1])) for each in tries)
    # Of 9, which is beyond all scores that were learnt from, the rule says what it says above its cut.
    above = [each for each in tries if agreeing(each, labels[:-1]) == best]
    below = [each for each in tries if agreeing(1 - each, labels[:-1]) == best]
    assert answers[-1] == (1.0 if above else 0.0)
    assert above or below


def agreeing(answers, labels):
    return float((answers * labels + (1 - answers) * (1 - labels)).sum())


def test_an_articles_own_labels_change_nothing_about_its_answers():
    scores, labels, articles = noisy(5)
    changed = np.where(articles == 7, -100.0, labels)
    before, after = (onto_scale(scores, each, articles, yes_no=False) for each in (labels, changed))
    assert before[articles == 7].tolist() == after[articles == 7].tolist()
    assert before.tolist() != after.tolist()


def test_summaries_without_a_label_get_an_answer_and_those_without_a_score_none():
    scores, labels, articles = noisy(6)
    labels[:10], scores[390:] = np.nan, np.nan
    answers = onto_scale(scores, labels, articles, yes_no=False)
    assert not np.isnan(answers[:390]).any()
    assert np.isnan(answers[390:]).all()


def test_with_nothing_to_learn_from_there_is_no_answer():
    assert np.isnan(onto_scale([1, 1, 1], [1, 2, 3], [0, 1, 2], yes_no=False)).all()
    assert np.isnan(onto_scale([1, 2], [1, 2], [0, 0], yes_no=False)).all()
    assert onto_scale([], [], [], yes_no=True).tolist() == []


def test_unequal_lengths_are_refused():
    with pytest.raises(ValueError, match="lengths differ"):
        onto_scale([1], [1, 2], [0], yes_no=True)
