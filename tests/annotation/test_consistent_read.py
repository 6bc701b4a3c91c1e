"""Needs a second connection, so the tests commit for real."""

from threading import Thread

import pytest
from django.db import connection, transaction

from annotation.consistent_read import consistent_read
from annotation.models import Project
from tests.factories import make_project, make_summary


def in_another_connection(act) -> None:
    def run() -> None:
        act()
        connection.close()

    thread = Thread(target=run)
    thread.start()
    thread.join(timeout=20)
    assert not thread.is_alive(), "a reader keeps a writer waiting"


@pytest.mark.django_db(transaction=True)
def test_all_that_is_read_is_of_one_moment_and_nobody_waits_for_it():
    project = make_project()
    with consistent_read():
        before = Project.objects.get(pk=project.pk).revision
        in_another_connection(lambda: (make_summary(project), project.bump_revision()))
        assert project.summaries.count() == 0
        assert Project.objects.get(pk=project.pk).revision == before
    assert project.summaries.count() == 1
    assert Project.objects.get(pk=project.pk).revision == before + 1


@pytest.mark.django_db(transaction=True)
def test_writing_is_as_before_afterwards():
    with consistent_read():
        Project.objects.count()
    with transaction.atomic():
        project = make_project()
    assert Project.objects.get() == project


@pytest.mark.django_db
def test_within_a_transaction_it_sees_what_that_one_wrote():
    project = make_project()
    with consistent_read():
        assert Project.objects.get() == project
