"""Tagging disagreements: who may, what is kept, and taking it back."""

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import IntegrityError, transaction

from annotation.errors import DomainError, NotAllowed, NotFound
from metaeval.actions import LONGEST_NOTE, tag_disagreement, untag_disagreement
from metaeval.models import DisagreementTag
from tests.factories import make_member, make_project, make_rater, make_summary
from tests.metaeval.rated_projects import make_setup

pytestmark = pytest.mark.django_db

QUESTION = "comprehensibility"


@pytest.fixture
def project():
    return make_project()


@pytest.fixture
def researcher(project):
    return make_member(project, "researcher")


@pytest.fixture
def about(project):
    """What a tag is about: setup, question, summary."""
    return make_setup(project, "Length").pk, QUESTION, make_summary(project).pk


def current(about):
    setup, question, summary = about
    return [
        (tag.verdict, tag.note, tag.created_by)
        for tag in DisagreementTag.objects.current().of_pair(setup, question).filter(summary=summary)
    ]


def test_a_tag_says_who_is_wrong_why_and_who_said_so(project, researcher, about):
    tag_disagreement(project, researcher, *about, "label", "  The rater misread the name. ")
    assert current(about) == [("label", "The rater misread the name.", researcher)]


def test_a_changed_tag_replaces_the_one_before_which_stays_with_its_end(project, researcher, about):
    tag_disagreement(project, researcher, *about, "label")
    manager = make_member(project, "manager")
    tag_disagreement(project, manager, *about, "evaluator")
    assert current(about) == [("evaluator", "", manager)]
    before = DisagreementTag.objects.get(verdict="label")
    assert before.ended_by == manager
    assert before.ended_at is not None


def test_the_same_tag_again_changes_nothing_and_another_note_does(project, researcher, about):
    first = tag_disagreement(project, researcher, *about, "unclear", "Why?")
    assert tag_disagreement(project, make_member(project, "manager"), *about, "unclear", "Why?") == first
    assert DisagreementTag.objects.count() == 1
    tag_disagreement(project, researcher, *about, "unclear", "The article is cut off.")
    assert current(about) == [("unclear", "The article is cut off.", researcher)]


def test_a_tag_can_be_taken_away_and_given_again(project, researcher, about):
    tag_disagreement(project, researcher, *about, "guideline")
    assert untag_disagreement(project, researcher, *about).ended_by == researcher
    assert current(about) == []
    assert untag_disagreement(project, researcher, *about) is None
    tag_disagreement(project, researcher, *about, "guideline")
    assert len(current(about)) == 1
    assert DisagreementTag.objects.count() == 2


def test_tags_of_other_evaluators_and_questions_stand_apart(project, researcher, about):
    setup, question, summary = about
    other = make_setup(project, "ROUGE").pk
    tag_disagreement(project, researcher, *about, "label")
    tag_disagreement(project, researcher, other, question, summary, "evaluator")
    tag_disagreement(project, researcher, setup, "repetition", summary, "guideline")
    assert current(about) == [("label", "", researcher)]


def test_only_managers_and_researchers_of_the_project_may(project, about):
    for user, refusal in (
        (make_rater(project).user, NotAllowed),
        (make_member(make_project(), "manager"), NotFound),
        (AnonymousUser(), NotFound),
    ):
        with pytest.raises(refusal):
            tag_disagreement(project, user, *about, "label")
        with pytest.raises(refusal):
            untag_disagreement(project, user, *about)
    assert not DisagreementTag.objects.exists()


def test_what_is_not_the_projects_does_not_exist(project, researcher, about):
    setup, question, summary = about
    other = make_project()
    for wrong in (
        (make_setup(other, "Length").pk, question, summary),
        (setup, "no-such-question", summary),
        (setup, question, make_summary(other).pk),
    ):
        with pytest.raises(NotFound):
            tag_disagreement(project, researcher, *wrong, "label")


def test_unknown_verdicts_and_long_notes_are_refused(project, researcher, about):
    with pytest.raises(DomainError, match="verdict: found 'nobody', expected one of evaluator"):
        tag_disagreement(project, researcher, *about, "nobody")
    with pytest.raises(DomainError, match="at most 500"):
        tag_disagreement(project, researcher, *about, "label", "x" * (LONGEST_NOTE + 1))
    assert not DisagreementTag.objects.exists()


def test_the_database_holds_one_current_tag_and_known_verdicts_only(project, researcher, about):
    tag = tag_disagreement(project, researcher, *about, "label")
    for verdict, ended_at in (("unclear", None), ("nobody", tag.created_at)):
        with pytest.raises(IntegrityError), transaction.atomic():
            DisagreementTag.objects.create(
                setup=tag.setup,
                question=tag.question,
                summary=tag.summary,
                verdict=verdict,
                created_at=tag.created_at,
                ended_at=ended_at,
            )
