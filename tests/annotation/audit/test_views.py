"""The audit log's page, file and API. Permissions are tested in tests/test_access_matrix.py."""

import csv
from datetime import timedelta
from io import StringIO

import pytest
from django.utils import timezone

from annotation.audit.actions import Action
from annotation.audit.log import acting_as, record
from annotation.models import AuditEntry
from tests.factories import make_member, make_project, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def manager(client, project):
    client.force_login(make_member(project, "manager"))
    return client


def page_of(client, project, path="", **filters):
    answer = client.get(f"/projects/{project.slug}/audit-log/{path}", filters)
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return answer.status_code, " ".join(content.decode().split()) if not path else content.decode()


def test_the_page_filters_by_action_person_and_day(manager, project):
    ada = make_user("ada")
    with acting_as(lambda: ada):
        record(Action.RATER_REMOVED, project, "rater-7", reason="Answers at random")
    changed = {"redundancy": {"before": 1, "after": 3}, "other": ""}
    record(Action.SETTINGS_CHANGED, project, "redundancy", details=changed)
    AuditEntry.objects.create(
        project=project, action="from_a_later_version", object="it", at=timezone.now() - timedelta(days=9)
    )
    record(Action.RATER_REMOVED, make_project(), "rater-of-another-project")
    status, page = page_of(manager, project)
    assert status == 200
    assert "redundancy: 1 → 3</span>" in page
    assert "from_a_later_version" in page
    assert "another-project" not in page
    _, removals = page_of(manager, project, action="rater_removed")
    assert "<q>Answers at random</q>" in removals
    assert "1 entry" in removals
    assert "1 entry" in page_of(manager, project, actor="ada")[1]
    assert "3 entries" in page_of(manager, project, actor="command")[1]  # one for the project itself
    yesterday = (timezone.localdate() - timedelta(days=1)).isoformat()
    assert "3 entries" in page_of(manager, project, since=yesterday)[1]
    assert "from_a_later_version" in page_of(manager, project, until=yesterday)[1]
    assert "No entries match" in page_of(manager, project, action="key_stored")[1]


def test_an_invalid_filter_is_named_on_the_page_and_never_ignored_in_the_file(manager, project):
    for path in ("", "entries.csv"):
        status, page = page_of(manager, project, path, since="yesterday")
        assert status == 422
        assert "Enter a valid date" in page


def test_the_file_has_the_filtered_entries_without_formulas(manager, project):
    record(Action.TOKEN_CREATED, project, "=1+1", reason="+2", details={"language": ["de"]})
    _, text = page_of(manager, project, "entries.csv", action="token_created")
    header, row = csv.reader(StringIO(text))
    assert header == ["at", "actor", "action", "object", "reason", "details"]
    assert row[1:] == ["command", "token_created", "'=1+1", "'+2", '{"language": ["de"]}']


def test_the_api_gives_the_same_entries_page_by_page(manager, project):
    for number in range(3):
        record(Action.FILE_EXPORTED, project, f"file-{number}", details={"language": ["de"]})
    address = f"/api/projects/{project.slug}/audit-log/"
    body = manager.get(address, {"action": "file_exported", "limit": 2}).json()
    assert body["count"] == 3
    assert [row["object"] for row in body["results"]] == ["file-2", "file-1"]
    assert body["results"][0]["details"] == {"language": ["de"]}
    refused = manager.get(address, {"actor": "nobody"})
    assert refused.status_code == 400
    assert "expected one of command" in refused.json()["detail"]
    assert manager.get(address, {"until": "2020-01-01"}).json()["count"] == 0
