"""Two-factor authentication: setting up, signing in with codes, the demand on managers, and the ways out."""

import re
import time
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from django_otp.oath import totp
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from annotation.errors import NotAllowed
from annotation.models import AuditEntry
from annotation.people.api_tokens import issue_api_token
from annotation.people.passwords import password_link
from annotation.people.two_factor import turn_on
from annotation.rating.assigning import take_assignment
from tests.annotation.rating.rating_steps import FIRST, HTMX, address, sheet, text_of
from tests.factories import PASSWORD, make_member, make_project, make_rater, make_summary, make_user

pytestmark = pytest.mark.django_db

SET_UP, CODE = "/account/two-factor/", "/sign-in/code/"
OWN = {"current_password": PASSWORD}


def code_of(key, steps=0):
    """Return the code that an app shows now, or some steps of 30 seconds later."""
    return f"{totp(bytes.fromhex(key), t0=-30 * steps):06d}"


def next_code(user):
    """Return a code that is valid and was not used: the one of the next step."""
    return code_of(TOTPDevice.objects.get(user=user).key, 1)


def wrong_code(user):
    key = TOTPDevice.objects.get(user=user).key
    valid = {code_of(key, steps) for steps in range(-2, 4)}
    return next(
        code for code in ("000000", "111111", "222222", *map(str, range(333333, 333345))) if code not in valid
    )


def set_up(user):
    """Turn two-factor authentication on as in a browser. Return the browser and the recovery codes."""
    browser = Client()
    browser.force_login(user)
    browser.get(SET_UP)
    answer = browser.post(SET_UP, {"code": code_of(browser.session["new_two_factor_key"]), **OWN})
    assert answer.status_code == 200
    return browser, re.findall(r"<li><code[^>]*>(.*?)</code>", answer.content.decode())


def with_password(user, password=PASSWORD, address="/sign-in/"):
    """Return a new browser after the first step of signing in."""
    browser = Client()
    answer = browser.post(address, {"username": user.username, "password": password})
    assert answer["Location"].startswith(CODE)
    return browser


def is_signed_in(browser):
    return browser.get("/account/").status_code == 200


def actions():
    return list(AuditEntry.objects.order_by("pk").values_list("action", "object", "actor_name"))


@pytest.fixture
def user():
    return make_user("grace")


# ---- setting up


def test_setting_up_shows_a_key_once_it_is_confirmed_by_a_code(user):
    browser = Client()
    browser.force_login(user)
    assert "Set up two-factor authentication" in text_of(browser.get("/account/"))
    page = text_of(browser.get(SET_UP))
    key = re.search(r"secret=(\w+)", page).group(1)
    assert " ".join(key[start : start + 4] for start in range(0, 32, 4)) in page
    assert "<svg" in page
    assert "style=" not in page
    code = code_of(browser.session["new_two_factor_key"])
    without_password = browser.post(SET_UP, {"code": code, "current_password": "wrong"})
    assert (without_password.status_code, "This is not your password" in text_of(without_password)) == (
        422,
        True,
    )
    wrong = browser.post(SET_UP, {"code": "12345", **OWN})
    assert (wrong.status_code, "Wrong code. Check the clock" in text_of(wrong)) == (422, True)
    assert key in text_of(wrong)
    assert not TOTPDevice.objects.exists()
    shown = browser.post(SET_UP, {"code": code, **OWN})
    recovery_codes = re.findall(r"<li><code[^>]*>(.*?)</code>", shown.content.decode())
    assert len(set(recovery_codes)) == 10
    pages = [shown, browser.get("/account/"), browser.get(SET_UP)]
    assert not any(key in text_of(each) for each in pages)
    assert not any(recovery_codes[0] in text_of(each) for each in pages[1:])
    assert "You have 10 unused recovery codes" in text_of(pages[2])
    assert actions() == [("two_factor_turned_on", "grace", "grace")]


def test_turning_it_on_signs_out_other_sessions_and_keeps_tokens(user):
    other = Client()
    other.force_login(user)
    _, token = issue_api_token(user, "notebook")
    browser, _ = set_up(user)
    assert [is_signed_in(browser), is_signed_in(other)] == [True, False]
    assert Client().get("/api/schema/", headers={"Authorization": f"Bearer {token}"}).status_code == 200


def test_a_second_app_is_refused(user):
    set_up(user)
    key = "00" * 20
    with pytest.raises(NotAllowed, match="Turn it off to use another app"):
        turn_on(user, key, code_of(key))
    assert TOTPDevice.objects.count() == 1


def test_an_account_without_a_password_has_nothing_to_set_up(user):
    user.set_unusable_password()
    user.save()
    browser = Client()
    browser.force_login(user)
    assert "Two-factor" not in text_of(browser.get("/account/"))
    assert browser.get(SET_UP).status_code == 403


def test_the_database_holds_no_recovery_code(user):
    _, codes = set_up(user)
    stored = set(StaticDevice.objects.get().token_set.values_list("token", flat=True))
    assert stored.isdisjoint({code.replace(" ", "") for code in codes})
    assert len(stored) == 10


# ---- signing in


def test_the_password_alone_opens_no_page(user):
    project = make_project()
    project.memberships.create(user=user, role="manager")
    User.objects.filter(pk=user.pk).update(is_staff=True, is_superuser=True)
    set_up(user)
    browser = with_password(user)
    assert "_auth_user_id" not in browser.session
    for page in ("/", "/account/", SET_UP, f"/projects/{project.slug}/", "/projects/new/", "/admin/"):
        assert browser.get(page, follow=True).request["PATH_INFO"] == "/sign-in/", page
    assert browser.get("/api/schema/").status_code == 401
    assert browser.get(f"/projects/{project.slug}/agreement/").status_code == 302
    assert browser.post("/account/two-factor/off/", OWN)["Location"].startswith("/sign-in/?")


def test_a_code_of_the_app_signs_in_once_and_leads_to_next(user):
    set_up(user)
    browser = with_password(user, address="/sign-in/?next=/projects/new/")
    page = f"{CODE}?next=/projects/new/"
    assert 'value="/projects/new/"' in text_of(browser.get(page))
    code = next_code(user)
    answer = browser.post(page, {"code": f"{code[:3]} {code[3:]}", "next": "/projects/new/"})
    assert answer["Location"] == "/projects/new/"
    assert is_signed_in(browser)
    again = with_password(user)
    refused = again.post(CODE, {"code": code})
    assert "Wrong code" in text_of(refused)
    assert not is_signed_in(again)


def test_the_code_that_confirmed_the_app_does_not_sign_in(user):
    browser = Client()
    browser.force_login(user)
    browser.get(SET_UP)
    code = code_of(browser.session["new_two_factor_key"])
    browser.post(SET_UP, {"code": code, **OWN})
    assert "Wrong code" in text_of(with_password(user).post(CODE, {"code": code}))


def test_signing_in_never_leads_to_another_host(user):
    set_up(user)
    browser = with_password(user, address="/sign-in/?next=https://example.org/")
    answer = browser.post(f"{CODE}?next=https://example.org/", {"code": next_code(user)})
    assert answer["Location"] == reverse("home")


def test_a_recovery_code_signs_in_once(user):
    _, codes = set_up(user)
    browser = with_password(user)
    assert browser.post(CODE, {"code": codes[0].upper()}).status_code == 302
    assert "You have 9 unused recovery codes" in text_of(browser.get(SET_UP))
    assert "Wrong code" in text_of(with_password(user).post(CODE, {"code": codes[0]}))
    assert actions()[1:] == [("recovery_code_used", "grace", "grace")]


def test_wrong_codes_make_even_the_right_one_wait(user):
    set_up(user)
    for _ in range(2):
        TOTPDevice.objects.update(throttling_failure_timestamp=timezone.now() - timedelta(minutes=1))
        refused = with_password(user).post(CODE, {"code": wrong_code(user)})
        assert "Wrong code" in text_of(refused)
    TOTPDevice.objects.update(throttling_failure_count=10)
    browser = with_password(user)
    assert "Too many wrong codes. Wait 9 minutes" in text_of(browser.post(CODE, {"code": next_code(user)}))
    assert not is_signed_in(browser)
    TOTPDevice.objects.update(throttling_failure_timestamp=timezone.now() - timedelta(minutes=9))
    assert browser.post(CODE, {"code": next_code(user)}).status_code == 302


def test_the_code_of_another_account_is_refused(user):
    set_up(user)
    eve = make_user("eve")
    _, codes = set_up(eve)
    browser = with_password(user)
    for code in (next_code(eve), codes[0]):
        assert "Wrong code" in text_of(browser.post(CODE, {"code": code}))


def test_waiting_for_the_code_ends_after_five_minutes(user):
    set_up(user)
    browser = with_password(user)
    session = browser.session
    assert 290 < session["waiting_for_code"]["until"] - time.time() <= 300
    session["waiting_for_code"]["until"] -= 301
    session.save()
    answer = browser.post(CODE, {"code": next_code(user)}, follow=True)
    assert "Start again with your password" in text_of(answer)
    assert not is_signed_in(browser)


@pytest.mark.parametrize("change", ["password", "closed"])
def test_waiting_for_the_code_ends_with_the_password_and_the_account(user, change):
    set_up(user)
    browser = with_password(user)
    if change == "password":
        user.set_password("another-long-password")
    else:
        user.is_active = False
    user.save()
    assert browser.post(CODE, {"code": next_code(user)})["Location"].startswith("/sign-in/?")
    assert not is_signed_in(browser)


def test_nothing_of_the_waiting_is_left_in_the_session(user):
    set_up(user)
    browser = with_password(user)
    before = browser.session.session_key
    browser.post(CODE, {"code": next_code(user)})
    assert "waiting_for_code" not in browser.session
    assert browser.session.session_key != before


def test_wrong_passwords_are_still_limited_and_forgotten_only_after_the_code(user):
    set_up(user)
    wrong = {"username": "grace", "password": "wrong"}
    browser = Client()
    for _ in range(4):
        browser.post("/sign-in/", wrong)
    browser.post("/sign-in/", {"username": "grace", "password": PASSWORD})
    assert browser.post("/sign-in/", wrong).status_code == 429


def test_a_password_link_leaves_the_second_step(user):
    set_up(user)
    visitor = Client()
    page = visitor.get(password_link(user), follow=True).request["PATH_INFO"]
    new = "stone-and-gold-24"
    visitor.post(page, {"new_password1": new, "new_password2": new})
    browser = with_password(user, new)
    assert not is_signed_in(browser)
    assert browser.post(CODE, {"code": next_code(user)}).status_code == 302


# ---- managing and turning off


def test_new_recovery_codes_replace_the_old_ones(user):
    browser, old = set_up(user)
    address = "/account/two-factor/codes/"
    assert browser.post(address, {"current_password": "wrong"}).status_code == 422
    new = re.findall(r"<li><code[^>]*>(.*?)</code>", browser.post(address, OWN).content.decode())
    assert len(new) == 10
    assert set(new).isdisjoint(old)
    assert "Wrong code" in text_of(with_password(user).post(CODE, {"code": old[0]}))
    StaticDevice.objects.update(throttling_failure_count=0)
    assert with_password(user).post(CODE, {"code": new[0]}).status_code == 302
    assert [action for action, *_ in actions()][1:] == ["recovery_codes_created", "recovery_code_used"]


def test_turning_off_takes_the_password(user):
    browser, _ = set_up(user)
    assert browser.post("/account/two-factor/off/", {"current_password": "wrong"}).status_code == 422
    assert TOTPDevice.objects.exists()
    answer = browser.post("/account/two-factor/off/", OWN, follow=True)
    assert "Two-factor authentication is off" in text_of(answer)
    assert not StaticDevice.objects.exists()
    assert actions()[-1] == ("two_factor_turned_off", "grace", "grace")
    form = {"username": "grace", "password": PASSWORD}
    assert Client().post("/sign-in/", form)["Location"] == reverse("home")
    assert browser.post("/account/two-factor/codes/", OWN).status_code == 403


def test_an_operators_command_turns_it_off(user, capsys):
    set_up(user)
    call_command("turn_off_two_factor", "grace")
    assert "of grace is off" in capsys.readouterr().out
    assert not TOTPDevice.objects.exists()
    assert actions()[-1] == ("two_factor_turned_off", "grace", "")
    with pytest.raises(CommandError, match="no account 'grace' with"):
        call_command("turn_off_two_factor", "grace")


@pytest.mark.parametrize("way", ["page", "list"])
def test_a_superuser_turns_it_off_and_sees_no_key(user, way):
    set_up(user)
    app = TOTPDevice.objects.get()
    User.objects.create_superuser("admin", password=PASSWORD)
    browser = Client()
    browser.force_login(User.objects.get(username="admin"))
    pages = ("/admin/otp_totp/totpdevice/", f"/admin/otp_totp/totpdevice/{app.pk}/change/")
    for page in pages:
        answer = browser.get(page)
        assert answer.status_code == 200
        assert app.key not in text_of(answer)
    if way == "page":
        browser.post(f"/admin/otp_totp/totpdevice/{app.pk}/delete/", {"post": "yes"})
    else:
        browser.post(pages[0], {"action": "delete_selected", "_selected_action": [app.pk], "post": "yes"})
    assert not TOTPDevice.objects.exists()
    assert not StaticDevice.objects.exists()
    assert actions()[-1] == ("two_factor_turned_off", "grace", "admin")


# ---- the demand on managers


@pytest.fixture
def project(settings):
    settings.TWO_FACTOR = "managers"
    return make_project()


def test_a_manager_without_it_sees_only_the_set_up_page(project):
    manager = make_member(project, "manager")
    browser = Client()
    answer = browser.post("/sign-in/", {"username": manager.username, "password": PASSWORD}, follow=True)
    assert answer.request["PATH_INFO"] == SET_UP
    assert "Your account needs it to open other pages" in text_of(answer)
    slug = project.slug
    pages = ("/", "/account/", f"/projects/{slug}/", f"/projects/{slug}/agreement/", "/api/schema/")
    assert {browser.get(page)["Location"] for page in pages} == {SET_UP}
    assert browser.post(f"/projects/{slug}/people/", {"role": "researcher"}).status_code == 403
    assert browser.get(f"/projects/{slug}/", headers=HTMX).status_code == 403
    browser.post(SET_UP, {"code": code_of(browser.session["new_two_factor_key"]), **OWN})
    assert browser.get(f"/projects/{slug}/").status_code == 200


def test_the_admin_demands_it_of_staff(project):
    staff = User.objects.create_superuser("admin", password=PASSWORD)
    browser = Client()
    browser.force_login(staff)
    assert browser.get("/admin/")["Location"] == SET_UP
    set_up(staff)
    browser = with_password(staff, address="/sign-in/?next=/admin/")
    browser.post(CODE, {"code": next_code(staff)})
    assert browser.get("/admin/").status_code == 200


def test_a_manager_can_sign_out_and_read_by_token_before_setting_up(project):
    manager = make_member(project, "manager")
    _, token = issue_api_token(manager, "notebook")
    assert Client().get("/api/schema/", headers={"Authorization": f"Bearer {token}"}).status_code == 200
    browser = Client()
    browser.force_login(manager)
    browser.post("/sign-out/")
    assert "_auth_user_id" not in browser.session


def test_raters_and_researchers_are_not_asked(project):
    for user in (make_rater(project).user, make_member(project, "researcher")):
        browser = Client()
        browser.force_login(user)
        assert is_signed_in(browser)


def test_single_sign_on_is_left_to_the_provider(project, settings):
    settings.AUTHENTICATION_BACKENDS = [
        *settings.AUTHENTICATION_BACKENDS,
        "annotation.people.single_sign_on.SingleSignOnBackend",
    ]
    browser = Client()
    browser.force_login(
        make_member(project, "manager"), backend="annotation.people.single_sign_on.SingleSignOnBackend"
    )
    assert is_signed_in(browser)
    assert "Your account needs it" not in text_of(browser.get(SET_UP))


def test_without_the_setting_managers_are_not_asked():
    browser = Client()
    browser.force_login(make_member(make_project(), "manager"))
    assert is_signed_in(browser)


@pytest.mark.parametrize("demand", ["offered", "managers"])
def test_a_step_of_a_rating_asks_nothing_of_it(settings, demand):
    settings.TWO_FACTOR = demand
    project = make_project()
    make_summary(project)
    rater = make_rater(project)
    browser = Client()
    browser.force_login(rater.user)
    assignment = take_assignment(rater)
    with CaptureQueriesContext(connection) as statements:
        assert browser.post(address(assignment), sheet(1, FIRST), headers=HTMX).status_code == 200
    assert not [each["sql"] for each in statements if "otp_" in each["sql"]]
