"""Inviting people by the API. Permissions are tested in tests/test_access_matrix.py."""

import pytest
from django.core import mail
from django.test import Client

from annotation.models import AuditEntry, Invitation, Membership, Rater
from annotation.people.api_tokens import issue_api_token
from tests.factories import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def send(manager, project):
    token = issue_api_token(manager, "script", scope="manage")[1]

    def send(method, path="", body=None, key=""):
        headers = {"Authorization": f"Bearer {token}"} | ({"Idempotency-Key": key} if key else {})
        address = f"/api/projects/{project.slug}/invitations/{path}"
        return getattr(Client(), method)(address, body, content_type="application/json", headers=headers)

    return send


def join(link, user):
    client = Client()
    client.force_login(user)
    return client.post(link.removeprefix("http://testserver")).status_code


def test_the_link_of_an_invitation_is_returned_once_and_lets_one_person_join(send, manager):
    answer = send("post", body={"role": "annotator", "languages": ["en", "de"], "note": "Ada"})
    assert answer.status_code == 201
    invited = answer.json()
    assert (invited["languages"], invited["status"], invited["note"]) == (["de", "en"], "open", "Ada")
    user = make_user()
    assert join(invited.pop("link"), user) == 302
    assert Rater.objects.get(user=user).languages == ["de", "en"]
    [listed] = send("get").json()["results"]
    assert listed == invited | {"status": "used"}
    assert AuditEntry.objects.get(action="invitation_created").actor_name == manager.get_username()


def test_a_repeated_request_gets_the_same_link_and_mails_it_once(
    send, settings, django_capture_on_commit_callbacks
):
    settings.EMAIL_URL = "smtp://mail.example.org"
    body = {"role": "researcher", "email": "ada@example.org"}
    with django_capture_on_commit_callbacks(execute=True):
        first, second = (send("post", body=body, key="one-key") for _ in range(2))
    assert first.json() == second.json()
    assert Invitation.objects.count() == 1
    [sent] = mail.outbox
    assert (sent.to, first.json()["link"] in sent.body) == (["ada@example.org"], True)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "role: This field is required."),
        ({"role": "owner"}, "role: "),
        ({"role": "annotator"}, "languages: an annotator needs at least one"),
        ({"role": "annotator", "languages": ["de", "german language"]}, "languages: found german language"),
        ({"role": "researcher", "email": "ada@"}, "email: "),
        ({"role": "researcher", "people": "ada@example.org"}, "unknown field 'people'"),
        ({"role": "researcher", "email": "Bob@example.org"}, "has an open invitation"),
    ],
)
def test_an_invalid_invitation_is_refused_by_field(send, body, message):
    send("post", body={"role": "researcher", "email": "bob@example.org"})
    answer = send("post", body=body)
    assert (answer.status_code, message in answer.json()["detail"]) == (400, True), answer.json()
    assert Invitation.objects.count() == 1


def test_a_revoked_link_lets_nobody_join_and_is_revoked_once(send):
    invited = send("post", body={"role": "manager"}).json()
    path = f"{invited['id']}/"
    assert send("delete", path).status_code == 204
    user = make_user()
    assert join(invited["link"], user) == 404
    assert not Membership.objects.filter(user=user).exists()
    again = send("delete", path)
    assert (again.status_code, "revoked" in again.json()["detail"]) == (403, True)
    assert [each["status"] for each in send("get").json()["results"]] == ["revoked"]
