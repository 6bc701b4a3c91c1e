"""Requests that another site makes a user's browser send."""

import re

import pytest
from django.test import Client

from tests.addresses import ARGUMENTS, address_of
from tests.factories import make_user

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_unsafe_methods_are_refused_without_the_csrf_token(campaign, method):
    """The message is that of the missing token, for a role that may use the form."""
    client = Client(enforce_csrf_checks=True)
    client.force_login(campaign.users["manager"])
    for name in ARGUMENTS:
        response = getattr(client, method)(address_of(name, campaign.ids_for(name)))
        if name.startswith("api_"):
            assert response.status_code in (403, 415), f"{method} {name}"  # the API does not accept forms
        else:
            assert response.status_code == 403, f"{method} {name}"
            assert "Form not accepted" in response.content.decode(), f"{method} {name}"


def test_a_form_with_the_csrf_token_is_accepted():
    client = Client(enforce_csrf_checks=True)
    user = make_user()
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', client.get("/sign-in/").content.decode())
    form = {"username": user.username, "password": "a-long-enough-password", "csrfmiddlewaretoken": token[1]}
    assert client.post("/sign-in/", form)["Location"] == "/"


def test_a_form_from_another_site_is_refused_even_with_a_token():
    client = Client(enforce_csrf_checks=True)
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', client.get("/sign-in/").content.decode())
    form = {"username": "x", "password": "y", "csrfmiddlewaretoken": token[1]}
    response = client.post("/sign-in/", form, headers={"Origin": "https://elsewhere.example"})
    assert response.status_code == 403
