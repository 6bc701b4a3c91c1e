"""Polling pages: when they are up to date, and when they need a new fragment."""

import threading

import pytest
from django.test import RequestFactory

from metaeval.live.background import LONG, Key, Pending
from metaeval.live.news import shows, stamp
from tests.factories import make_project

SOON_S = 120


@pytest.fixture
def project(transactional_db):
    return make_project()


def is_up_to_date(project, given, waits_for=()):
    return shows(RequestFactory().get("/", {"revision": given}), project.revision, waits_for)


def test_a_page_of_the_latest_revision_is_up_to_date(project):
    assert is_up_to_date(project, stamp(project.revision))


def test_a_page_of_another_revision_is_outdated(project):
    assert not is_up_to_date(project, stamp(project.revision + 1))
    assert not is_up_to_date(project, stamp(project.revision + 1, waits=True))
    assert not shows(RequestFactory().get("/"), project.revision)


def test_a_waiting_page_is_up_to_date_until_the_result_is_ready(project):
    key = Key(project.pk, project.revision, "intervals")
    go = threading.Event()
    assert LONG.ready_or_start(key, lambda: go.wait(SOON_S), 0) == Pending()
    waiting = stamp(project.revision, waits=True)
    assert is_up_to_date(project, waiting, [key])
    go.set()
    assert LONG.ready_or_start(key, bool, SOON_S) is True
    assert not is_up_to_date(project, waiting, [key])


def test_a_page_waiting_for_another_process_is_outdated(project):
    key = Key(project.pk, project.revision, "begun elsewhere")
    assert not is_up_to_date(project, stamp(project.revision, waits=True), [key])
