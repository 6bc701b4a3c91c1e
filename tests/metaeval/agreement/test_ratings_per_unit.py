"""The ratings that enter agreement, counted per summary."""

import numpy as np
import pytest

from annotation import protocol
from metaeval.agreement.ratings_per_unit import answer_totals, ratings_per_unit
from metaeval.snapshot.arrays import HumanRatings, QuestionRatings, Summaries

GRAMMAR = next(each for each in protocol.SEAHORSE.questions if each.key == "grammar")

# (summary, rater, answer). The summaries are German, English, English and in an unknown language.
RATINGS = [(0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 2, 1), (1, 3, 1), (2, 1, 1), (3, 0, 2), (3, 2, 2)]


@pytest.fixture
def data():
    units, raters, answers = np.array(RATINGS, dtype=np.int64).T
    zeros = np.zeros(4, dtype=np.int64)
    summaries = Summaries(zeros, zeros, np.array([0, 1, 1, -1]), zeros, ("s",), ("de", "en"), ("d",))
    question = QuestionRatings(GRAMMAR, GRAMMAR.scale.choices, units, raters, answers)
    return summaries, HumanRatings((question,), ("expert", "crowd", "expert", "expert"), "", ""), question


@pytest.mark.parametrize(
    ("language", "units", "ratings", "raters", "once", "totals"),
    [
        ("all", 3, 7, 4, 1, [3, 2, 2]),
        ("de", 1, 2, 2, 0, [2, 0, 0]),
        ("en", 1, 3, 3, 1, [1, 2, 0]),
    ],
)
def test_ratings_per_unit_are_counted_by_language(data, language, units, ratings, raters, once, totals):
    twice = ratings_per_unit(*data).in_language(language)
    assert (twice.n_units, twice.n_ratings, twice.raters, twice.rated_once) == (units, ratings, raters, once)
    assert twice.totals.tolist() == totals
    assert twice.units.ratings[:, 0] @ twice.units.times[:, 0] == ratings


def test_a_group_filter_keeps_only_its_ratings(data):
    twice = ratings_per_unit(*data, group="expert").in_language("all")
    assert (twice.n_units, twice.n_ratings, twice.raters, twice.rated_once) == (2, 5, 3, 1)


def test_answer_totals_include_summaries_rated_once(data):
    assert answer_totals(*data, "en").tolist() == [1, 3, 0]
    assert answer_totals(*data, "all", group="crowd").tolist() == [1, 1, 0]


def test_pairs_of_ratings_are_counted_in_both_directions(data):
    assert ratings_per_unit(*data).in_language("all").pairs.tolist() == [[2, 2, 0], [2, 2, 0], [0, 0, 2]]


def test_a_language_without_repeated_ratings_is_empty(data):
    summaries, human, question = data
    only_german = QuestionRatings(
        GRAMMAR, question.values, question.summaries[:2], question.raters[:2], question.answers[:2]
    )
    twice = ratings_per_unit(summaries, human, only_german).in_language("en")
    assert (twice.n_units, twice.n_ratings, twice.raters) == (0, 0, 0)
