"""Error pages, and errors of the API, for requests that fail outside our views."""

import os
import re
import subprocess
import sys

import pytest
from django.core.exceptions import PermissionDenied
from django.test import Client, override_settings
from django.urls import path, reverse

from tests.scoring.processes import PATIENCE_S, ROOT
from touchstone import urls
from touchstone.urls import handler400, handler403, handler404, handler500  # noqa: F401 - Django looks here

pytestmark = pytest.mark.django_db


def fail(_request):
    raise RuntimeError("a secret of the server")


def fill(_request):
    with open("/dev/full", "w") as full:
        full.write("more")


def deny(_request):
    raise PermissionDenied


urlpatterns = [
    *(path(f"{prefix}fails", fail) for prefix in ("", "api/")),
    path("fills", fill),
    *(path(f"{prefix}denies", deny) for prefix in ("", "api/")),
    *urls.urlpatterns,
]


@pytest.fixture
def client(django_user_model):
    client = Client(raise_request_exception=False)
    client.force_login(django_user_model.objects.create_user("somebody"))
    return client


def links_home(response, status, title):
    page = response.content.decode()
    return (
        response.status_code == status
        and f"<h1>{title}</h1>" in page
        and f'<a class="button" href="{reverse("home")}">' in page
    )


def test_an_unknown_address_links_home(client):
    assert links_home(client.get("/no/such/page"), 404, "Page not found")
    assert links_home(Client().get("/no/such/page"), 404, "Page not found")


@override_settings(ROOT_URLCONF=__name__)
def test_server_errors_and_denials_link_home_and_reveal_nothing(client):
    response = client.get("/fails")
    assert links_home(response, 500, "Server error")
    assert "secret" not in response.content.decode()
    assert links_home(client.get("/denies"), 403, "Access denied")


def test_an_address_that_only_receives_forms_leads_back_when_it_is_opened(client):
    for response in (client.get(reverse("token_new")), client.get(reverse("sign_out"))):
        assert links_home(response, 405, "Nothing to show here")
        assert "POST" in response["Allow"]
    assert client.head(reverse("token_new")).status_code == 405


def test_a_form_without_the_csrf_token_links_home(django_user_model):
    client = Client(enforce_csrf_checks=True)
    client.force_login(django_user_model.objects.create_user("somebody"))
    assert links_home(client.post(reverse("token_new")), 403, "Form not accepted")


def test_an_unknown_host_name_links_home(client):
    response = client.get("/", headers={"host": "elsewhere.example"})
    assert links_home(response, 400, "Request not understood")


@override_settings(ROOT_URLCONF=__name__)
@pytest.mark.parametrize(
    ("address", "status", "title"),
    [
        ("no-such", 404, "Not Found"),
        ("fails", 500, "Internal Server Error"),
        ("denies", 403, "Forbidden"),
        ("projects/?limit=x", 400, "Bad Request"),
        ("projects/?limit=%00", 400, "Bad Request"),
        ("projects/nowhere/", 404, "Not Found"),
        ("projects/nowhere/raters/", 405, "Method Not Allowed"),
    ],
)
def test_errors_of_the_api_are_problem_details(client, address, status, title):
    assert_problem(client.get(f"/api/{address}"), status, title)


@pytest.mark.parametrize("address", ["projects/", "schema/"])
def test_who_is_not_signed_in_gets_problem_details_from_the_api(address):
    assert_problem(Client().get(f"/api/{address}"), 401, "Unauthorized")


def assert_problem(response, status, title):
    told = response.json()
    detail = told.pop("detail")
    assert told == {"type": "about:blank", "title": title, "status": status}
    assert detail
    assert (response.status_code, response["Content-Type"]) == (status, "application/problem+json")


def test_favicon_redirects_to_the_icon(client):
    """Browsers request it for responses that are not pages, such as a CSV file or the API's."""
    response = client.get("/favicon.ico")
    assert response.url == "/static/img/mark.svg"
    assert Client().get(response.url)["Content-Type"] == "image/svg+xml"


WITHOUT_DATABASE = """
from django.test import Client
client = Client(raise_request_exception=False, SERVER_NAME="localhost")
client.cookies["sessionid"] = "a" * 32
for response in (client.get("/"), client.post("/sign-in/"), client.get("/api/projects/")):
    print(response.status_code, response.get("Retry-After"), "refresh" in response.text, response.text)
"""


def test_while_the_database_is_away_pages_say_so_and_try_again(tmp_path):
    done = subprocess.run(
        [sys.executable, "manage.py", "shell", "--no-imports", "-c", WITHOUT_DATABASE],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": f"sqlite:///{tmp_path}/no folder/data.sqlite3"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    )
    page, form, api = re.findall(r"^(\d{3} .*?)(?=^\d{3} |\Z)", done.stdout, re.MULTILINE | re.DOTALL)
    assert page.startswith("503 5 True ")
    assert "This page tries again by itself." in page
    assert form.startswith("503 5 False ")
    assert "Nothing was saved. Reload this page to send it again." in form
    assert api.startswith("503 5 False {")
    assert '"detail": "Touchstone cannot reach its database at the moment.' in api
    assert "/: The database cannot be used: unable to open database file" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_full_disk_is_named(client, settings):
    settings.ROOT_URLCONF = __name__
    response = client.get("/fills")
    assert response.status_code == 503
    assert "A disk of the server is full." in response.text
