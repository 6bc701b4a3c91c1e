"""The id of a request in its answer, on error pages and in the log as JSON."""

import json
import subprocess
import sys

import pytest
from django.test import Client, override_settings
from django.urls import path

from annotation.web.request_ids import JsonLines
from tests.scoring.processes import PATIENCE_S, ROOT, surroundings
from touchstone import urls
from touchstone.urls import handler400, handler403, handler404, handler500  # noqa: F401 - Django looks here

pytestmark = pytest.mark.django_db


def fail(_request):
    raise RuntimeError("two\nlines")


def fill(_request):
    with open("/dev/full", "w") as full:
        full.write("more")


urlpatterns = [path("fails", fail), path("fills", fill), *urls.urlpatterns]


@pytest.fixture
def client(django_user_model):
    client = Client(raise_request_exception=False)
    client.force_login(django_user_model.objects.create_user("somebody"))
    return client


def test_each_request_has_an_id_of_its_own(client):
    ids = [client.get(address)["X-Request-Id"] for address in ("/", "/", "/no/such/page", "/api/projects/")]
    assert len(set(ids)) == 4
    assert all(len(each) == 16 for each in ids)


@pytest.mark.parametrize("is_trusted", [True, False])
def test_the_id_of_a_trusted_proxy_is_kept(client, settings, is_trusted):
    settings.BEHIND_HTTPS_PROXY = is_trusted
    answered = client.get("/", headers={"x-request-id": "3f2a.B-c_9"})["X-Request-Id"]
    assert (answered == "3f2a.B-c_9") == is_trusted


@pytest.mark.parametrize("given", ["", "a" * 65, "two words", "a\n", "<b>", "é"])
def test_an_id_that_is_not_sane_is_replaced(client, settings, given):
    settings.BEHIND_HTTPS_PROXY = True
    answered = client.get("/", headers={"x-request-id": given})["X-Request-Id"]
    assert answered != given
    assert len(answered) == 16


@override_settings(ROOT_URLCONF=__name__)
@pytest.mark.parametrize(("address", "status"), [("/fails", 500), ("/fills", 503)])
def test_pages_of_server_errors_show_the_id(client, address, status):
    response = client.get(address)
    assert response.status_code == status
    assert f"Tell your administrator: request {response['X-Request-Id']}" in response.text


def test_other_refusals_show_none(client):
    assert "administrator" not in client.get("/no/such/page").text


@override_settings(ROOT_URLCONF=__name__)
def test_a_line_of_the_log_is_json_with_the_request(client, caplog):
    response = client.get("/fails")
    (record,) = [each for each in caplog.records if each.name == "django.request"]
    line = JsonLines().format(record)
    found = json.loads(line)
    traceback = found.pop("traceback")
    assert "\n" not in line
    assert found.pop("time").endswith("+00:00")
    assert found == {
        "level": "ERROR",
        "logger": "django.request",
        "message": "Internal Server Error: /fails",
        "request_id": response["X-Request-Id"],
        "method": "GET",
        "path": "/fails",
        "status": 500,
    }
    assert traceback.startswith("Traceback")
    assert traceback.endswith("RuntimeError: two\nlines")


def test_the_setting_makes_the_log_json(tmp_path):
    program = "import logging; logging.getLogger('any').warning('Found %s.', 'ü')"
    done = subprocess.run(
        [sys.executable, "manage.py", "shell", "--no-imports", "-c", program],
        cwd=ROOT,
        env=surroundings(tmp_path, LOG_FORMAT="json"),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    )
    found = json.loads(done.stderr)
    assert (found["level"], found["logger"], found["message"]) == ("WARNING", "any", "Found ü.")
    assert "request_id" not in found
