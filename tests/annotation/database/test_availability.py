"""Errors after which the same statement may succeed, and mistakes, after which it never does."""

import pytest
from django.db import DatabaseError, OperationalError, connection

from annotation.database.availability import is_unavailable

pytestmark = pytest.mark.database


def error_of(wrapper, statement: str) -> DatabaseError:
    with pytest.raises(DatabaseError) as raised, wrapper.cursor() as cursor:
        cursor.execute(statement)
    return raised.value


@pytest.fixture
def elsewhere(tmp_path):
    """Return a connection to a database that is not there."""
    is_sqlite = connection.vendor == "sqlite"
    place = (
        {"NAME": str(tmp_path / "no folder" / "file")} if is_sqlite else {"HOST": "127.0.0.1", "PORT": "1"}
    )
    wrapper = connection.copy("elsewhere")
    wrapper.settings_dict = {**wrapper.settings_dict, **place}
    return wrapper


@pytest.mark.django_db
def test_no_connection_is_for_the_moment(elsewhere):
    assert is_unavailable(error_of(elsewhere, "SELECT 1"))


def test_a_lock_that_others_hold_is_for_the_moment():
    assert is_unavailable(OperationalError("database is locked"))  # as sqlite_fair_writes raises it


@pytest.mark.django_db
@pytest.mark.parametrize("statement", ["SELECT * FROM nowhere", "SELECT nothing", "SELEKT 1"])
def test_a_mistake_is_not(statement):
    assert not is_unavailable(error_of(connection, statement))


def test_an_error_of_something_else_is_not():
    assert not is_unavailable(ValueError("a date"))
