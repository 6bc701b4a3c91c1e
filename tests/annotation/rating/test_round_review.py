import pytest

from annotation.errors import NotAllowed, NotFound
from annotation.gold.rounds import next_in_round, start_round
from annotation.models import Assignment, Rater
from annotation.protocol import SEAHORSE
from annotation.rating.round_review import review_round
from annotation.rating.submitting import GivenAnswer
from tests.annotation.rating.rating_steps import submit_stage
from tests.factories import ALL_YES, make_gold, make_project, make_rater

pytestmark = pytest.mark.django_db


@pytest.fixture
def rater():
    return make_rater(make_project(), status=Rater.Status.TRAINING)


def finish(rater, answers=ALL_YES):
    assignment = next_in_round(start_round(rater, "en"))
    for stage in (1, 2, 3):
        assignment.refresh_from_db()
        if assignment.state == Assignment.State.OPEN:
            given = {question.key: GivenAnswer(answers[question.key]) for question in SEAHORSE.stage(stage)}
            submit_stage(rater, assignment.pk, stage, given)


def test_an_undecided_round_has_no_review(rater):
    make_gold(rater.project)
    start_round(rater, "en")
    with pytest.raises(NotAllowed, match="still open"):
        review_round(rater, 1)


def test_a_rater_cannot_review_another_raters_round(rater):
    make_gold(rater.project)
    finish(rater)
    with pytest.raises(NotFound):
        review_round(make_rater(rater.project, status=Rater.Status.TRAINING), 1)


def test_the_review_compares_given_and_expected_answers(rater):
    make_gold(rater.project, ALL_YES | {"grammar": "no"})
    finish(rater)
    (summary,) = review_round(rater, 1).summaries
    rows = {answer.question.key: answer for answer in summary.answers}
    assert rows["grammar"].given == GivenAnswer("yes")
    assert rows["grammar"].expected == "no"
    assert not rows["grammar"].agrees
    assert rows["attribution"].agrees
    assert not summary.agrees


def test_a_rating_that_continues_past_the_end_of_gold_disagrees(rater):
    make_gold(rater.project, {"comprehensibility": "no"})
    finish(rater)
    (summary,) = review_round(rater, 1).summaries
    rows = {answer.question.key: answer for answer in summary.answers}
    assert rows["grammar"].expected is None
    assert not rows["grammar"].agrees


def test_the_review_gives_agreement_and_threshold_of_each_question(rater):
    make_gold(rater.project, ALL_YES | {"grammar": "no"})
    finish(rater)
    results = {question.key: result for question, result in review_round(rater, 1).questions}
    assert (results["grammar"].agreement, results["grammar"].passed) == (0.0, False)
    assert (results["repetition"].agreement, results["repetition"].threshold) == (1.0, 0.8)


def test_a_summary_of_the_current_round_is_withheld_from_earlier_reviews(rater):
    make_gold(rater.project, ALL_YES | {"grammar": "no"})
    finish(rater)
    start_round(rater, "en")
    (summary,) = review_round(rater, 1).summaries
    assert summary.withheld
    assert summary.answers == ()
    assert summary.article is None
