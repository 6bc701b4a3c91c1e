import pytest
from django.contrib.auth.models import AnonymousUser

from annotation.errors import NotAllowed, NotFound
from annotation.permissions import Permission, project_for
from annotation.projects.settings import publish_results, unpublish_results
from tests.factories import make_member, make_project, make_rater

pytestmark = pytest.mark.django_db


def published_at(project):
    project.refresh_from_db()
    return project.results_published_at


def test_results_are_public_only_between_publishing_and_unpublishing():
    project = make_project()
    manager = make_member(project, "manager")
    assert published_at(project) is None
    publish_results(project, manager)
    assert project_for(AnonymousUser(), project.slug, Permission.SEE_RESULTS) == project
    unpublish_results(project, manager)
    with pytest.raises(NotFound):
        project_for(AnonymousUser(), project.slug, Permission.SEE_RESULTS)


def test_publishing_twice_keeps_the_first_date():
    project = make_project()
    manager = make_member(project, "manager")
    publish_results(project, manager)
    first = published_at(project)
    publish_results(project, manager)
    assert published_at(project) == first


@pytest.mark.parametrize("act", [publish_results, unpublish_results])
def test_only_managers_of_the_project_publish_and_unpublish(act):
    project = make_project()
    publish_results(project, make_member(project, "manager"))
    before = published_at(project)
    for user, refusal in (
        (make_member(project, "researcher"), NotAllowed),
        (make_rater(project).user, NotAllowed),
        (make_member(make_project(), "manager"), NotFound),
        (AnonymousUser(), NotFound),
    ):
        with pytest.raises(refusal):
            act(project, user)
    assert published_at(project) == before
