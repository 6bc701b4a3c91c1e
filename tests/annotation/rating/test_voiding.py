import pytest
from django.urls import reverse

from annotation.errors import DomainError, InvalidFields, NotAllowed, NotFound
from annotation.exports.filters import RatingFilters
from annotation.exports.rated import exported_ratings
from annotation.labels import human_labels
from annotation.models import Rating, Role, Summary
from annotation.people.members import remove_rater
from annotation.progress.progress import progress_of, work_by_rater
from annotation.rating.assigning import take_assignment
from annotation.rating.reopening import reopen_rating, reopenable_rating
from annotation.rating.submitting import GivenAnswer, correct_answer
from annotation.rating.voiding import restore_rating, void_rating
from metaeval.snapshot.snapshot import snapshot_of
from tests.annotation.rating.rating_steps import at_stage, signed_in, text_of
from tests.factories import make_member, make_project, make_rater, make_summary

pytestmark = pytest.mark.django_db

REASON = "Rated the wrong text."


@pytest.fixture
def rating(assignment) -> Rating:
    return Rating.objects.get(assignment=at_stage(assignment, 4))


@pytest.fixture
def manager(rater):
    return make_member(rater.project, Role.MANAGER)


def counted(project):
    """Return in how many places a rating counts: labels, statistics, progress, exports, open places."""
    question = project.questionnaire.questions.get(key="attribution")
    statuses = RatingFilters(rater_status=("qualified", "removed"))
    return (
        len(human_labels(project, question)),
        snapshot_of(project).human.questions[0].answers.size,
        progress_of(project).ratings,
        sum(ratings for ratings, _ in work_by_rater(project).values()),
        len(list(exported_ratings(project, RatingFilters()))),
        len(list(exported_ratings(project, statuses))),
        1 - Summary.objects.get(project=project).open_places,
    )


def test_a_voided_rating_counts_nowhere_until_it_is_restored(rater, rating, manager):
    project = rater.project
    assert set(counted(project)) == {1}
    void_rating(project, manager, rating.pk, REASON)
    assert set(counted(project)) == {0}
    rating.refresh_from_db()
    assert (rating.voided_by, rating.void_reason) == (manager, REASON)
    assert take_assignment(rater) is None, "its rater never rates the summary twice"
    void_rating(project, manager, rating.pk, "Again.")
    rating.refresh_from_db()
    assert rating.void_reason == REASON
    restore_rating(project, manager, rating.pk)
    assert set(counted(project)) == {1}
    remove_rater(rater)
    void_rating(project, manager, rating.pk, REASON)
    restore_rating(project, manager, rating.pk)
    assert not Rating.objects.countable().exists()


def test_another_rater_takes_the_place_and_a_restored_rating_counts_beside_theirs(rater, rating, manager):
    void_rating(rater.project, manager, rating.pk, REASON)
    at_stage(take_assignment(make_rater(rater.project)), 4)
    restore_rating(rater.project, manager, rating.pk)
    assert Rating.objects.countable().count() == 2
    assert Summary.objects.get().open_places == 0


def test_only_a_manager_voids_finished_ratings_of_the_project_and_says_why(rater, rating, manager):
    project = rater.project
    for user in (make_member(project, Role.RESEARCHER), rater.user):
        with pytest.raises(NotAllowed):
            void_rating(project, user, rating.pk, REASON)
        with pytest.raises(NotAllowed):
            restore_rating(project, user, rating.pk)
    for reason in (" ", "x" * 501):
        with pytest.raises(InvalidFields):
            void_rating(project, manager, rating.pk, reason)
    other = make_project()
    with pytest.raises(NotFound):
        void_rating(other, make_member(other, Role.MANAGER), rating.pk, REASON)
    with pytest.raises(DomainError, match="nothing to restore"):
        restore_rating(project, manager, rating.pk)
    make_summary(project)
    begun = Rating.objects.get(assignment=at_stage(take_assignment(rater), 2))
    with pytest.raises(DomainError, match="not finished"):
        void_rating(project, manager, begun.pk, REASON)


def test_a_voided_rating_stays_as_it_is_and_its_rater_reads_why(rater, rating, manager, browser):
    void_rating(rater.project, manager, rating.pk, REASON)
    assert reopenable_rating(rater) is None
    with pytest.raises(NotAllowed, match="voided"):
        reopen_rating(rater, rating.pk)
    with pytest.raises(NotAllowed, match="voided"):
        correct_answer(rater, rating.pk, "attribution", GivenAnswer("no"))
    slug = rater.project.slug
    assert "voided" in text_of(browser.get(reverse("history", args=[slug])))
    page = text_of(browser.get(reverse("history_rating", args=[slug, rating.pk])))
    assert REASON in page
    assert "Correct this answer" not in page


def test_a_rating_is_voided_and_restored_from_its_summarys_page(rater, rating, manager):
    slug, browser = rater.project.slug, signed_in(manager)
    summary = reverse("summary", args=[slug, rating.summary_id])
    void, restore = (reverse(name, args=[slug, rating.pk]) for name in ("rating_void", "rating_restore"))
    assert void in browser.get(summary).content.decode()
    assert rater.pseudonym in text_of(browser.get(void))
    refused = browser.post(void, {"reason": " "})
    assert (refused.status_code, "Say why" in text_of(refused)) == (422, True)
    assert browser.post(void, {"reason": REASON}).url == summary
    page = text_of(browser.get(summary))
    assert "not counted: voided" in page
    assert f"{REASON} ({manager})" in page
    browser.post(restore)
    assert "not counted" not in text_of(browser.get(summary))
