"""What the audit log holds, and that nobody can change it."""

import json
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction

from annotation.audit.actions import Action
from annotation.audit.log import acting_as, record
from annotation.exports.exporter import open_export
from annotation.gold.gold_set import AgreedAnswer, remove_from_gold_set, set_gold_answers
from annotation.gold.qualified_languages import qualify_rater
from annotation.guidelines.versions import set_default_language
from annotation.models import AuditEntry
from annotation.people.api_tokens import delete_api_token, issue_api_token
from annotation.people.invitations import accept_invitation, invite, revoke_invitation
from annotation.people.members import (
    reinstate_rater,
    remove_member,
    remove_rater,
    suspend_rater,
)
from annotation.projects.settings import change_settings, create_project, publish_results, unpublish_results
from annotation.protocol import SEAHORSE
from tests.factories import (
    ALL_YES,
    make_member,
    make_project,
    make_rater,
    make_summary,
    make_user,
    publish_guidelines,
)

pytestmark = pytest.mark.django_db


def actions_of(project):
    return list(project.audit_entries.order_by("pk").values_list("action", flat=True))


def test_people_and_their_invitations_are_recorded_with_who_acted():
    project = make_project()
    manager, invited = make_member(project, "manager"), make_user()
    rater = make_rater(project, status="training")
    with acting_as(lambda: manager):
        _, token = invite(project, "researcher", note="Ada")
        revoke_invitation(invite(project, "annotator", ["de"])[0])
        accept_invitation(token, invited)
        qualify_rater(rater, manager, "en")
        suspend_rater(rater, "Away.")
        reinstate_rater(rater)
        remove_rater(rater)
        remove_rater(rater)  # nothing happens
        remove_member(invited.memberships.get())
    assert actions_of(project) == [
        "project_created",
        "invitation_created",
        "invitation_created",
        "invitation_revoked",
        "invitation_accepted",
        "rater_qualified",
        "rater_suspended",
        "rater_reinstated",
        "rater_removed",
        "member_removed",
    ]
    accepted = project.audit_entries.get(action="invitation_accepted")
    assert (accepted.actor, accepted.actor_name) == (invited, invited.username)
    removed = project.audit_entries.get(action="rater_removed")
    assert (removed.actor, removed.object) == (manager, rater.pseudonym)
    assert project.audit_entries.get(action="rater_suspended").reason == "Away."
    assert token not in json.dumps(list(AuditEntry.objects.values("object", "reason", "details")))


def test_the_project_and_its_data_are_recorded():
    manager = make_user()
    with acting_as(lambda: manager):
        project = create_project("Recorded", SEAHORSE, manager)
        summary = make_summary(project)
        change_settings(project, {"redundancy": 2, "name": "Recorded"})
        change_settings(project, {"redundancy": 2})  # nothing happens
        publish_results(project, manager)
        publish_results(project, manager)
        unpublish_results(project, manager)
        publish_guidelines(project)
        answers = {key: AgreedAnswer(value, "A SECRET REASON") for key, value in ALL_YES.items()}
        set_gold_answers(summary, answers)
        remove_from_gold_set(summary, to_be_rated=True)
        open_export(project, "ratings", {"language": ["en"]})
    assert actions_of(project) == [
        "project_created",
        "settings_changed",
        "results_published",
        "results_unpublished",
        "guidelines_published",
        "gold_stored",
        "gold_removed",
        "file_exported",
    ]
    changed = project.audit_entries.get(action="settings_changed")
    assert changed.details == {"redundancy": {"before": 1, "after": 2}}
    assert project.audit_entries.get(action="file_exported").details["language"] == ["en"]
    assert "SECRET" not in json.dumps(list(project.audit_entries.values("object", "reason", "details")))


def test_a_new_default_language_is_recorded_once():
    project = make_project()
    manager = make_member(project, "manager")
    make_summary(project, language="de")
    for _ in range(2):
        set_default_language(project, manager, "de")
    assert actions_of(project) == ["project_created", "settings_changed"]
    details = project.audit_entries.get(action="settings_changed").details
    assert details == {"default_language": {"before": "en", "after": "de"}}


def test_tokens_are_recorded_without_a_project_and_commands_without_a_person():
    user = make_user()
    token, text = issue_api_token(user, "laptop")
    with acting_as(lambda: user):
        delete_api_token(user, token.pk)
    deleted, created = AuditEntry.objects.all()
    assert (created.action, created.actor, created.actor_name) == ("token_created", None, "")
    assert (deleted.action, deleted.actor, deleted.project, deleted.object) == (
        "token_deleted",
        user,
        None,
        "laptop",
    )
    assert text not in json.dumps(list(AuditEntry.objects.values("object", "details")))


def test_a_request_is_recorded_as_its_users(client):
    project = make_project()
    manager, rater = make_member(project, "manager"), make_rater(project)
    client.force_login(manager)
    client.post(f"/projects/{project.slug}/people/raters/{rater.pk}/suspend/", {"reason": "Away."})
    token = issue_api_token(manager, "notebook")[1]
    client.logout()
    exports = f"/api/projects/{project.slug}/exports/ratings/"
    assert client.get(exports, headers={"Authorization": f"Bearer {token}"}).status_code == 200
    entries = project.audit_entries.exclude(action="project_created")
    assert {(entry.action, entry.actor) for entry in entries} == {
        ("rater_suspended", manager),
        ("file_exported", manager),
    }


def test_what_is_rolled_back_is_not_recorded():
    project = make_project()
    with transaction.atomic():
        publish_results(project, make_member(project, "manager"))
        transaction.set_rollback(True)
    assert actions_of(project) == ["project_created"]


@pytest.mark.parametrize(
    "change", ["UPDATE annotation_auditentry SET reason = ''", "DELETE FROM annotation_auditentry"]
)
def test_the_database_refuses_to_change_or_delete_entries(change):
    record(Action.PROJECT_CREATED, make_project(), "it", reason="because")
    with pytest.raises(DatabaseError, match="never changed or deleted"), transaction.atomic():
        connection.cursor().execute(change)
    assert AuditEntry.objects.filter(reason="because").exists()


def test_entries_outlive_their_project_and_their_actor():
    project, manager = make_project(), make_user()
    with acting_as(lambda: manager):
        record(Action.SETTINGS_CHANGED, project, "name")
    ids = project.pk, manager.pk
    project.delete()
    manager.delete()
    entry = AuditEntry.objects.get(action="settings_changed")
    assert (entry.project_id, entry.actor_id) == ids
    assert entry.actor_name == manager.username


@pytest.mark.django_db(transaction=True)
def test_flushing_the_database_empties_the_log_and_keeps_it_guarded():
    record(Action.PROJECT_CREATED, None, "it")
    call_command("flush", interactive=False, verbosity=0)
    assert not AuditEntry.objects.exists()
    record(Action.PROJECT_CREATED, None, "it")
    with pytest.raises(DatabaseError, match="never changed or deleted"), transaction.atomic():
        AuditEntry.objects.all().delete()


def test_every_action_is_recorded_somewhere():
    root = Path(__file__).resolve().parents[3]
    files = [path for app in ("annotation", "scoring", "metaeval") for path in (root / app).rglob("*.py")]
    code = "".join(path.read_text() for path in files if path.name != "actions.py")
    assert [action.name for action in Action if f"Action.{action.name}" not in code] == []
