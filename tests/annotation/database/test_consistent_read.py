"""Consistent reads. The tests use a second connection, so they commit for real."""

from threading import Thread

import pytest
from django.db import connection, transaction

from annotation.database.consistent_read import consistent_read
from annotation.models import Project
from tests.factories import make_project, make_summary


def in_another_connection(act) -> None:
    def run() -> None:
        act()
        connection.close()

    thread = Thread(target=run)
    thread.start()
    thread.join(timeout=120)
    assert not thread.is_alive(), "a reader blocks a writer"


@pytest.mark.django_db(transaction=True)
def test_reads_see_one_moment_and_do_not_block_writers():
    project = make_project()
    with consistent_read():
        before = Project.objects.get(pk=project.pk).revision
        in_another_connection(lambda: (make_summary(project), project.bump_revision()))
        assert project.summaries.count() == 0
        assert Project.objects.get(pk=project.pk).revision == before
    assert project.summaries.count() == 1
    assert Project.objects.get(pk=project.pk).revision == before + 1


@pytest.mark.django_db(transaction=True)
def test_writing_works_after_a_consistent_read():
    with consistent_read():
        Project.objects.count()
    with transaction.atomic():
        project = make_project()
    assert Project.objects.get() == project


@pytest.mark.django_db
def test_within_a_transaction_it_sees_the_transactions_own_writes():
    project = make_project()
    with consistent_read():
        assert Project.objects.get() == project
