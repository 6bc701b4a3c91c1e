"""Rows of labels and scores: validation and selection."""

import math

import numpy as np
import pytest

from metaeval.stats.rows import Resampling, Rows

GIVEN = {"labels": [1, 2], "scores": [1, 2], "articles": [0, 0], "systems": [0, 1]}


def test_unequal_lengths_are_refused_and_listed():
    with pytest.raises(ValueError, match="labels 3, scores 2, articles 3, systems 3"):
        Rows([1, 2, 3], [1, 2], [0] * 3, [0] * 3)
    with pytest.raises(ValueError, match="labels 3, scores 2, articles 3, systems 3"):
        Rows([1, 2, 3], [[1, 2]], [0] * 3, [0] * 3)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"scores": [1, math.inf]}, r"scores\[1\] is inf"),
        ({"scores": [[1, 2], [math.inf, 1]]}, r"scores\[1, 0\] is inf"),
        ({"scores": [[[1, 2]]]}, r"scores must be \(n,\) or \(evaluators, n\), not of shape \(1, 1, 2\)"),
        ({"labels": [-math.inf, 1]}, r"labels\[0\] is -inf"),
        ({"labels": ["good", "bad"]}, "labels must be numbers.*good"),
        ({"labels": [[1, 2]]}, r"labels must be a 1-D array, not one of shape \(1, 2\)"),
        ({"articles": [0.0, 1.0]}, "articles must be whole-number codes, not float64"),
        ({"systems": [[0], [1]]}, r"systems must be a 1-D array, not one of shape \(2, 1\)"),
    ],
)
def test_invalid_input_is_refused_and_named(changed, message):
    with pytest.raises(ValueError, match=message):
        Rows(**(GIVEN | changed))


def test_none_is_a_missing_number():
    rows = Rows([1, None], [None, 2], [0, 0], [0, 1])
    np.testing.assert_array_equal(rows.labels, [1, np.nan])
    np.testing.assert_array_equal(rows.scores, [np.nan, 2])


def test_selected_rows_keep_their_columns_aligned():
    rows = Rows([1, 0, 1], [[1, 2, 3], [4, 5, 6]], [7, 8, -1], [0, 1, 2], yes_no=True)
    for chosen in ([2, 0], np.array([True, False, True])):
        some = rows.at(np.array(chosen))
        places = np.arange(3)[np.array(chosen)]
        assert some.yes_no
        assert some.scores.tolist() == rows.scores[:, places].tolist()
        assert some.articles.tolist() == rows.articles[places].tolist()
        assert some.systems.tolist() == places.tolist()


def test_rows_can_be_split_by_evaluator():
    rows = Rows([1, 2], [[1, 2], [3, 4]], [0, 0], [0, 1])
    assert [own.scores.tolist() for own in rows.each] == [[1, 2], [3, 4]]
    with pytest.raises(ValueError, match=r"\(evaluators, n\), not of shape \(2,\)"):
        _ = rows.each[0].each


def test_a_summary_of_an_unknown_article_can_be_its_own_article():
    rows = Rows([1] * 4, [1] * 4, [3, -1, 3, -2], [0] * 4)
    assert rows.own_articles.tolist() == [3, 5, 3, 7]


def test_fewer_than_one_resample_is_refused():
    with pytest.raises(ValueError, match="resamples is 0: at least one is needed"):
        Resampling(0)
