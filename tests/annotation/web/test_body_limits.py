"""What a request may send, and to where."""

import pytest
from django.conf import settings
from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.test import Client
from django.urls import reverse

from annotation.web.body_limits import STRANGERS_BYTES
from tests.factories import make_member

pytestmark = pytest.mark.django_db

FILE = b'--b\r\nContent-Disposition: form-data; name="file"; filename="f.jsonl"\r\n\r\n%b\r\n--b--\r\n'


def send(client: Client, address: str, size: int):
    content = FILE % (b"x" * (size - len(FILE % b"")))
    return client.post(address, content, content_type="multipart/form-data; boundary=b")


@pytest.fixture
def manager(client, project):
    client.force_login(make_member(project, "manager"))
    return client


@pytest.mark.parametrize("name", ["sign_in", "imports", "progress", "admin:login"])
def test_a_stranger_may_not_send_much(client, project, name):
    address = reverse(name, args=[project.slug] if name in ("imports", "progress") else [])
    response = send(client, address, STRANGERS_BYTES + 1)
    assert response.status_code == 413
    assert "Too much was sent" in response.content.decode()
    assert send(client, address, STRANGERS_BYTES).status_code != 413


def test_a_form_without_files_may_be_two_mebibytes_long(manager, project):
    address = reverse("progress", args=[project.slug])
    assert send(manager, address, settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1).status_code == 413
    assert send(manager, address, settings.DATA_UPLOAD_MAX_MEMORY_SIZE).status_code != 413


@pytest.mark.parametrize("name", ["imports", "model_import", "model_register"])
def test_a_form_with_files_may_have_two_of_the_largest(manager, project, name, settings):
    settings.UPLOAD_MAX_BYTES = 1024 * 1024
    limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 2 * settings.UPLOAD_MAX_BYTES
    address = reverse(name, args=[project.slug])
    assert send(manager, address, limit).status_code != 413
    assert send(manager, address, limit + 1).status_code == 413


def test_a_file_that_no_form_asks_for_is_not_stored(client, project, settings, monkeypatch):
    stored = []
    monkeypatch.setattr(TemporaryFileUploadHandler, "new_file", lambda *_: stored.append(1))
    response = send(client, reverse("sign_in"), 1000)
    assert response.status_code == 200
    assert not response.wsgi_request.FILES
    assert not stored


def test_a_body_without_its_length_is_refused(client):
    response = client.post(reverse("sign_in"), headers={"Content-Length": "x"})
    assert response.status_code == 413
