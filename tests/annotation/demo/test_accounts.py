import pytest
from django.contrib.auth.models import User
from django.test import Client, override_settings
from django.urls import reverse

from annotation.demo.accounts import make_demo_user
from annotation.models import Membership
from tests.factories import make_member, make_project, make_user

pytestmark = pytest.mark.django_db


def enter(client, username):
    return client.post(reverse("demo_enter"), {"username": username})


def signed_in_as(client):
    found = client.session.get("_auth_user_id")
    return User.objects.get(pk=found).username if found else None


def test_the_first_page_offers_the_accounts_and_a_click_enters():
    make_demo_user("demo-researcher")
    client = Client()
    text = client.get(reverse("home")).content.decode()
    assert "Enter as researcher" in text
    assert "Enter as manager" not in text
    assert enter(client, "demo-researcher").url == reverse("home")
    assert signed_in_as(client) == "demo-researcher"


@pytest.mark.parametrize(
    ("local", "headers"),
    [
        (False, {}),
        (True, {"REMOTE_ADDR": "192.0.2.7"}),
        (True, {"REMOTE_ADDR": ""}),
        (True, {"HTTP_X_FORWARDED_FOR": "192.0.2.7"}),
    ],
)
def test_only_this_machine_in_local_mode_may_enter(local, headers):
    make_demo_user("demo-manager")
    client = Client(**headers)
    with override_settings(LOCAL=local):
        assert client.get(reverse("home")).url == reverse("sign_in")
        assert enter(client, "demo-manager").status_code == 403
    assert signed_in_as(client) is None


def test_an_account_with_a_password_needs_it():
    user = make_demo_user("demo-manager")
    user.set_password("a password of its own")
    user.save()
    client = Client()
    assert enter(client, "demo-manager").status_code == 403
    assert signed_in_as(client) is None


@pytest.mark.parametrize("change", [{"is_superuser": True}, {"is_staff": True}, {"is_active": False}])
def test_an_account_that_is_more_or_closed_cannot_be_entered(change):
    User.objects.filter(pk=make_demo_user("demo-manager").pk).update(**change)
    client = Client()
    assert enter(client, "demo-manager").status_code == 403


def test_other_accounts_cannot_be_entered():
    make_demo_user("demo-manager")
    client = Client()
    for username in (make_user().username, "nobody", ""):
        assert enter(client, username).status_code == 403
    assert signed_in_as(client) is None


def test_a_persons_own_account_of_that_name_stays_closed():
    person = User.objects.create_user("demo-manager", password="their own")
    assert make_demo_user("demo-manager") == person
    assert enter(Client(), "demo-manager").status_code == 403


def test_a_demo_account_is_led_through_the_sample_project():
    project = make_project(slug="sample")
    client = Client()
    for username, role in (("demo-manager", "manager"), ("demo-annotator", "")):
        user = make_demo_user(username)
        if role:
            Membership.objects.create(project=project, user=user, role=role)
        enter(client, username)
        text = client.get(reverse("home")).content.decode()
        assert ("A tour in five stops" in text) is bool(role)
        assert (reverse("planning", args=["sample"]) in text) is bool(role)


def test_nobody_else_is_led_there():
    client = Client()
    client.force_login(make_member(make_project(slug="sample"), "manager"))
    assert "A tour in five stops" not in client.get(reverse("home")).content.decode()
