"""Idempotency keys: a repeated request creates nothing twice."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.db.models.signals import post_save
from django.forms.models import model_to_dict
from django.test import Client
from django.utils import timezone

from annotation.models import ApiToken, IdempotencyKey, ImportJob, Project, Rater
from annotation.people.api_tokens import issue_api_token
from annotation.web.idempotency import KEPT, LONGEST_REQUEST, MOST_DELETED
from tests.factories import make_member, make_project, make_user

pytestmark = pytest.mark.django_db
NEW = {"name": "Sent twice", "questionnaire": "seahorse"}
KEY = "one-key-of-mine"


@pytest.fixture
def token(manager):
    return issue_api_token(manager, "script", scope=ApiToken.Scope.MANAGE)[1]


def post(token, address, body, key=KEY, **options):
    headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": key}
    kind = {"content_type": "application/json"} | options
    return Client().post(f"/api/projects/{address}", body, headers=headers, **kind)


def projects_called(name):
    return Project.objects.filter(name=name).count()


def test_a_repeated_request_gets_the_first_answer_and_creates_nothing(token):
    first, second = post(token, "", NEW), post(token, "", NEW)
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json() == second.json()
    assert (first.get("Idempotent-Replayed"), second["Idempotent-Replayed"]) == (None, "true")
    assert projects_called("Sent twice") == 1


def test_another_request_with_the_key_is_refused(token):
    post(token, "", NEW)
    refused = post(token, "", NEW | {"name": "Another"})
    assert (refused.status_code, refused["Content-Type"]) == (422, "application/problem+json")
    assert projects_called("Another") == 0


def test_the_same_key_of_another_account_is_another_key(token):
    other = make_user()
    make_project().memberships.create(user=other, role="manager")
    post(token, "", NEW)
    answer = post(issue_api_token(other, "script", scope="manage")[1], "", NEW | {"slug": "of-another"})
    assert (answer.status_code, answer.json()["slug"]) == (201, "of-another")


def test_a_refused_request_leaves_its_key_unused(token, project):
    taken = NEW | {"slug": project.slug}
    assert post(token, "", taken).status_code == 400
    assert not IdempotencyKey.objects.exists()
    project.delete()
    make_project().memberships.create(user=ApiToken.objects.get().user, role="manager")
    assert post(token, "", taken).status_code == 201


@pytest.mark.parametrize("key", ["", "x" * 101, "a\tb", "schlüssel"])
def test_a_malformed_key_is_refused(token, key):
    refused = post(token, "", NEW, key)
    assert (refused.status_code, "Idempotency-Key: expected 1 to 100" in refused.json()["detail"]) == (
        400,
        True,
    )
    assert projects_called("Sent twice") == 0


def test_a_request_that_comes_while_the_first_is_in_progress_has_to_wait(token):
    meanwhile = []

    def ask_again(**_):
        meanwhile.append(post(token, "", NEW))

    post_save.connect(ask_again, sender=Project)
    try:
        first = post(token, "", NEW)
    finally:
        post_save.disconnect(ask_again, sender=Project)
    [second] = meanwhile
    assert (first.status_code, second.status_code, second["Retry-After"]) == (201, 409, "2")


def test_a_request_that_died_is_taken_over(token):
    post(token, "", NEW | {"name": "Before the crash"})
    died_at = timezone.now() - LONGEST_REQUEST - timedelta(seconds=1)
    IdempotencyKey.objects.update(status=None, answer="", claimed_at=died_at)
    assert post(token, "", NEW | {"name": "Before the crash", "slug": "other"}).status_code == 422
    Project.objects.filter(name="Before the crash").delete()
    assert post(token, "", NEW | {"name": "Before the crash"}).status_code == 201
    assert projects_called("Before the crash") == 1


def test_a_key_is_free_again_after_a_day_and_old_ones_are_deleted(token):
    post(token, "", NEW)
    kept = IdempotencyKey.objects.get()
    IdempotencyKey.objects.update(claimed_at=timezone.now() - KEPT - timedelta(seconds=1))
    fields = model_to_dict(kept, exclude=["id", "user", "key_digest"])
    IdempotencyKey.objects.bulk_create(
        IdempotencyKey(**fields, user=kept.user, key_digest=str(number)) for number in range(MOST_DELETED)
    )
    IdempotencyKey.objects.update(claimed_at=timezone.now() - KEPT - timedelta(seconds=1))
    assert post(token, "", NEW | {"name": "A day later"}, "another").status_code == 201
    assert IdempotencyKey.objects.count() == 2
    assert post(token, "", NEW | {"name": "Two days later"}).status_code == 201
    assert IdempotencyKey.objects.count() == 2


def test_a_raters_token_is_in_the_repeated_answer_too(token, project):
    rater = {"username": "participant-7", "languages": ["en"]}
    first, second = (post(token, f"{project.slug}/raters/", rater) for _ in range(2))
    assert first.json() == second.json()
    assert Rater.objects.count() == 1
    header = {"Authorization": f"Bearer {second.json()['token']}"}
    assert Client().get(f"/api/projects/{project.slug}/rating/guidelines/", headers=header).status_code == 200


def test_neither_the_key_nor_the_answers_token_is_stored(token, project):
    rater = {"username": "participant-7", "languages": ["en"]}
    secret = post(token, f"{project.slug}/raters/", rater).json()["token"]
    stored = str(IdempotencyKey.objects.values_list().get())
    assert KEY not in stored
    assert secret not in stored
    assert "expires_at" not in stored


def test_who_has_left_the_project_gets_no_stored_answer(token, project):
    rater = {"username": "participant-7", "languages": ["en"]}
    post(token, f"{project.slug}/raters/", rater)
    project.memberships.all().delete()
    refused = post(token, f"{project.slug}/raters/", rater)
    assert (refused.status_code, "token" in refused.json()) == (404, False)


def test_a_file_is_told_from_another_by_its_content(token, project, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path

    def send(text):
        file = SimpleUploadedFile("news.jsonl", text)
        sent = Client().post(
            f"/api/projects/{project.slug}/imports/",
            {"format": "examples", "file": file},
            headers={"Authorization": f"Bearer {token}", "Idempotency-Key": KEY},
        )
        return sent.status_code

    article = b'{"article_id": "a1", "article": "It froze.", "language": "en"}'
    assert [send(article), send(article), send(article.replace(b"froze", b"broke"))] == [202, 202, 422]
    job = ImportJob.objects.get()
    assert job.file.read() == article


@pytest.mark.django_db(transaction=True)
def test_requests_at_once_create_one_project():
    user = make_member(make_project(), "manager")
    token = issue_api_token(user, "script", scope="manage")[1]

    def send(_):
        try:
            return post(token, "", NEW).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        statuses = list(threads.map(send, range(8)))
    assert projects_called("Sent twice") == 1
    assert 201 in statuses
    assert set(statuses) <= {201, 409}
