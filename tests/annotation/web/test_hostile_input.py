"""What no person types and no database stores: NUL characters, endless numbers, other encodings."""

import logging
from io import StringIO

import pytest
from django.urls import reverse

from annotation.lookups import LARGEST_ID
from annotation.rating.assigning import take_assignment
from tests.annotation.rating.rating_steps import FIRST, HTMX, address, sheet, signed_in
from tests.factories import make_project, make_rater, make_summary

pytestmark = pytest.mark.django_db

DIGITS = "9" * 5000


@pytest.fixture
def assignment():
    rater = make_rater(make_project())
    make_summary(rater.project)
    return take_assignment(rater)


@pytest.fixture
def browser(assignment):
    return signed_in(assignment.rater.user)


def test_a_nul_in_a_form_is_dropped_and_the_rest_is_kept(browser, assignment):
    draft = sheet(1, FIRST, comprehensibility="Pasted\0 text.")
    assert browser.post(address(assignment, "rate_draft"), draft).status_code == 204
    page = browser.get(address(assignment)).content.decode()
    assert "Pasted text." in page


@pytest.mark.parametrize("headers", [{}, HTMX])
@pytest.mark.parametrize("stage", [DIGITS, str(LARGEST_ID), "²", "-1", ""])
def test_an_impossible_stage_is_refused(browser, assignment, stage, headers):
    response = browser.post(address(assignment), sheet(1, FIRST) | {"stage": stage}, headers=headers)
    assert 400 <= response.status_code < 500


def test_an_impossible_version_of_the_guidelines_is_not_confirmed(browser, assignment):
    guidelines = reverse("guidelines", args=[assignment.rater.project.slug])
    assert browser.post(guidelines, {"version": DIGITS}).status_code < 500


@pytest.mark.parametrize("number", [DIGITS, str(LARGEST_ID + 1)])
def test_an_address_with_a_number_beyond_every_id_leads_nowhere(browser, assignment, number):
    page = address(assignment).replace(str(assignment.pk), number)
    assert browser.get(page).status_code == 404
    assert browser.post(page, sheet(1, FIRST), headers=HTMX).status_code == 404


def test_an_address_with_a_nul_is_refused(browser):
    assert browser.get("/", {"page": "1\0"}).status_code == 400
    assert browser.get("/projects/a%00b/").status_code == 400


def test_a_form_in_another_encoding_is_refused(browser, assignment):
    response = browser.post(
        address(assignment), "stage=1", content_type="application/x-www-form-urlencoded; charset=utf-16"
    )
    assert response.status_code == 400


def test_a_session_with_a_nul_is_none(client):
    client.cookies["sessionid"] = "a" * 20 + "\0"
    assert client.get(reverse("account")).status_code == 302


def test_an_unknown_host_takes_one_line_of_the_log(client):
    console = next(each for each in logging.getLogger().handlers if type(each) is logging.StreamHandler)
    log = StringIO()
    before = console.setStream(log)
    try:
        assert client.get("/sign-in/", headers={"host": "10.1.2.3"}).status_code == 400
    finally:
        console.setStream(before)
    refused = [line for line in log.getvalue().splitlines() if "Invalid HTTP_HOST" in line]
    assert len(refused) == 1
    assert "Traceback" not in log.getvalue()
