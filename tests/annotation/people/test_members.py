import pytest
from django.utils import timezone

from annotation.errors import DomainError, NotAllowed
from annotation.models import Membership, Project, Rater, Rating, Summary
from annotation.people.members import (
    effect_of_removal,
    reinstate_rater,
    remove_member,
    remove_rater,
    set_rater_languages,
    suspend_rater,
)
from annotation.rating.assigning import take_assignment
from tests.factories import make_gold, make_project, make_rater, make_summary, make_user

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("status", "act"),
    [
        ("removed", suspend_rater),
        ("training", reinstate_rater),
    ],
)
def test_invalid_status_changes_are_refused(status, act):
    with pytest.raises(NotAllowed):
        act(make_rater(make_project(), status=status))


@pytest.mark.parametrize("stop", [suspend_rater, remove_rater])
@pytest.mark.parametrize("status", ["training", "qualified"])
def test_reinstating_restores_the_previous_status(stop, status):
    rater = make_rater(make_project(), status=status)
    stop(rater)
    reinstate_rater(rater)
    rater.refresh_from_db()
    assert rater.status == status


def test_removing_and_reinstating_raise_the_projects_revision():
    rater = make_rater(make_project())
    revisions = [0]
    for act in (remove_rater, reinstate_rater):
        act(rater)
        revisions.append(Project.objects.get(pk=rater.project_id).revision)
    assert revisions == [0, 1, 2]


def test_a_member_can_be_removed_but_not_the_last_manager():
    project = make_project()
    first, second = (
        Membership.objects.create(project=project, user=make_user(), role="manager") for _ in range(2)
    )
    researcher = Membership.objects.create(project=project, user=make_user(), role="researcher")
    remove_member(researcher)
    remove_member(first)
    with pytest.raises(NotAllowed, match="needs a manager"):
        remove_member(second)
    assert list(project.memberships.all()) == [second]


def test_the_predicted_effect_of_a_removal_matches_the_removal():
    project = make_project()
    rater, other = make_rater(project), make_rater(project)
    once, twice, gold = make_summary(project), make_summary(project), make_gold(project).summary
    bare = make_summary(project, ratings_wanted=0)
    make_summary(project)
    now = timezone.now()
    for summary, by in ((once, rater), (twice, rater), (twice, other), (gold, rater), (bare, rater)):
        Rating.objects.create(summary=summary, rater=by, created_at=now, completed_at=now)
    Summary.objects.filter(pk__in=[once.pk, twice.pk]).update(open_places=0)
    take_assignment(rater)

    def places() -> dict[int, int]:
        return dict(Summary.objects.values_list("pk", "open_places"))

    expected, before, counted = effect_of_removal(rater), places(), Rating.objects.countable().count()
    remove_rater(rater)
    after = places()
    assert expected.summaries == sum(after[pk] > before[pk] for pk in before) == 2
    assert expected.ratings == counted - Rating.objects.countable().count() == 4


def test_open_summaries_in_languages_that_a_rater_loses_return_to_the_pool():
    project = make_project()
    rater = make_rater(project, languages=["en", "de"])
    english = make_summary(project)
    assert take_assignment(rater).summary == english
    set_rater_languages(rater, ["en", "tr"])
    assert rater.assignments.get().state == "open"
    set_rater_languages(rater, ["tr"])
    english.refresh_from_db()
    assert (rater.assignments.get().state, english.open_places) == ("released", 1)
    assert Rater.objects.get(pk=rater.pk).languages == ["tr"]
    changed = project.audit_entries.filter(action="rater_languages_changed")
    assert [entry.details["languages"] for entry in changed] == [
        {"before": ["en", "tr"], "after": ["tr"]},
        {"before": ["en", "de"], "after": ["en", "tr"]},
    ]
    with pytest.raises(DomainError, match="suspend"):
        set_rater_languages(rater, [])


def test_a_rater_left_without_a_qualified_language_is_in_training_again():
    rater = make_rater(make_project(), languages=["en"])
    assert rater.status == "qualified"
    set_rater_languages(rater, ["tr"])
    assert Rater.objects.get(pk=rater.pk).status == "training"
    set_rater_languages(rater, ["en", "tr"])
    assert Rater.objects.get(pk=rater.pk).status == "qualified", "the round that they passed still counts"
