"""Statements for which the server takes too long."""

import time

import pytest
from django.db import OperationalError, connection

from annotation.database.postgresql_patience.base import DatabaseWrapper

pytestmark = [pytest.mark.database, pytest.mark.django_db]

PATIENCE_S = 0.5
LONGEST_END_S = 60
"""The server ends a statement soon after it was asked to, on an idle machine at once."""


@pytest.fixture
def patient():
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no server to wait for")
    wrapper = DatabaseWrapper({**connection.settings_dict, "PATIENCE_S": PATIENCE_S}, "patient")
    yield wrapper
    wrapper.close()


def run(wrapper, statement):
    with wrapper.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall()


def test_a_silent_server_is_given_up_and_its_statement_ends(patient):
    with pytest.raises(OperationalError, match=r"nothing was heard from the database for 0\.5 s"):
        run(patient, "SELECT pg_sleep(600)")
    patient.close_if_unusable_or_obsolete()
    assert run(patient, "SELECT 1") == [(1,)]
    running = (
        "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query = 'SELECT pg_sleep(600)'"
    )
    deadline = time.monotonic() + LONGEST_END_S
    while run(patient, running) != [(0,)]:
        assert time.monotonic() < deadline, "the statement goes on"
        time.sleep(0.05)


def test_a_long_answer_is_waited_for_while_it_arrives(patient):
    """The server sends rows as soon as 8 KiB are full."""
    rows = run(patient, "SELECT repeat('x', 20000), pg_sleep(0.2) FROM generate_series(1, 5)")
    assert len(rows) == 5


def test_without_patience_in_the_settings_a_statement_takes_as_long_as_it_needs():
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no server to wait for")
    assert run(connection, "SELECT pg_sleep(0.6)::text") == [("",)]
