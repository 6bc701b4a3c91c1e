from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation import protocol
from annotation.errors import AssignmentGone, InvalidAnswers, NotAllowed, StageClosed
from annotation.models import Answer, Assignment, Project, Rating
from annotation.people.members import remove_rater, suspend_rater
from annotation.rating.assigning import take_assignment
from annotation.rating.submitting import GivenAnswer, correct_answer, flag_article, save_draft
from tests.annotation.rating.rating_steps import submit_stage
from tests.factories import make_project, make_rater, make_summary

pytestmark = pytest.mark.django_db

STAGE_2 = {"repetition": GivenAnswer("yes"), "grammar": GivenAnswer("no", "two commas missing")}
STAGE_3 = {key: GivenAnswer("yes") for key in ("attribution", "main_ideas", "conciseness")}


def gate(value: str = "yes") -> dict[str, GivenAnswer]:
    return {"comprehensibility": GivenAnswer(value)}


@pytest.fixture
def assignment(project, rater) -> Assignment:
    make_summary(project)
    taken = take_assignment(rater)
    assert taken is not None
    return taken


def rate_fully(rater, assignment) -> Rating:
    for stage, given in ((1, gate()), (2, STAGE_2), (3, STAGE_3)):
        submit_stage(rater, assignment.pk, stage, given)
    return Rating.objects.get(assignment=assignment)


def test_three_stages_make_a_finished_rating(rater, assignment):
    rating = rate_fully(rater, assignment)
    assert rating.completed_at is not None
    assert dict(rating.answers.values_list("question__key", "value")) == {
        "comprehensibility": "yes",
        "repetition": "yes",
        "grammar": "no",
        "attribution": "yes",
        "main_ideas": "yes",
        "conciseness": "yes",
    }
    assert rating.answers.get(question__key="grammar").comment == "two commas missing"
    assert [time["stage"] for time in rating.stage_times] == [1, 2, 3]
    assignment.refresh_from_db()
    assert assignment.state == Assignment.State.DONE


def test_q1_no_finishes_the_rating_with_one_answer(rater, assignment):
    submit_stage(rater, assignment.pk, 1, gate("no"))
    rating = Rating.objects.get()
    assert rating.completed_at is not None
    assert rating.answers.count() == 1


def test_only_a_finished_rating_raises_the_projects_revision(project, rater, assignment):
    before = Project.objects.get(pk=project.pk).revision
    submit_stage(rater, assignment.pk, 1, gate())
    assert Project.objects.get(pk=project.pk).revision == before
    submit_stage(rater, assignment.pk, 2, STAGE_2)
    submit_stage(rater, assignment.pk, 3, STAGE_3)
    assert Project.objects.get(pk=project.pk).revision == before + 1


def test_sending_a_stage_twice_stores_it_once(rater, assignment):
    for _ in range(2):
        submit_stage(rater, assignment.pk, 1, gate())
    for _ in range(2):
        submit_stage(rater, assignment.pk, 2, STAGE_2)
    assert Answer.objects.count() == 3


def test_sending_the_last_stage_twice_stores_it_once(rater, assignment):
    rate_fully(rater, assignment)
    submit_stage(rater, assignment.pk, 3, STAGE_3)
    assert Answer.objects.count() == 6


def test_different_answers_to_a_locked_stage_are_refused(rater, assignment):
    submit_stage(rater, assignment.pk, 1, gate())
    with pytest.raises(StageClosed, match="locked"):
        submit_stage(rater, assignment.pk, 1, gate("no"))
    assert Answer.objects.get().value == "yes"


def test_a_stage_cannot_be_skipped(rater, assignment):
    with pytest.raises(StageClosed, match="not open yet"):
        submit_stage(rater, assignment.pk, 3, STAGE_3)
    assert not Rating.objects.exists()


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({}, "comprehensibility"),
        ({"comprehensibility": GivenAnswer("")}, "comprehensibility"),
        ({"comprehensibility": GivenAnswer("maybe")}, "comprehensibility"),
        ({"comprehensibility": GivenAnswer("yes", "x" * 2001)}, "comprehensibility"),
        ({**gate(), "grammar": GivenAnswer("yes")}, "grammar"),
    ],
)
def test_invalid_answers_are_refused_and_nothing_is_stored(rater, assignment, given, field):
    with pytest.raises(InvalidAnswers) as refusal:
        submit_stage(rater, assignment.pk, 1, given)
    assert field in refusal.value.fields
    assert not Answer.objects.exists()


def test_another_raters_assignment_is_refused(project, assignment):
    with pytest.raises(AssignmentGone):
        submit_stage(make_rater(project), assignment.pk, 1, gate())


@pytest.mark.parametrize("stop", [suspend_rater, remove_rater])
def test_a_suspended_or_removed_rater_cannot_submit(rater, assignment, stop):
    stop(rater)
    with pytest.raises(NotAllowed):
        submit_stage(rater, assignment.pk, 1, gate())


def test_an_expired_lease_taken_by_another_rater_is_refused(project, rater, assignment):
    later = timezone.now() + timedelta(minutes=project.lease_minutes + 1)
    assert take_assignment(make_rater(project), now=later) is not None
    with pytest.raises(AssignmentGone, match="ran out"):
        submit_stage(rater, assignment.pk, 1, gate(), now=later)


def test_an_expired_lease_not_taken_by_others_can_still_be_finished(project, rater, assignment):
    later = timezone.now() + timedelta(minutes=project.lease_minutes + 1)
    submit_stage(rater, assignment.pk, 1, gate("no"), now=later)
    assert Rating.objects.get().completed_at == later


def test_a_draft_is_stored_and_cleared_by_the_submission(rater, assignment):
    save_draft(rater, assignment.pk, 1, {"comprehensibility": GivenAnswer("unsure", "odd words")})
    assignment.refresh_from_db()
    assert assignment.draft == {"comprehensibility": {"value": "unsure", "comment": "odd words"}}
    submit_stage(rater, assignment.pk, 1, gate())
    assignment.refresh_from_db()
    assert assignment.draft == {}


@pytest.mark.parametrize(
    ("stage", "given", "error"),
    [
        (2, STAGE_2, StageClosed),
        (1, STAGE_2, InvalidAnswers),
        (1, gate("maybe"), InvalidAnswers),
    ],
)
def test_a_draft_that_does_not_fit_the_open_stage_is_refused(rater, assignment, stage, given, error):
    with pytest.raises(error):
        save_draft(rater, assignment.pk, stage, given)


def test_a_draft_of_stored_answers_changes_nothing(rater, assignment):
    submit_stage(rater, assignment.pk, 1, gate())
    save_draft(rater, assignment.pk, 1, gate())
    submit_stage(rater, assignment.pk, 2, STAGE_2)
    save_draft(rater, assignment.pk, 2, {**STAGE_2, "repetition": GivenAnswer("")})
    with pytest.raises(StageClosed, match="locked"):
        save_draft(rater, assignment.pk, 1, gate("no"))
    submit_stage(rater, assignment.pk, 3, STAGE_3)
    save_draft(rater, assignment.pk, 3, STAGE_3)
    with pytest.raises(StageClosed, match="finished"):
        save_draft(rater, assignment.pk, 3, {"attribution": GivenAnswer("no")})
    assignment.refresh_from_db()
    assert assignment.draft == {}
    assert Answer.objects.count() == 6


def test_a_draft_of_a_summary_whose_lease_ended_says_so(project, rater, assignment):
    later = timezone.now() + timedelta(minutes=project.lease_minutes + 1)
    assert take_assignment(make_rater(project), now=later) is not None
    with pytest.raises(AssignmentGone, match="ran out"):
        save_draft(rater, assignment.pk, 1, gate())


def test_the_article_can_be_flagged_once_it_is_shown_and_unflagged(rater, assignment):
    with pytest.raises(NotAllowed):
        flag_article(rater, assignment.pk, "it is a list of links")
    submit_stage(rater, assignment.pk, 1, gate())
    submit_stage(rater, assignment.pk, 2, STAGE_2)
    assert flag_article(rater, assignment.pk, "it is a list of links").reason == "it is a list of links"
    assert flag_article(rater, assignment.pk, "") is None


def test_a_correction_adds_a_revision_marked_as_made_after_the_reveal(rater, assignment):
    rating = rate_fully(rater, assignment)
    correction = correct_answer(rater, rating.pk, "grammar", GivenAnswer("yes"))
    assert (correction.revision, correction.after_reveal) == (2, True)
    history = rating.answers.filter(question__key="grammar").order_by("revision")
    assert [(answer.value, answer.is_current) for answer in history] == [("no", False), ("yes", True)]


def test_a_correction_of_the_last_stage_is_not_marked_as_after_the_reveal(rater, assignment):
    rating = rate_fully(rater, assignment)
    assert not correct_answer(rater, rating.pk, "conciseness", GivenAnswer("no")).after_reveal


def test_repeating_the_same_answer_is_not_a_correction(rater, assignment):
    rating = rate_fully(rater, assignment)
    assert correct_answer(rater, rating.pk, "main_ideas", GivenAnswer("yes")).revision == 1
    assert Answer.objects.count() == 6


@pytest.mark.parametrize("value", ["no", "maybe", ""])
def test_an_invalid_correction_is_refused(rater, assignment, value):
    rating = rate_fully(rater, assignment)
    with pytest.raises(InvalidAnswers):
        correct_answer(rater, rating.pk, "comprehensibility", GivenAnswer(value))
    assert Answer.objects.count() == 6


def test_an_answer_that_ended_the_rating_cannot_be_corrected(rater, assignment):
    submit_stage(rater, assignment.pk, 1, gate("no"))
    with pytest.raises(InvalidAnswers, match="were not asked"):
        correct_answer(rater, Rating.objects.get().pk, "comprehensibility", GivenAnswer("yes"))


def test_a_project_can_forbid_corrections(project, rater, assignment):
    rating = rate_fully(rater, assignment)
    project.allow_corrections = False
    project.save()
    with pytest.raises(NotAllowed):
        correct_answer(rater, rating.pk, "grammar", GivenAnswer("yes"))


def test_another_raters_rating_cannot_be_corrected(project, rater, assignment):
    rating = rate_fully(rater, assignment)
    with pytest.raises(AssignmentGone):
        correct_answer(make_rater(project), rating.pk, "grammar", GivenAnswer("yes"))


def test_a_likert_questionnaire_can_be_submitted():
    project = make_project(protocol.SUMMEVAL)
    rater = make_rater(project)
    make_summary(project)
    assignment = take_assignment(rater)
    given = {question.key: GivenAnswer("4") for question in protocol.SUMMEVAL.questions}
    with pytest.raises(InvalidAnswers):
        submit_stage(rater, assignment.pk, 1, {**given, "fluency": GivenAnswer("6")})
    submit_stage(rater, assignment.pk, 1, given)
    assert Rating.objects.get().answers.count() == 4


def test_the_database_refuses_two_current_answers_to_one_question(rater, assignment):
    rating = rate_fully(rater, assignment)
    answer = rating.answers.first()
    with pytest.raises(IntegrityError), transaction.atomic():
        Answer.objects.create(
            rating=rating, question=answer.question, value="no", revision=2, created_at=timezone.now()
        )


def test_the_database_refuses_two_ratings_of_one_summary_by_one_rater(rater, assignment):
    rating = rate_fully(rater, assignment)
    with pytest.raises(IntegrityError), transaction.atomic():
        Rating.objects.create(rater=rater, summary=rating.summary, created_at=timezone.now())
