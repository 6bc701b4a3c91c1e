"""What another site makes a person's browser send."""

import re

import pytest
from django.test import Client

from tests.addresses import ARGUMENTS, address_of
from tests.factories import make_user

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_no_unsafe_method_gets_through_without_the_forms_token(campaign, method):
    client = Client(enforce_csrf_checks=True)
    for role in ("annotator", "manager"):
        client.force_login(campaign.users[role])
        for name in ARGUMENTS:
            response = getattr(client, method)(address_of(name, campaign.ids_for(name)))
            assert response.status_code == 403, f"{method} {name} by {role}"


def test_a_form_with_its_token_gets_through():
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
