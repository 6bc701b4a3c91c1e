"""Statements written by hand store and read what Django's own would."""

from datetime import UTC, datetime

import pytest
from django.db import connection

from annotation.database.joined_rows import ModelColumns, insert, prepared_cursor, update
from annotation.models import Assignment, Rater
from tests.factories import make_project, make_rater, make_summary

pytestmark = pytest.mark.django_db

MOMENT = datetime(2026, 3, 4, 5, 6, 7, 891011, UTC)


@pytest.fixture
def rater():
    return make_rater(make_project(), languages=["de", "en"], group="expert")


def assignments(rater, number):
    return [
        Assignment(
            rater=rater,
            summary=make_summary(rater.project),
            stage_opened_at=MOMENT,
            leased_until=MOMENT,
            created_at=MOMENT,
            draft={"grammar": {"value": "yes", "comment": f"Ü{place} '%s' {{}}"}},
        )
        for place in range(number)
    ]


def fields_of(stored):
    return {field.attname: getattr(stored, field.attname) for field in stored._meta.concrete_fields}


def test_inserted_objects_have_ids_and_are_stored_as_they_are(rater):
    made = assignments(rater, 3)
    insert(made)
    assert len({each.pk for each in made}) == 3
    for each in made:
        assert fields_of(Assignment.objects.get(pk=each.pk)) == fields_of(each)


def test_an_inserted_object_can_be_saved_again(rater):
    (made,) = assignments(rater, 1)
    insert([made])
    made.stage = 2
    made.save()
    assert Assignment.objects.get().stage == 2


def test_only_the_named_fields_are_updated(rater):
    made, other = assignments(rater, 2)
    insert([made, other])
    made.stage, made.draft, made.state = 3, {}, Assignment.State.DONE
    update(made, "stage", "draft")
    stored = Assignment.objects.get(pk=made.pk)
    assert (stored.stage, stored.draft, stored.state) == (3, {}, Assignment.State.OPEN)
    assert Assignment.objects.get(pk=other.pk).stage == 1


def read(part, rater):
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT 1, {part.columns} FROM annotation_rater r WHERE r.id = %s", [rater.pk])
        return cursor.fetchone()


def test_an_object_is_read_from_its_place_in_a_row(rater):
    part = ModelColumns(Rater, "r")
    row = read(part, rater)
    assert len(row) == 1 + part.width
    assert fields_of(part.in_row(row, 1)) == fields_of(Rater.objects.get(pk=rater.pk))


def test_fields_may_be_named_in_any_order(rater):
    part = ModelColumns(Rater, "r", "group", "languages", "pseudonym")
    found = part.in_row(read(part, rater), 1)
    assert (found.group, found.languages, found.pseudonym) == ("expert", ["de", "en"], rater.pseudonym)


def test_fields_that_were_not_read_are_read_when_asked_for(rater, django_assert_num_queries):
    part = ModelColumns(Rater, "r", "languages")
    found = part.in_row(read(part, rater), 1)
    with django_assert_num_queries(0):
        assert found.languages == ["de", "en"]
    with django_assert_num_queries(1):
        assert found.group == "expert"


def test_a_row_without_the_object_gives_none(rater):
    part = ModelColumns(Rater, "r")
    assert part.if_any([1] + [None] * part.width, 1) is None
    assert part.if_any(read(part, rater), 1) == rater


@pytest.mark.skipif(connection.vendor != "postgresql", reason="only PostgreSQL plans each statement anew")
def test_a_repeated_statement_is_planned_once(rater):
    statement = "SELECT pseudonym FROM annotation_rater WHERE id = %s"
    with prepared_cursor() as cursor:
        for pk in range(rater.pk - 20, rater.pk + 1):
            cursor.execute(statement, [pk])
        assert cursor.fetchall() == [(rater.pseudonym,)]
        cursor.execute(
            "SELECT custom_plans, generic_plans FROM pg_prepared_statements WHERE statement LIKE %s",
            ["SELECT pseudonym%"],
        )
        ((planned_anew, planned_once),) = cursor.fetchall()
    assert planned_anew <= 5 < planned_once


def test_a_prepared_statement_counts_as_a_statement(rater, django_assert_num_queries):
    with django_assert_num_queries(1), prepared_cursor() as cursor:
        cursor.execute("SELECT 1")
