import pytest
from django.urls import reverse

from annotation.errors import DomainError, NotAllowed
from annotation.exports.exporter import open_export_for
from annotation.models import Assignment, ImportJob, Project, Role, Summary
from annotation.permissions import Permission, permissions_of, projects_for
from annotation.projects.archiving import archive_project, restore_project
from annotation.rating.assigning import take_assignment
from tests.annotation.imports.importing_steps import load
from tests.annotation.rating.rating_steps import at_stage, signed_in, text_of
from tests.factories import make_member, make_rater, make_summary
from tests.import_files import jsonl

pytestmark = pytest.mark.django_db


def test_an_archived_project_is_read_only_for_every_role(project, manager, tmp_path):
    make_summary(project)
    rater, researcher = make_rater(project), make_member(project, Role.RESEARCHER)
    held = take_assignment(rater)
    archive_project(project, manager)
    assert permissions_of(rater.user, project) == frozenset()
    assert permissions_of(researcher, project) == {
        Permission.SEE_TEXTS_AND_RATINGS,
        Permission.SEE_PROGRESS,
        Permission.SEE_RESULTS,
        Permission.EXPORT_SCORES,
    }
    assert not {Permission.MANAGE_PROJECT, Permission.MANAGE_PEOPLE, Permission.MANAGE_RUNS} & permissions_of(
        manager, project
    )
    assert open_export_for(manager, project, "ratings", {}).name == "ratings"
    assert not projects_for(manager, Permission.SEE_PROGRESS).exists()
    assert (Assignment.objects.get().state, Summary.objects.get().open_places) == ("released", 1)
    for step in (lambda: at_stage(held, 2), lambda: take_assignment(rater)):
        with pytest.raises(NotAllowed, match="archived"):
            step()
    row = {"id": "x", "article_id": "a", "summary": "S.", "article": "A.", "system": "s", "language": "en"}
    path = jsonl(tmp_path / "new.jsonl", row)
    with pytest.raises(DomainError, match="archived"):
        load(project, "examples", path)

    restore_project(project, manager)
    assert take_assignment(rater) == held
    assert Permission.MANAGE_PROJECT in permissions_of(manager, project)


def test_only_a_manager_archives_and_not_during_an_import(project, manager):
    with pytest.raises(NotAllowed):
        archive_project(project, make_member(project, Role.RESEARCHER))
    ImportJob.objects.create(project=project, format="examples", file_name="a.jsonl")
    with pytest.raises(DomainError, match="import is in progress"):
        archive_project(project, manager)
    assert Project.objects.get().archived_at is None


def test_a_project_is_archived_in_its_settings_and_restored_from_the_list(project, manager):
    browser, rater = signed_in(manager), signed_in(make_rater(project).user)
    archive, archived, restore, settings, rate, progress, home = (
        reverse(name, args=[project.slug] if name != "home" else [])
        for name in (
            "project_archive",
            "project_archived",
            "project_restore",
            "project_settings",
            "rate",
            "progress",
            "home",
        )
    )
    assert archive in browser.get(settings).content.decode()
    assert "read-only" in text_of(browser.get(archive))
    assert browser.post(archive).url == archived
    assert "Archived projects (1)" in text_of(browser.get(home))
    assert project.name not in text_of(rater.get(home))
    refused = rater.get(rate)
    assert (refused.status_code, "is archived" in text_of(refused)) == (403, True)
    refused = browser.get(settings)
    assert (refused.status_code, "is archived" in text_of(refused)) == (403, True)
    assert archived in browser.get(progress).content.decode()
    assert browser.post(restore).url == progress
    assert "Archived projects" not in text_of(browser.get(home))
    assert browser.get(settings).status_code == 200
