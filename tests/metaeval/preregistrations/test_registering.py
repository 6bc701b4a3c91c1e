"""Registering what a comparison is to show, and withdrawing it."""

from dataclasses import replace

import pytest
from django.db import IntegrityError, transaction

from annotation import protocol
from annotation.errors import DomainError, NotAllowed, NotFound
from annotation.models import AuditEntry
from annotation.projects.closing import close_campaign
from metaeval.models import Preregistration
from metaeval.preregistrations.registering import (
    LONGEST_NOTE,
    MOST,
    Statement,
    preregister,
    withdraw_preregistration,
)
from tests.factories import make_member, make_project, make_rater, make_summary
from tests.metaeval.rated_projects import make_setup, rate

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project(protocol.SUMMEVAL)


@pytest.fixture
def researcher(project):
    return make_member(project, "researcher")


@pytest.fixture
def statement(project):
    first, second = (make_setup(project, label).pk for label in ("BERTScore", "ROUGE-L"))
    return Statement("better", first, second, "coherence", "article", "kendall_b", note=" From a pilot. ")


def test_it_is_stored_with_its_time_its_author_and_the_ratings_so_far(project, researcher, statement):
    registered = preregister(project, researcher, statement)
    assert str(registered) == "BERTScore is better than ROUGE-L"
    assert (registered.registered_by, registered.ratings_before) == (researcher, 0)
    assert registered.note == "From a pilot."
    rate(make_summary(project), make_rater(project), coherence="3")
    other = preregister(project, researcher, replace(statement, coefficient="spearman"))
    assert other.ratings_before == 1
    assert list(Preregistration.objects.all()) == [registered, other]
    recorded = AuditEntry.objects.filter(project=project).values_list("action", "object", "reason")
    assert recorded[0] == ("comparison_preregistered", str(registered), "From a pilot.")


def test_open_results_pages_learn_of_it(project, researcher, statement):
    before = project.revision
    registered = preregister(project, researcher, statement)
    project.refresh_from_db()
    assert project.revision == before + 1
    withdraw_preregistration(project, researcher, registered.pk, "A typing error.")
    project.refresh_from_db()
    assert project.revision == before + 2


@pytest.mark.parametrize("role", ["annotator", "stranger"])
def test_only_managers_and_researchers_register_and_withdraw(project, researcher, statement, role):
    user = make_rater(project if role == "annotator" else make_project()).user
    refusal = NotAllowed if role == "annotator" else NotFound
    with pytest.raises(refusal):
        preregister(project, user, statement)
    registered = preregister(project, researcher, statement)
    with pytest.raises(refusal):
        withdraw_preregistration(project, user, registered.pk, "No.")
    assert preregister(project, make_member(project, "manager"), replace(statement, level="pooled"))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"claim": "nicer"}, "claim: found 'nicer'"),
        ({"level": "x"}, "level: found 'x'"),
        ({"coefficient": "x"}, "coefficient: found 'x'"),
        ({"language": "xx"}, "language: found 'xx'"),
        ({"group": "experts"}, "group: found 'experts'"),
        ({"question": "charm"}, "no such question"),
        ({"margin": 0.02}, "a claim of being better has none"),
        ({"claim": "as_good"}, "margin: found 0, expected more than 0"),
        ({"claim": "equivalent", "margin": 1.0}, "margin: found 1, expected more than 0 and less than 1"),
        ({"claim": "equivalent", "margin": float("nan")}, "margin: found nan"),
        ({"note": "x" * (LONGEST_NOTE + 1)}, "note: found 501 characters"),
    ],
)
def test_an_incomplete_statement_is_refused(project, researcher, statement, changes, words):
    with pytest.raises((DomainError, NotFound), match=words):
        preregister(project, researcher, replace(statement, **changes))
    assert not Preregistration.objects.exists()


def test_both_evaluators_must_be_the_projects_and_differ(project, researcher, statement):
    with pytest.raises(DomainError, match="the same evaluator"):
        preregister(project, researcher, replace(statement, second=statement.first))
    elsewhere = make_setup(make_project(), "Elsewhere").pk
    with pytest.raises(NotFound):
        preregister(project, researcher, replace(statement, second=elsewhere))


def test_the_same_is_registered_once_until_it_is_withdrawn(project, researcher, statement):
    registered = preregister(project, researcher, statement)
    with pytest.raises(DomainError, match="registered already"):
        preregister(project, researcher, statement)
    withdraw_preregistration(project, researcher, registered.pk, "Wrong question.")
    assert preregister(project, researcher, statement).pk != registered.pk


def test_a_project_has_so_many_at_most(project, researcher, statement):
    registered = preregister(project, researcher, statement)
    others = [
        Preregistration(
            **{each.attname: getattr(registered, each.attname) for each in Preregistration._meta.fields[1:]}
        )
        for _ in range(MOST - 1)
    ]
    Preregistration.objects.bulk_create(others)
    with pytest.raises(DomainError, match=f"at most {MOST}"):
        preregister(project, researcher, replace(statement, level="pooled"))


def test_nothing_is_registered_once_the_campaign_is_closed(project, researcher, statement):
    close_campaign(project, make_member(project, "manager"))
    with pytest.raises(DomainError, match="its results are known"):
        preregister(project, researcher, statement)


def test_a_withdrawn_one_is_kept_with_the_first_reason(project, researcher, statement):
    registered = preregister(project, researcher, statement)
    for reason in ("Wrong question.", "Another thought."):
        withdraw_preregistration(project, researcher, registered.pk, reason)
    registered.refresh_from_db()
    assert (registered.withdrawn_by, registered.withdrawn_because) == (researcher, "Wrong question.")
    assert registered.was_unseen
    assert AuditEntry.objects.filter(action="preregistration_withdrawn").count() == 1


def test_its_result_may_be_known_once_there_is_a_rating(project, researcher, statement):
    registered = preregister(project, researcher, statement)
    rate(make_summary(project), make_rater(project), coherence="3")
    assert not withdraw_preregistration(project, researcher, registered.pk, "Too late.").was_unseen


@pytest.mark.parametrize("reason", ["", "  ", "x" * (LONGEST_NOTE + 1)])
def test_withdrawing_takes_a_reason(project, researcher, statement, reason):
    registered = preregister(project, researcher, statement)
    with pytest.raises(DomainError):
        withdraw_preregistration(project, researcher, registered.pk, reason)
    registered.refresh_from_db()
    assert registered.withdrawn_at is None


def test_one_of_another_project_is_not_found(project, researcher, statement):
    other = make_project(protocol.SUMMEVAL)
    pair = [make_setup(other, label).pk for label in ("One", "Other")]
    elsewhere = preregister(
        other, make_member(other, "manager"), replace(statement, first=pair[0], second=pair[1])
    )
    with pytest.raises(NotFound):
        withdraw_preregistration(project, researcher, elsewhere.pk, "Not mine.")


def test_the_database_refuses_a_margin_that_does_not_fit_the_claim(project, researcher, statement):
    registered = preregister(project, researcher, statement)
    with pytest.raises(IntegrityError), transaction.atomic():
        Preregistration.objects.filter(pk=registered.pk).update(claim="as_good")
