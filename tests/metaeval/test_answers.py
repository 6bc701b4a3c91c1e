"""When a page that asks for news gets none: it shows what there is, or waits for what is not there yet."""

import threading

import pytest
from django.test import RequestFactory

from metaeval.background import Key, Pending, ready_or_start
from metaeval.views.answers import shows, stamp
from tests.factories import make_project

SOON_S = 10


@pytest.fixture
def project(transactional_db):
    return make_project()


def asks(project, given, waits_for=()):
    return shows(RequestFactory().get("/", {"revision": given}), project, waits_for)


def test_a_page_of_the_latest_revision_shows_all_there_is(project):
    assert asks(project, stamp(project.revision))


def test_a_page_of_an_earlier_revision_does_not(project):
    assert not asks(project, stamp(project.revision + 1))
    assert not asks(project, stamp(project.revision + 1, waits=True))
    assert not shows(RequestFactory().get("/"), project)


def test_a_page_that_waits_hears_nothing_until_the_result_is_there(project):
    key = Key(project.pk, project.revision, "intervals")
    go = threading.Event()
    assert ready_or_start(key, lambda: go.wait(SOON_S), 0) == Pending()
    waiting = stamp(project.revision, waits=True)
    assert asks(project, waiting, [key])
    go.set()
    assert ready_or_start(key, bool, SOON_S) is True
    assert not asks(project, waiting, [key])


def test_a_page_that_waits_for_what_another_process_computes_is_made_anew(project):
    key = Key(project.pk, project.revision, "begun elsewhere")
    assert not asks(project, stamp(project.revision, waits=True), [key])
