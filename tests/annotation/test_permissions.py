from itertools import product

import pytest
from django.contrib.auth.models import AnonymousUser
from django.utils import timezone

from annotation.errors import NotAllowed, NotFound, NotSignedIn
from annotation.people.members import reinstate_rater, remove_rater, stop_rating
from annotation.permissions import CLOSED_WHILE_RATING, Permission, permissions_of, project_for, projects_for
from tests.factories import make_member, make_project, make_rater, make_user

pytestmark = pytest.mark.django_db

MAY = {
    "annotator": {Permission.RATE},
    "researcher": {
        Permission.SEE_TEXTS_AND_RATINGS,
        Permission.EXPORT_SCORES,
        Permission.MANAGE_RUNS,
        Permission.SEE_PROGRESS,
        Permission.SEE_RESULTS,
        Permission.TAG_DISAGREEMENTS,
        Permission.PREREGISTER,
    },
    "manager": set(Permission) - {Permission.RATE},
}


def member(project, role):
    return make_rater(project).user if role == "annotator" else make_member(project, role)


def test_each_role_has_exactly_the_permissions_of_the_table(subtests):
    project = make_project()
    users = {role: member(project, role) for role in MAY}
    for (role, user), permission in product(users.items(), Permission):
        with subtests.test(f"{permission} as {role}"):
            if permission in MAY[role]:
                assert project_for(user, project.slug, permission) == project
            else:
                with pytest.raises(NotAllowed, match=role):
                    project_for(user, project.slug, permission)


def test_the_list_of_projects_has_only_projects_that_the_user_may_open(subtests):
    project = make_project()
    users = {role: member(project, role) for role in MAY}
    stranger = make_user()
    make_project()
    for (role, user), permission in product(users.items(), Permission):
        with subtests.test(f"{permission} as {role}"):
            assert list(projects_for(user, permission)) == ([project] if permission in MAY[role] else [])
            assert not projects_for(stranger, permission).exists()
            assert not projects_for(AnonymousUser(), permission).exists()


def test_a_member_of_one_project_is_a_stranger_to_another(subtests):
    project, other = make_project(), make_project()
    users = {role: member(project, role) for role in MAY}
    for (role, user), permission in product(users.items(), Permission):
        with subtests.test(f"{permission} as {role}"), pytest.raises(NotFound):
            project_for(user, other.slug, permission)


def test_strangers_and_superusers_cannot_tell_whether_a_project_exists(subtests):
    project, stranger, superuser = make_project(), make_user(), make_user()
    superuser.is_superuser = superuser.is_staff = True
    superuser.save()
    for permission in Permission:
        with subtests.test(str(permission)):
            messages = set()
            for user in (AnonymousUser(), stranger, superuser):
                for slug in (project.slug, "no-such-project"):
                    with pytest.raises(NotFound) as refusal:
                        project_for(user, slug, permission)
                    messages.add(str(refusal.value))
            assert len(messages) == 1


@pytest.fixture
def published():
    return make_project(results_published_at=timezone.now())


def test_anybody_may_see_published_results_and_do_nothing_else(subtests, published):
    stranger = make_user()
    for permission in Permission:
        with subtests.test(str(permission)):
            for user in (AnonymousUser(), stranger):
                if permission == Permission.SEE_RESULTS:
                    assert project_for(user, published.slug, permission).only_published
                else:
                    with pytest.raises(NotFound):
                        project_for(user, published.slug, permission)
                assert permissions_of(user, published) == {Permission.SEE_RESULTS}


def test_published_projects_are_not_listed_for_strangers(published):
    assert not projects_for(make_user(), Permission.SEE_RESULTS).exists()


def test_a_rater_of_the_project_does_not_see_published_results(published):
    rater = make_rater(published)
    with pytest.raises(NotAllowed):
        project_for(rater.user, published.slug, Permission.SEE_RESULTS)
    remove_rater(rater)
    with pytest.raises(NotFound, match="reinstate you"):
        project_for(rater.user, published.slug, Permission.SEE_RESULTS)
    assert permissions_of(rater.user, published) == set()


@pytest.mark.parametrize("role", ["researcher", "manager"])
def test_publishing_does_not_change_the_permissions_of_members(published, role):
    user = make_member(published, role)
    assert permissions_of(user, published) == MAY[role]
    assert not project_for(user, published.slug, Permission.SEE_RESULTS).only_published


def test_only_anonymous_visitors_are_asked_to_sign_in():
    project = make_project()
    with pytest.raises(NotSignedIn):
        project_for(AnonymousUser(), project.slug, Permission.SEE_RESULTS)
    with pytest.raises(NotSignedIn):
        project_for(AnonymousUser(), "no-such-project", Permission.SEE_RESULTS)
    with pytest.raises(NotFound) as refusal:
        project_for(make_user(), project.slug, Permission.SEE_RESULTS)
    assert not isinstance(refusal.value, NotSignedIn)


@pytest.mark.parametrize("role", ["researcher", "manager"])
def test_others_answers_are_closed_to_people_who_rate_until_they_stop(role):
    project = make_project()
    user = make_member(project, role)
    rater = make_rater(project, user=user)
    assert permissions_of(user, project) == (MAY[role] | {Permission.RATE}) - CLOSED_WHILE_RATING
    for permission in MAY[role] & CLOSED_WHILE_RATING:
        assert not projects_for(user, permission).exists()
        with pytest.raises(NotAllowed, match="choose Stop rating"):
            project_for(user, project.slug, permission)
    stop_rating(rater)
    assert permissions_of(user, project) == MAY[role] | {Permission.RATE}
    assert list(projects_for(user, Permission.SEE_TEXTS_AND_RATINGS)) == [project]
    reinstate_rater(rater)
    assert not permissions_of(user, project) & CLOSED_WHILE_RATING


def test_one_query_brings_the_project_and_one_the_roles(django_assert_num_queries):
    project = make_project()
    user = make_member(project, "manager")
    with django_assert_num_queries(2):
        found = project_for(user, project.slug, Permission.SEE_RESULTS)
    with django_assert_num_queries(0):
        assert found.reader_may == MAY["manager"]


def test_a_removed_rater_has_no_permissions():
    rater = make_rater(make_project())
    remove_rater(rater)
    with pytest.raises(NotFound):
        project_for(rater.user, rater.project.slug, Permission.RATE)
