from datetime import timedelta

import pytest
from django.utils import timezone

from annotation import protocol
from annotation.audit.actions import Action
from annotation.errors import DomainError
from annotation.models import Membership, Project, Rating, Summary
from annotation.progress.progress import overall_progress
from annotation.projects.settings import change_settings, create_project, more_ratings
from annotation.rating.assigning import take_assignment
from tests.factories import make_article, make_gold, make_project, make_rater, make_summary, make_user

pytestmark = pytest.mark.django_db


def test_a_new_project_has_its_questionnaire_and_its_manager():
    manager = make_user()
    project = create_project("News in German", protocol.SEAHORSE, manager, redundancy=2)
    assert (project.slug, project.redundancy) == ("news-in-german", 2)
    assert project.questionnaire.protocol.questions == protocol.SEAHORSE.questions
    assert Membership.objects.get(project=project).role == "manager"


@pytest.mark.parametrize(
    ("name", "slug"),
    [("Новости", ""), ("New", ""), ("Taken", ""), ("Anything", "taken"), ("Anything", "new")],
)
def test_a_project_without_a_unique_address_is_refused(name, slug):
    create_project("Taken", protocol.SEAHORSE)
    with pytest.raises(DomainError, match="address"):
        create_project(name, protocol.SEAHORSE, slug=slug)
    assert Project.objects.count() == 1


def test_a_long_name_gets_a_shorter_address():
    assert len(create_project("word " * 24, protocol.SEAHORSE).slug) <= 60


def test_a_higher_redundancy_opens_places_and_a_lower_one_closes_them():
    project = make_project()
    summaries = [make_summary(project) for _ in range(3)]
    assert change_settings(project, {"redundancy": 3}) == 3
    assert set(Summary.objects.values_list("ratings_wanted", "open_places")) == {(3, 3)}
    project.refresh_from_db()
    assert change_settings(project, {"redundancy": 2}) == len(summaries)
    assert set(Summary.objects.values_list("ratings_wanted", "open_places")) == {(2, 2)}


def test_places_that_are_rated_or_leased_stay_taken():
    project = make_project()
    rated, leased = make_summary(project), make_summary(project)
    now = timezone.now()
    Rating.objects.create(
        summary=rated, rater=make_rater(project), created_at=now, completed_at=now + timedelta(minutes=1)
    )
    Summary.objects.filter(pk=rated.pk).update(open_places=0)
    assert take_assignment(make_rater(project)).summary == leased
    change_settings(project, {"redundancy": 3})
    assert set(Summary.objects.values_list("ratings_wanted", "open_places")) == {(3, 2)}


def test_a_redundancy_below_the_number_of_ratings_keeps_all_ratings():
    project = make_project(redundancy=3)
    summary = make_summary(project, ratings_wanted=3, open_places=1)
    now = timezone.now()
    for _ in range(2):
        Rating.objects.create(summary=summary, rater=make_rater(project), created_at=now, completed_at=now)
    change_settings(project, {"redundancy": 1})
    summary.refresh_from_db()
    assert (summary.ratings_wanted, summary.open_places) == (1, 0)
    assert Rating.objects.countable().count() == 2


def test_a_changed_redundancy_does_not_offer_references_and_gold():
    project = make_project()
    make_summary(project, ratings_wanted=0)
    make_gold(project)
    assert change_settings(project, {"redundancy": 3}) == 0
    assert set(Summary.objects.values_list("ratings_wanted", "open_places")) == {(0, 0)}


def test_a_share_of_summaries_gets_extra_ratings():
    project = make_project()
    for _ in range(40):
        make_summary(project)
    affected = change_settings(project, {"extra_share": 0.5, "extra_redundancy": 3})
    assert affected == Summary.objects.filter(ratings_wanted=3, open_places=3).count()
    assert 8 <= affected <= 32  # outside with probability below 1e-4


def test_other_projects_are_unchanged():
    summary = make_summary(make_project())
    change_settings(make_project(), {"redundancy": 5})
    summary.refresh_from_db()
    assert summary.ratings_wanted == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"redundancy": 3},
        {"redundancy": 1},
        {"redundancy": 2},
        {"extra_share": 0.5, "extra_redundancy": 4},
        {"redundancy": 1, "extra_share": 1},
    ],
)
def test_the_effect_of_a_redundancy_is_known_before_it_is_saved(changes):
    """Among the summaries are rated, leased, withdrawn ones and one without its article's text."""
    project = make_project(redundancy=2)
    for _ in range(12):
        make_summary(project, ratings_wanted=2, open_places=2)
    make_summary(project, ratings_wanted=2, open_places=0, withdrawn_at=timezone.now())
    make_summary(project, article=make_article(project, text=""), ratings_wanted=2, open_places=2)
    make_gold(project)
    now = timezone.now()
    for _ in range(2):
        Rating.objects.create(
            summary=Summary.objects.all()[0], rater=make_rater(project), created_at=now, completed_at=now
        )
    Summary.objects.filter(pk=Summary.objects.all()[0].pk).update(open_places=0)
    assert take_assignment(make_rater(project)) is not None

    def missing():
        return overall_progress([project])[project.pk].missing

    before, more = missing(), more_ratings(project, changes)
    assert missing() == before
    change_settings(project, changes)
    assert missing() == before + more


@pytest.mark.parametrize("licence", ["cc-by-4.0", "other", ""])
def test_a_changed_licence_is_recorded(licence):
    project = make_project(licence="mit")
    change_settings(project, {"licence": licence})
    project.refresh_from_db()
    assert project.licence == licence
    entry = project.audit_entries.get(action=Action.SETTINGS_CHANGED)
    assert entry.details == {"licence": {"before": "mit", "after": licence}}


def test_settings_other_than_redundancy_do_not_change_summaries():
    project = make_project()
    summary = make_summary(project, ratings_wanted=2, open_places=2)  # as an import may set it
    assert change_settings(project, {"name": "Renamed", "gold_thresholds": {"grammar": 0.6}}) == 0
    project.refresh_from_db()
    summary.refresh_from_db()
    assert (project.name, project.gold_thresholds, summary.ratings_wanted) == ("Renamed", {"grammar": 0.6}, 2)
    assert project.revision == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"redundancy": 0},
        {"redundancy": 101},
        {"extra_share": 1.2},
        {"extra_share": float("nan")},
        {"lease_minutes": 0},
        {"gold_round_size": 0},
        {"gold_threshold": -0.1},
        {"gold_thresholds": {"grammar": 2}},
        {"gold_thresholds": {"beauty": 0.5}},
        {"gold_thresholds": {"grammar": "high"}},
        {"name": ""},
        {"licence": "CC-BY-4.0"},
        {"licence": "cc by 4.0"},
        {"licence": "cc-by-4.0\n"},
        {"licence": "c" * 41},
        {"slug": "elsewhere"},
        {"revision": 7},
    ],
)
def test_invalid_settings_are_refused_and_change_nothing(changes):
    project = make_project()
    make_summary(project)
    with pytest.raises(DomainError):
        change_settings(project, {"daily_goal": 99, **changes})
    fresh = Project.objects.get(pk=project.pk)
    assert (fresh.daily_goal, fresh.revision, fresh.slug) == (60, 0, project.slug)
