import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.errors import DomainError, NotAllowed, NotFound
from annotation.gold.checks import check_accuracy, draw_check
from annotation.gold.gold_set import remove_from_gold_set
from annotation.gold.rounds import start_round
from annotation.labels import human_labels
from annotation.models import Assignment, CheckSuspension, Question, Rater, Rating
from annotation.people.members import reinstate_rater
from annotation.progress.progress import progress_of
from annotation.projects.settings import change_settings
from annotation.rating.assigning import skip_assignment, take_assignment
from annotation.rating.check_review import review_check
from annotation.rating.current_assignment import daily_goal
from annotation.rating.history import finished_ratings
from annotation.rating.reopening import reopen_rating, reopenable_rating
from annotation.rating.submitting import GivenAnswer, correct_answer
from tests.annotation.rating.rating_steps import submit_stage
from tests.factories import make_gold, make_member, make_project, make_rater, make_summary

pytestmark = pytest.mark.django_db
KEY = "comprehensibility"


@pytest.fixture
def project():
    made = make_project(check_rate=1)
    make_summary(made)
    for _ in range(4):
        make_gold(made, {KEY: "no"})
    return made


def answer_check(rater, value="no") -> Rating:
    assignment = take_assignment(rater)
    assert assignment.is_check
    for stage in (1, 2, 3):
        keys = {question.key for question in rater.project.questionnaire.protocol.stage(stage)}
        assignment.refresh_from_db()
        if assignment.state == Assignment.State.OPEN:
            given = dict.fromkeys(keys, GivenAnswer(value if stage == 1 else "yes"))
            submit_stage(rater, assignment.pk, stage, given)
    return Rating.objects.get(assignment=assignment)


def test_checks_never_count_and_take_no_place_but_look_rated_to_their_rater(project, rater):
    before = progress_of(project)
    rating = answer_check(rater)
    after = progress_of(project)
    assert not Rating.objects.countable().exists()
    assert human_labels(project, Question.objects.get(questionnaire=project.questionnaire, key=KEY)) == {}
    assert (after.all, after.collected, after.leases) == (before.all, before.collected, before.leases)
    assert [each.ratings for each in after.raters] == [0]
    assert rating.summary.open_places == rating.summary.ratings_wanted == 0
    assert daily_goal(rater).rated == 1
    assert list(finished_ratings(rater)) == [rating]


def test_a_rater_gets_each_gold_summary_once_and_then_ordinary_work(project, rater):
    seen = {answer_check(rater).summary_id for _ in range(3)}
    skipped = take_assignment(rater)
    assert skipped.is_check
    skip_assignment(rater, skipped.pk, "hard")
    assert len(seen | {skipped.summary_id}) == 4
    assert not take_assignment(rater).is_check


def test_gold_of_a_rated_round_and_other_languages_is_no_check(project, rater):
    make_gold(project, {KEY: "no"}, language="de")
    trained = make_rater(project, status=Rater.Status.TRAINING)
    start_round(trained, "en")
    assert draw_check(trained, ["en"], of_other_articles=False) is None
    assert draw_check(rater, ["en"], of_other_articles=False) is not None


def test_a_project_without_checks_draws_none(project, rater):
    project.check_rate = 0
    project.save()
    assert not take_assignment(rater).is_check


def test_without_ordinary_work_there_is_no_check(project, rater):
    project.summaries.filter(gold__isnull=True).update(open_places=0)
    assert take_assignment(rater) is None


def test_a_summary_used_in_a_check_is_retired_and_not_rated_in_production(project, rater):
    summary = answer_check(rater).summary
    with pytest.raises(DomainError, match="have seen"):
        remove_from_gold_set(summary, to_be_rated=True)
    remove_from_gold_set(summary, to_be_rated=False)
    summary.refresh_from_db()
    assert summary.gold.retired_at is not None


def test_too_many_wrong_checks_suspend_until_a_manager_lifts_it(project, rater):
    change_settings(project, {"check_threshold": 0.6, "check_minimum": 2, "check_window": 3})
    rater = Rater.objects.get(pk=rater.pk)
    answer_check(rater, "unsure")
    rater.refresh_from_db()
    assert rater.status == Rater.Status.QUALIFIED, "one check is fewer than the fewest"
    answer_check(rater)
    rater.refresh_from_db()
    assert rater.status == Rater.Status.SUSPENDED
    suspension = CheckSuspension.objects.get()
    assert (suspension.matched, suspension.asked, suspension.checks, suspension.threshold) == (1, 2, 2, 0.6)
    with pytest.raises(NotAllowed):
        take_assignment(rater)
    manager = Client()
    manager.force_login(make_member(project, "manager"))
    people = " ".join(manager.get(reverse("people", args=[project.slug])).content.decode().split())
    assert "hidden checks in English: 1 of 2 answers as agreed (50%), at least 60% needed" in people
    reinstate_rater(rater)
    rater.refresh_from_db()
    suspension.refresh_from_db()
    assert rater.status == Rater.Status.QUALIFIED
    assert suspension.lifted_at is not None
    assert check_accuracy(rater, "en") is None
    answer_check(rater)
    assert check_accuracy(rater, "en").share == 1
    page = manager.get(reverse("rater_qualification", args=[project.slug, rater.pk])).content.decode()
    assert "1 of 1 answers as agreed (100%)" in " ".join(page.split())


def test_the_window_holds_the_last_checks(project, rater):
    change_settings(project, {"check_minimum": 1, "check_window": 1})
    rater = Rater.objects.get(pk=rater.pk)
    answer_check(rater, "unsure")
    answer_check(rater)
    assert (check_accuracy(rater, "en").checks, check_accuracy(rater, "en").share) == (1, 1.0)
    with pytest.raises(DomainError, match="check_minimum"):
        change_settings(project, {"check_minimum": 2})


def test_a_silent_check_can_be_corrected_but_never_reviewed(rater):
    rating = answer_check(rater, "unsure")
    assert correct_answer(rater, rating.pk, KEY, GivenAnswer("yes")).revision == 2
    with pytest.raises(NotFound):
        review_check(rater, rating.pk)


def test_feedback_shows_the_agreed_answers_at_once_and_ends_corrections(project, rater):
    project.check_feedback = True
    project.save()
    browser = Client()
    browser.force_login(rater.user)
    item = browser.get(reverse("rate", args=[project.slug])).url
    review = browser.post(item, {"stage": 1, f"answer-{KEY}": "no"}, follow=True)
    page = " ".join(review.content.decode().split())
    assert "Hidden check: all as agreed" in page
    assert "GOLD-EXPLANATION comprehensibility is no." in page
    rating = Rating.objects.get(is_check=True)
    with pytest.raises(NotAllowed, match="have seen the expected answers"):
        correct_answer(rater, rating.pk, KEY, GivenAnswer("yes"))
    past = browser.get(reverse("history_rating", args=[project.slug, rating.pk])).content.decode()
    assert reverse("check_review", args=[project.slug, rating.pk]) in past
    assert "Correct this answer" not in past
    with pytest.raises(NotFound):
        review_check(make_rater(project), rating.pk)


def test_a_silent_check_is_re_opened_like_other_ratings_and_one_with_feedback_never(project, rater):
    rating = answer_check(rater, "unsure")
    assert reopenable_rating(rater) == rating, "its absence would tell a check from other ratings"
    again = reopen_rating(rater, rating.pk)
    submit_stage(rater, again.pk, 1, {"comprehensibility": GivenAnswer("no")})
    assert human_labels(project, project.questionnaire.questions.first()) == {}

    Rating.objects.filter(pk=rating.pk).update(gold_shown_at=timezone.now())
    assert reopenable_rating(rater) is None
    with pytest.raises(NotAllowed, match="expected answers"):
        reopen_rating(rater, rating.pk)
