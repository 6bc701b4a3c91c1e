from datetime import timedelta

import pytest
from django.apps import apps
from django.db import connection
from django.urls import reverse
from django.utils import timezone

from annotation.audit.actions import Action
from annotation.errors import DomainError, InvalidFields, NotAllowed
from annotation.models import ApiToken, AuditEntry, Project, Role, Session
from annotation.people.api_tokens import issue_api_token
from annotation.projects.archiving import archive_project
from annotation.projects.deleting import counts_below, delete_project
from scoring.models import Batch
from tests.annotation.rating.rating_steps import signed_in, text_of
from tests.campaigns import make_campaign
from tests.factories import make_member, make_project, make_summary

pytestmark = pytest.mark.django_db


def row_counts():
    """Return how many rows each table has that may belong to a project, unlike tokens and sessions."""
    models = (*apps.get_app_config("annotation").get_models(), *apps.get_app_config("scoring").get_models())
    return {model.__name__: model.objects.count() for model in models if model not in (ApiToken, Session)}


def test_a_project_is_deleted_with_everything_below_it_and_nothing_else(
    settings, tmp_path, django_capture_on_commit_callbacks
):
    settings.MEDIA_ROOT = tmp_path
    make_summary(make_project())
    before = row_counts()
    campaign = make_campaign("own")
    project, manager = campaign.project, campaign.users["manager"]
    with pytest.raises(DomainError, match="Archive it first"):
        delete_project(project, manager, project.slug)
    limited, unlimited = (issue_api_token(manager, "a", project=only)[0] for only in (project, None))
    archive_project(project, manager)
    assert counts_below(project)["ratings"] > 0
    with pytest.raises(InvalidFields, match="expected"):
        delete_project(project, manager, "another")
    with pytest.raises(NotAllowed):
        delete_project(project, campaign.users["researcher"], project.slug)
    Batch.objects.filter(run__setup__project=project).update(
        leased_until=timezone.now() + timedelta(minutes=1), finished_at=None
    )
    with pytest.raises(DomainError, match="busy"):
        delete_project(project, manager, project.slug)
    Batch.objects.update(leased_until=None)

    assert any(tmp_path.rglob("*upload*"))
    with django_capture_on_commit_callbacks(execute=True):
        delete_project(project, manager, f" {project.slug} ")
    connection.check_constraints()
    assert set(ApiToken.objects.filter(pk__in=[limited.pk, unlimited.pk])) == {unlimited}
    after = row_counts()
    kept = {"Questionnaire", "Question", "AuditEntry"}  # questions belong to no project; the log is for ever
    assert {name: n for name, n in after.items() if name not in kept} == {
        name: n for name, n in before.items() if name not in kept
    }
    assert AuditEntry.objects.first().action == Action.PROJECT_DELETED
    assert not any(tmp_path.rglob("*upload*"))


def test_the_page_asks_for_the_projects_slug():
    project = make_project()
    manager = make_member(project, Role.MANAGER)
    browser = signed_in(manager)
    delete = reverse("project_delete", args=[project.slug])
    archived = reverse("project_archived", args=[project.slug])
    assert "Only an archived project can be deleted" in text_of(browser.get(delete))
    assert browser.post(delete, {"slug": project.slug}).status_code == 400
    archive_project(project, manager)
    assert delete in browser.get(archived).content.decode()
    assert "cannot be undone" in text_of(browser.get(delete))
    refused = browser.post(delete, {"slug": "x"})
    assert (refused.status_code, project.slug in text_of(refused)) == (422, True)
    assert browser.post(delete, {"slug": project.slug}).url == reverse("home")
    assert not Project.objects.exists()
