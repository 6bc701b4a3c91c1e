"""Versions of a judge: based on any other version, and never changed."""

import pytest
from django.db import IntegrityError, transaction

from annotation.errors import DomainError, NotAllowed, NotFound
from metaeval.judges.versions import Difference, add_version, create_judge, differences, judge_of, version_of
from scoring.errors import InvalidRun
from scoring.models import Judge, JudgeVersion
from tests.factories import make_member, make_project, make_rater
from tests.metaeval.judges.labelled_projects import make_judge

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(db):
    return make_project()


@pytest.fixture
def researcher(project):
    return make_member(project, "researcher")


@pytest.fixture
def first(project, researcher):
    return make_judge(project, researcher)


def test_versions_are_numbered_and_know_their_parent(first, researcher):
    second = add_version(first, researcher, {**first.params, "seed": 1}, "another draw")
    third = add_version(first, researcher, {**first.params, "seed": 2})
    assert [each.number for each in (first, second, third)] == [1, 2, 3]
    assert (second.parent, third.parent, second.note) == (first, first, "another draw")
    assert str(third) == "Coherence v3"
    assert version_of(first.judge, 2) == second
    assert first.params["examples"] == 4, "defaults are part of a version"


def test_database_refuses_to_change_a_judges_evaluator(first):
    with pytest.raises(IntegrityError, match="never changes its evaluator"), transaction.atomic():
        Judge.objects.filter(pk=first.judge_id).update(evaluator="length")
    Judge.objects.filter(pk=first.judge_id).update(name="Another name")


@pytest.mark.parametrize("field", ["number", "params", "note", "created_at", "judge_id", "parent_id"])
def test_database_refuses_to_change_a_version(first, researcher, field):
    second = add_version(first, researcher, {**first.params, "seed": 1})
    value = getattr(second, field)
    with pytest.raises(IntegrityError, match="never changes"), transaction.atomic():
        JudgeVersion.objects.filter(pk=first.pk).update(**{field: value})


def test_version_outlives_its_author(first, researcher):
    researcher.delete()
    first.refresh_from_db()
    assert first.created_by is None


def test_version_must_differ_from_all_others(first, researcher):
    add_version(first, researcher, {**first.params, "seed": 1})
    with pytest.raises(DomainError, match="Nothing differs from version 2"):
        add_version(first, researcher, {**first.params, "seed": 1}, "a note alone")


def test_invalid_versions_and_judges_are_refused(project, researcher, first):
    with pytest.raises(InvalidRun, match="parameter 'examples': found 'many'"):
        add_version(first, researcher, {**first.params, "examples": "many"})
    with pytest.raises(DomainError, match="note: found 501 characters"):
        add_version(first, researcher, {**first.params, "seed": 1}, "x" * 501)
    with pytest.raises(DomainError, match="called Coherence"):
        make_judge(project, researcher)
    with pytest.raises(DomainError, match="name: found 0 characters"):
        make_judge(project, researcher, name=" ")
    with pytest.raises(DomainError, match="'rouge', expected one that asks a model"):
        create_judge(project, researcher, "Words", "rouge", {})
    for user in (make_rater(project).user, make_rater(make_project()).user):
        with pytest.raises((NotAllowed, NotFound)):
            add_version(first, user, {**first.params, "seed": 3})
    with pytest.raises(NotFound, match="no version 9"):
        version_of(first.judge, 9)
    with pytest.raises(NotFound):
        judge_of(make_project(), first.judge_id)
    assert first.judge.versions.count() == 1


def test_only_changed_added_and_removed_parameters_are_listed():
    found = differences({"a": 1, "b": ["x", "y"], "old": True}, {"a": 1, "b": ["x"], "new": 0.5})
    assert [each[:3] for each in found] == [("b", "x,y", "x"), ("new", "", "0.5"), ("old", "yes", "")]
    assert isinstance(found[0], Difference)
    assert differences({"a": 1}, {"a": 1}) == []
