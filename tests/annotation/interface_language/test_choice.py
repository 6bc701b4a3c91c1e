"""Which language a page speaks, and how a person's choice is kept."""

import pytest
from django.test import Client

from annotation.models import InterfaceLanguage
from annotation.rating.assigning import take_assignment
from tests.factories import PASSWORD, make_member, make_project, make_rater, make_summary, make_user

pytestmark = pytest.mark.django_db


def sign_in(client, user):
    client.post("/sign-in/", {"username": user.username, "password": PASSWORD})


def page(client, address, **headers):
    return client.get(address, headers=headers).content.decode()


def test_a_page_speaks_the_browsers_language(client):
    german = page(client, "/sign-in/", accept_language="de-AT,de;q=0.9,en;q=0.5")
    assert '<html lang="de">' in german
    assert "<h1>Anmelden</h1>" in german


def test_a_page_is_in_english_where_the_browser_asks_for_a_language_that_there_is_not(client):
    assert '<html lang="en">' in page(client, "/sign-in/", accept_language="sw")


def test_arabic_pages_run_from_right_to_left(client):
    assert '<html lang="ar" dir="rtl">' in page(client, "/sign-in/", accept_language="ar")


def test_the_language_of_one_request_is_not_that_of_the_next(client):
    page(client, "/sign-in/", accept_language="tr")
    assert "<h1>Sign in</h1>" in page(Client(), "/sign-in/")


def test_pages_that_are_not_translated_are_wholly_in_english(client):
    project = make_project()
    client.force_login(make_member(project, "manager"))
    progress = page(client, f"/projects/{project.slug}/", accept_language="de")
    assert '<html lang="en">' in progress
    assert "Sign out" in progress


def test_the_api_speaks_english(client):
    assert client.get("/api/projects/", headers={"accept-language": "de"}).json()["detail"].startswith("Auth")
    assert "Nothing is" in client.get("/api/none/", headers={"accept-language": "de"}).json()["detail"]


def test_errors_are_told_in_the_readers_language(client):
    assert '<html lang="es">' in page(client, "/nothing/here/", accept_language="es")


def test_a_choice_leads_back_and_outweighs_the_browser(client):
    chosen = client.post("/language/", {"language": "ru", "next": "/sign-in/"})
    assert (chosen.status_code, chosen["Location"]) == (302, "/sign-in/")
    assert '<html lang="ru">' in page(client, "/sign-in/", accept_language="de")


def test_a_choice_does_not_lead_to_other_sites(client):
    for elsewhere in ("https://elsewhere.example/", "//elsewhere.example/", "javascript:alert(1)", ""):
        chosen = client.post("/language/", {"language": "ru", "next": elsewhere})
        assert chosen["Location"] == "/"


@pytest.mark.parametrize("language", ["", "fr", "../de"])
def test_a_language_that_there_is_not_is_refused(client, language):
    refused = client.post("/language/", {"language": language})
    assert refused.status_code == 400
    assert "django_language" not in refused.cookies


def test_a_choice_is_kept_for_other_browsers(client):
    user = make_rater(make_project()).user
    sign_in(client, user)
    client.post("/language/", {"language": "vi", "next": "/account/"})
    elsewhere = Client(headers={"accept-language": "de"})
    sign_in(elsewhere, user)
    assert '<html lang="vi">' in page(elsewhere, "/account/")


def test_a_choice_before_signing_in_becomes_the_accounts(client):
    user = make_user("grace")
    client.post("/language/", {"language": "tr"})
    sign_in(client, user)
    assert InterfaceLanguage.objects.get().code == "tr"


def test_an_account_keeps_its_choice_on_a_browser_of_somebody_else(client):
    user = make_user("grace")
    InterfaceLanguage.objects.create(user=user, code="es")
    client.post("/language/", {"language": "tr"})
    sign_in(client, user)
    assert '<html lang="es">' in page(client, "/account/")
    assert InterfaceLanguage.objects.get().code == "es"


def test_a_question_that_is_kept_rendered_is_kept_for_its_language(client):
    rater = make_rater(make_project())
    make_summary(rater.project)
    assignment = take_assignment(rater)
    client.force_login(rater.user)
    address = f"/projects/{rater.project.slug}/rate/{assignment.pk}/"
    assert "<bdi>Ja</bdi>" in page(client, address, accept_language="de")
    assert "<bdi>Yes</bdi>" in page(client, address)
    assert "<bdi>Ja</bdi>" in page(client, address, accept_language="de")
