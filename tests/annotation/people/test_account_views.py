"""The pages for signing in, invitations and the user's own account."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import ApiToken, Invitation, Membership, Rater, Role
from annotation.people.api_tokens import issue_api_token
from annotation.people.invitations import invite
from tests.annotation.rating.rating_steps import signed_in, text_of
from tests.factories import PASSWORD, make_project, make_rater, make_user

pytestmark = pytest.mark.django_db

SIGN_IN = "/sign-in/"
NEW_ACCOUNT = {"username": "ada", "password1": "stone-and-gold-24", "password2": "stone-and-gold-24"}


@pytest.fixture
def visitor():
    return Client()


@pytest.fixture
def user():
    return make_user("grace")


@pytest.fixture
def browser(user):
    return signed_in(user)


# ---- signing in and out


def test_the_right_password_signs_in_and_redirects_to_next(visitor, user):
    response = visitor.post(SIGN_IN + "?next=/account/", {"username": "grace", "password": PASSWORD})
    assert response.headers["Location"] == "/account/"
    assert visitor.session["_auth_user_id"] == str(user.pk)


@pytest.mark.parametrize("elsewhere", ["https://example.org/", "//example.org/", "javascript:alert(1)"])
def test_signing_in_never_redirects_to_another_host(visitor, user, elsewhere):
    sent = {"username": user.username, "password": PASSWORD, "next": elsewhere}
    assert visitor.post(SIGN_IN, sent).headers["Location"] == reverse("home")


@pytest.mark.parametrize(("username", "password"), [("grace", "wrong"), ("nobody", PASSWORD)])
def test_a_wrong_name_and_a_wrong_password_get_the_same_message(visitor, user, username, password):
    page = text_of(visitor.post(SIGN_IN, {"username": username, "password": password}))
    assert "Wrong username or password." in page
    assert "_auth_user_id" not in visitor.session


def test_a_signed_in_user_is_redirected_from_the_sign_in_page(browser):
    assert browser.get(SIGN_IN).headers["Location"] == reverse("home")


def test_the_fifth_wrong_password_blocks_sign_in_and_shows_the_wait(visitor, user):
    for _ in range(5):
        response = visitor.post(SIGN_IN, {"username": "grace", "password": "wrong"})
    assert response.status_code == 429
    assert "Wait 15 minutes" in text_of(response)
    right = visitor.post(SIGN_IN, {"username": "grace", "password": PASSWORD})
    assert right.status_code == 429
    assert "_auth_user_id" not in visitor.session


def test_wrong_passwords_from_one_address_do_not_lock_a_colleague_out(visitor, user):
    make_user("alan")
    for _ in range(5):
        visitor.post(SIGN_IN, {"username": "grace", "password": "wrong"})
    elsewhere = Client(REMOTE_ADDR="10.1.2.3")
    assert elsewhere.post(SIGN_IN, {"username": "grace", "password": PASSWORD}).status_code == 302
    assert visitor.post(SIGN_IN, {"username": "alan", "password": PASSWORD}).status_code == 302


def test_signing_out_needs_a_post(browser):
    assert browser.get(reverse("sign_out")).status_code == 405
    assert browser.post(reverse("sign_out")).headers["Location"] == reverse("sign_in")
    assert "_auth_user_id" not in browser.session


def test_signing_in_without_the_csrf_token_is_refused(user):
    client = Client(enforce_csrf_checks=True)
    assert client.post(SIGN_IN, {"username": "grace", "password": PASSWORD}).status_code == 403


# ---- invitations


def invitation_to(project, role=Role.ANNOTATOR, languages=("en", "de")):
    return reverse("invitation", args=[invite(project, role, languages)[1]])


def test_an_invitation_names_the_project_the_role_and_the_languages(visitor, project):
    page = text_of(visitor.get(invitation_to(project)))
    assert project.name in page
    assert "Annotator" in page
    assert "English and German" in page


def test_accepting_creates_an_account_signs_it_in_and_opens_rating(visitor, project):
    response = visitor.post(invitation_to(project), NEW_ACCOUNT)
    assert response.headers["Location"] == reverse("rate", args=[project.slug])
    rater = Rater.objects.get(project=project)
    assert (rater.user.username, rater.languages, rater.status) == ("ada", ["de", "en"], "training")
    assert visitor.session["_auth_user_id"] == str(rater.user.pk)
    assert rater.user.check_password(NEW_ACCOUNT["password1"])


@pytest.mark.parametrize("role", [Role.MANAGER, Role.RESEARCHER])
def test_managers_and_researchers_become_members(visitor, project, role):
    response = visitor.post(invitation_to(project, role, ()), NEW_ACCOUNT)
    assert response.headers["Location"] == reverse("progress", args=[project.slug])
    assert Membership.objects.get(project=project).role == role


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"password2": "another-password-9"}, "match"),
        ({"password1": "short", "password2": "short"}, "at least 10 characters"),
        ({"password1": "password1234", "password2": "password1234"}, "too common"),
        ({"password1": "73019284650918", "password2": "73019284650918"}, "entirely numeric"),
        ({"username": "grace"}, "already exists"),
        ({"username": "GRACE"}, "already exists"),
        ({"username": ""}, "required"),
    ],
)
def test_a_weak_password_or_taken_name_is_refused_and_keeps_the_invitation(
    visitor, project, user, change, message
):
    response = visitor.post(invitation_to(project), NEW_ACCOUNT | change)
    assert response.status_code == 422
    assert message in text_of(response)
    assert User.objects.count() == 1
    assert Invitation.objects.get().accepted_at is None


def test_a_signed_in_user_joins_with_one_button(browser, project, user):
    address = invitation_to(project)
    page = text_of(browser.get(address))
    assert "grace" in page
    assert "password1" not in page
    assert browser.post(address).status_code == 302
    assert Rater.objects.get(project=project).user == user


def test_an_invitation_works_once(visitor, project):
    address = invitation_to(project)
    visitor.post(address, NEW_ACCOUNT)
    response = Client().post(address, NEW_ACCOUNT | {"username": "mallory"})
    assert response.status_code == 404
    assert "Ask the project" in text_of(response)
    assert not User.objects.filter(username="mallory").exists()


def test_expired_and_unknown_invitations_get_the_same_refusal(visitor, project):
    address = invitation_to(project)
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    for refused in (address, reverse("invitation", args=["invented"])):
        response = visitor.get(refused)
        assert response.status_code == 404
        assert project.name not in text_of(response)


def test_an_invitation_page_is_not_cached_by_the_browser(visitor, project):
    assert "no-store" in visitor.get(invitation_to(project)).headers["Cache-Control"]


# ---- the user's account


def test_a_new_token_is_shown_once_and_works(browser, user):
    page = text_of(browser.post(reverse("token_new"), {"label": "notebook", "scope": "read", "days": 30}))
    token = re.search(r'readonly value="([^"]+)"', page)[1]
    assert token not in text_of(browser.get(reverse("account")))
    response = Client().get(reverse("api_schema"), headers={"Authorization": f"Bearer {token}"})
    assert response.status_code == 200
    assert ApiToken.objects.get().user == user


def test_a_rater_is_offered_a_token_that_rates(browser, user):
    def offered():
        return re.search(r'value="(\w+)"[^>]+ checked', text_of(browser.get(reverse("account"))))[1]

    assert offered() == "read"
    make_rater(make_project(), user=user)
    assert offered() == "rate"


def test_a_token_for_a_project_in_which_its_owner_may_not_rate_is_refused(browser, user):
    project = make_project()
    project.memberships.create(user=user, role="researcher")
    sent = {"label": "our page", "scope": "rate", "days": 30, "project": project.pk}
    refused = browser.post(reverse("token_new"), sent)
    assert refused.status_code == 422
    assert "You may not rate in this project. Choose another one." in text_of(refused)


def test_a_token_needs_a_label(browser):
    assert browser.post(reverse("token_new"), {"label": " ", "scope": "read", "days": 30}).status_code == 422
    assert not ApiToken.objects.exists()


def test_a_token_is_listed_with_scope_expiry_and_last_use(browser, user):
    project = make_project(name="Weather reports")
    project.memberships.create(user=user, role="researcher")
    sent = {"label": "notebook", "scope": "read", "days": 30, "project": project.pk}
    assert browser.post(reverse("token_new"), sent).status_code == 200
    expiry = timezone.localtime() + timedelta(days=30)
    page = text_of(browser.get(reverse("account")))
    for shown in ("notebook", "read Weather reports", f"{expiry:%-d %b %Y}", "never"):
        assert f">{shown}</t" in page
    ApiToken.objects.update(expires_at=timezone.now())
    assert ">expired<" in text_of(browser.get(reverse("account")))


def test_a_token_for_ever_or_for_another_project_is_refused(browser, project):
    for wrong in ({"days": 36500}, {"project": project.pk}):
        refused = browser.post(
            reverse("token_new"), {"label": "notebook", "scope": "read", "days": 30} | wrong
        )
        assert refused.status_code == 422
        assert "Select a valid choice" in text_of(refused)
    assert not ApiToken.objects.exists()


def test_a_token_can_be_deleted(browser, user):
    token = issue_api_token(user, "notebook")[0]
    page = text_of(browser.post(reverse("token_delete", args=[token.pk]), follow=True))
    assert "“notebook” deleted" in page
    assert not ApiToken.objects.exists()


def test_another_users_token_is_neither_listed_nor_deleted(browser):
    token = issue_api_token(make_user(), "secret-label")[0]
    assert "secret-label" not in text_of(browser.get(reverse("account")))
    assert browser.post(reverse("token_delete", args=[token.pk])).status_code == 404
    assert ApiToken.objects.exists()


def test_changing_the_password_keeps_the_user_signed_in(browser, user):
    new = "another-stone-77"
    sent = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
    assert browser.post(reverse("password"), sent, follow=True).status_code == 200
    user.refresh_from_db()
    assert user.check_password(new)
    assert browser.get(reverse("account")).status_code == 200


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"old_password": "wrong"}, "incorrectly"),
        ({"new_password1": "short", "new_password2": "short"}, "at least 10 characters"),
    ],
)
def test_a_wrong_old_or_weak_new_password_changes_nothing(browser, user, change, message):
    sent = {
        "old_password": PASSWORD,
        "new_password1": "another-stone-77",
        "new_password2": "another-stone-77",
    }
    response = browser.post(reverse("password"), sent | change)
    assert response.status_code == 422
    assert message in text_of(response)
    user.refresh_from_db()
    assert user.check_password(PASSWORD)


@pytest.mark.parametrize("name", ["account", "token_new", "password"])
def test_the_account_pages_need_a_sign_in(visitor, name):
    response = visitor.get(reverse(name))
    assert response.headers["Location"].startswith(reverse("sign_in"))
