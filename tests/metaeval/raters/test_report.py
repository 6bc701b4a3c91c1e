"""One rater's figures, by hand on few ratings and against a direct count on many."""

import math
from itertools import combinations

import numpy as np
import pytest

from annotation import protocol
from metaeval.raters.report import (
    FEWEST_RATINGS,
    agreements_with_others,
    equal_shares,
    paces,
    pair_figures,
    question_figures,
    same_answers,
)
from metaeval.snapshot.arrays import HumanRatings, QuestionRatings
from metaeval.snapshot.snapshot import snapshot_of
from metaeval.stats.agreement.krippendorff import ALPHA
from tests.factories import make_project, make_rater
from tests.metaeval.rated_projects import make_summaries, rate_all

ENOUGH = FEWEST_RATINGS
QUESTIONS = protocol.SEAHORSE.questions[:3]


def times(seconds, count=ENOUGH):
    return [{1: seconds / 4, 2: 3 * seconds / 4}] * count


def test_a_rater_far_below_the_others_median_is_marked():
    same = dict.fromkeys(range(3), (0, 0))
    found = paces({0: times(10), 1: times(60), 2: times(90)}, same)
    assert [found[rater].is_fast for rater in range(3)] == [True, False, False]
    assert found[1].seconds == 60
    assert found[1].by_stage == {1: 15, 2: 45}


def test_few_ratings_get_no_mark():
    assert not paces({0: times(10, ENOUGH - 1), 1: times(60)}, {0: (0, 0), 1: (0, 0)})[0].is_fast


def test_a_stage_left_open_does_not_count():
    found = paces({0: [*times(60, 3), {1: 10.0, 2: 5000.0}]}, {0: (0, 0)})[0]
    assert (found.timed, found.seconds) == (3, 60)


def test_imported_ratings_have_no_times():
    found = paces({}, {0: (5, 1)})[0]
    assert (found.seconds, found.timed, found.compared, found.same) == (None, 0, 5, 1)


@pytest.mark.parametrize(("others", "marked"), [(2, True), (8, False)])
def test_one_answer_to_everything_is_marked_where_others_vary(others, marked):
    found = paces({}, {0: (ENOUGH, ENOUGH), 1: (10, others)})
    assert found[0].is_same is marked


def test_equal_answers_are_counted_over_questions():
    """Rater 0 answers yes yes yes to summary 0 and yes no yes to summary 1; rater 1 answers two questions."""

    def ratings(question, *given):
        summaries, raters, answers = np.array(given).T
        return QuestionRatings(question, ("yes", "no"), summaries, raters, answers)

    human = HumanRatings(
        (
            ratings(QUESTIONS[0], (0, 0, 0), (1, 0, 0), (0, 1, 1)),
            ratings(QUESTIONS[1], (0, 0, 0), (1, 0, 1), (0, 1, 1)),
            ratings(QUESTIONS[2], (0, 0, 0), (1, 0, 0)),
        ),
        ("", ""),
        "",
        "",
    )
    assert same_answers(human, 2) == {0: (2, 1), 1: (0, 0)}


ANSWERS = {"a": "yyyynnyy", "b": "yyynnnyn", "c": "nnyyyynn"}
"""Rater -> their answers to the same eight summaries; c answers carelessly."""


@pytest.fixture
def project(db):
    """Return eight summaries of four articles, rated by a, b and c on comprehensibility."""
    project = make_project(protocol.SEAHORSE)
    summaries = make_summaries(project, [f"article {place}" for place in range(4)], ["s", "t"])
    for name, answers in ANSWERS.items():
        rater = make_rater(project, pseudonym=name)
        rate_all(
            (summary, rater, {"comprehensibility": "yes" if answer == "y" else "no"})
            for summary, answer in zip(summaries, answers, strict=True)
        )
    return project


def figures_of(project, name):
    snapshot = snapshot_of(project)
    place = list(ANSWERS).index(name)
    return snapshot, place, question_figures(snapshot.summaries, snapshot.human, place)[0]


def test_agreement_is_the_mean_share_of_equal_answers(project):
    _, _, found = figures_of(project, "c")
    shares = [np.mean([ANSWERS[other][place] == ANSWERS["c"][place] for other in "ab"]) for place in range(8)]
    assert found.agreement.value == pytest.approx(np.mean(shares))
    assert found.agreement.labelled == 8
    assert 0 <= found.agreement.interval.low <= found.agreement.value <= found.agreement.interval.high <= 1
    assert found.others.value == pytest.approx(6 / 8)


def test_alpha_without_the_careless_rater_is_that_of_the_others(project):
    _, _, found = figures_of(project, "c")
    counts = [
        [(a == "n") + (b == "n"), (a == "y") + (b == "y")]
        for a, b in zip("yyyynnyy", "yyynnnyn", strict=True)
    ]
    assert found.without.value == pytest.approx(ALPHA.of_counts(counts, "nominal").value)
    assert found.change == pytest.approx(found.without.value - found.alpha.value)
    assert found.change > 0


def test_answers_are_compared_on_the_same_summaries(project):
    _, _, found = figures_of(project, "a")
    shares = {answer: (own, others) for answer, own, others in found.answers}
    assert shares["yes"] == (pytest.approx(6 / 8), pytest.approx(8 / 16))


def test_each_other_rater_has_a_figure_the_lowest_first(project):
    snapshot, place, _ = figures_of(project, "a")
    first, second = pair_figures(snapshot.summaries, snapshot.human, place)
    assert (list(ANSWERS)[first.other], list(ANSWERS)[second.other]) == ("c", "b")
    assert second.agreement.value == pytest.approx(6 / 8)
    assert first.summaries == 8


def test_a_question_that_nobody_answered_twice_is_undefined_with_a_reason(project):
    snapshot, place, _ = figures_of(project, "a")
    grammar = question_figures(snapshot.summaries, snapshot.human, place)[2]
    assert math.isnan(grammar.agreement.value)
    assert grammar.agreement.reason == "no summary has two ratings"
    assert not grammar.has_change


def test_the_mean_over_raters_is_pairwise_agreement(project):
    snapshot = snapshot_of(project)
    ratings = snapshot.human.questions[0]
    expected = np.mean(
        [x == y for one, other in combinations(ANSWERS.values(), 2) for x, y in zip(one, other, strict=True)]
    )
    assert np.nanmean(equal_shares(ratings, len(snapshot.summaries))) == pytest.approx(expected)
    each = agreements_with_others(snapshot.summaries, snapshot.human)
    assert np.mean([found.value for found in each.values()]) == pytest.approx(expected)


def test_raters_in_several_groups_are_compared_within_their_own(db):
    project = make_project(protocol.SEAHORSE)
    summaries = make_summaries(project, [f"article {place}" for place in range(6)], ["s", "t"])
    answers = {"expert": ["yyyyyynnnnnn", "yyyyynnnnnnn"], "crowd": ["nnnnnnyyyyyy", "nnnnnyyyyyyy"]}
    for group, of_group in answers.items():
        for given in of_group:
            rater = make_rater(project, group=group)
            rate_all(
                (summary, rater, {"comprehensibility": "yes" if answer == "y" else "no"})
                for summary, answer in zip(summaries, given, strict=True)
            )
    snapshot = snapshot_of(project)
    found = agreements_with_others(snapshot.summaries, snapshot.human)
    assert [each.value for each in found.values()] == pytest.approx([11 / 12] * 4)
    first = question_figures(snapshot.summaries, snapshot.human, 0)[0]
    assert first.among == "raters of the group expert"
    assert first.agreement.value == pytest.approx(11 / 12)
    assert first.alpha.units == 12
    assert first.alpha.ratings == 24
    # Each pair is still shown, across groups too.
    assert len(pair_figures(snapshot.summaries, snapshot.human, 0)) == 3
