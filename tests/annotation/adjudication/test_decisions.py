"""Deciding answers on which raters disagree."""

import pytest

from annotation.adjudication.decisions import (
    LONGEST_DECISION_NOTE,
    DecidedAnswer,
    decide_answers,
    decisions_on,
    settled_answers,
    withdraw_decision,
)
from annotation.errors import DomainError, InvalidAnswers, NotAllowed, NotFound
from annotation.models import Adjudication, Answer, Rater
from tests.factories import make_gold, make_member, make_project, make_rater, make_summary
from tests.metaeval.rated_projects import rate

pytestmark = pytest.mark.django_db


@pytest.fixture
def summary(project):
    """Return a summary on whose grammar two raters disagree."""
    made = make_summary(project)
    for value in ("yes", "no"):
        rate(made, make_rater(project), comprehensibility="yes", grammar=value)
    return made


def history(summary):
    return [
        (each.question.key, each.value, each.note, each.ended_at is None) for each in decisions_on(summary)
    ]


def test_a_decision_is_kept_with_who_made_it_and_can_be_revised_and_withdrawn(project, manager, summary):
    answers = list(Answer.objects.values_list("pk", "value"))
    revision = type(project).objects.get(pk=project.pk).revision
    (first,) = decide_answers(project, manager, summary.pk, {"grammar": DecidedAnswer("no", " No verb. ")})
    assert (first.decided_by, first.note) == (manager, "No verb.")
    other = make_member(project, "manager")
    decide_answers(project, other, summary.pk, {"grammar": DecidedAnswer("unsure")})
    assert list(settled_answers(project)) == [(summary.pk, "grammar", "unsure")]
    withdraw_decision(project, other, summary.pk, "grammar")
    assert list(settled_answers(project)) == []
    assert history(summary) == [("grammar", "no", "No verb.", False), ("grammar", "unsure", "", False)]
    assert {each.ended_by for each in Adjudication.objects.all()} == {other}
    assert list(Answer.objects.values_list("pk", "value")) == answers
    assert type(project).objects.get(pk=project.pk).revision == revision + 3
    with pytest.raises(NotFound, match="no decision"):
        withdraw_decision(project, other, summary.pk, "grammar")


def test_deciding_the_same_again_changes_nothing(project, manager, summary):
    decided = {"grammar": DecidedAnswer("no"), "comprehensibility": DecidedAnswer("yes")}
    assert len(decide_answers(project, manager, summary.pk, decided)) == 2
    revision = type(project).objects.get(pk=project.pk).revision
    assert decide_answers(project, manager, summary.pk, decided) == []
    assert type(project).objects.get(pk=project.pk).revision == revision


def test_only_managers_of_the_project_decide(project, summary):
    for person, refusal in (
        (make_member(project, "researcher"), NotAllowed),
        (Rater.objects.filter(project=project)[0].user, NotAllowed),
        (make_member(make_project(), "manager"), NotFound),
    ):
        with pytest.raises(refusal):
            decide_answers(project, person, summary.pk, {"grammar": DecidedAnswer("no")})
        with pytest.raises(refusal):
            withdraw_decision(project, person, summary.pk, "grammar")
    assert not Adjudication.objects.exists()


@pytest.mark.parametrize(
    ("key", "answer", "message"),
    [
        ("grammar", DecidedAnswer("maybe"), "Found 'maybe', expected one of yes, no, unsure"),
        ("grammar", DecidedAnswer(""), "Found ''"),
        ("style", DecidedAnswer("yes"), "no question 'style'"),
        ("grammar", DecidedAnswer("yes", "x" * (LONGEST_DECISION_NOTE + 1)), "2001 characters"),
    ],
)
def test_an_invalid_decision_is_refused_whole(project, manager, summary, key, answer, message):
    with pytest.raises(InvalidAnswers, match=message):
        decide_answers(project, manager, summary.pk, {"comprehensibility": DecidedAnswer("yes"), key: answer})
    assert not Adjudication.objects.exists()


def test_a_summary_without_ratings_that_count_is_refused(project, manager, summary):
    Rater.objects.filter(project=project).update(status=Rater.Status.REMOVED)
    for each in (summary, make_summary(project)):
        with pytest.raises(DomainError, match="nothing to decide"):
            decide_answers(project, manager, each.pk, {"grammar": DecidedAnswer("no")})
    with pytest.raises(NotFound):
        decide_answers(project, manager, make_summary(make_project()).pk, {"grammar": DecidedAnswer("no")})


def test_gold_answers_settle_questions_that_nobody_decided(project, manager):
    gold = make_gold(project, {"comprehensibility": "yes", "grammar": "yes"})
    rate(gold.summary, make_rater(project), comprehensibility="yes", grammar="no")
    decide_answers(project, manager, gold.summary_id, {"grammar": DecidedAnswer("no")})
    assert set(settled_answers(project)) == {
        (gold.summary_id, "grammar", "no"),
        (gold.summary_id, "comprehensibility", "yes"),
    }
