"""Tags of disagreements: permissions, history and removal."""

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import IntegrityError, transaction

from annotation.errors import DomainError, NotAllowed, NotFound
from metaeval.disagreements.tags import LONGEST_NOTE, tag_disagreement, untag_disagreement
from metaeval.models import DisagreementTag
from tests.factories import make_member, make_project, make_rater, make_summary
from tests.metaeval.rated_projects import make_setup

pytestmark = pytest.mark.django_db

QUESTION = "comprehensibility"


@pytest.fixture
def researcher(project):
    return make_member(project, "researcher")


@pytest.fixture
def about(project):
    """Return the setup, question and summary of a tag."""
    return make_setup(project, "Length").pk, QUESTION, make_summary(project).pk


def current_tags(about):
    setup, question, summary = about
    return [
        (tag.verdict, tag.note, tag.created_by)
        for tag in DisagreementTag.objects.current().of_pair(setup, question).filter(summary=summary)
    ]


def test_a_tag_stores_verdict_note_and_author(project, researcher, about):
    tag_disagreement(project, researcher, *about, "label", "  The rater misread the name. ")
    assert current_tags(about) == [("label", "The rater misread the name.", researcher)]


def test_a_new_tag_ends_the_previous_one_but_keeps_it(project, researcher, about):
    tag_disagreement(project, researcher, *about, "label")
    manager = make_member(project, "manager")
    tag_disagreement(project, manager, *about, "evaluator")
    assert current_tags(about) == [("evaluator", "", manager)]
    before = DisagreementTag.objects.get(verdict="label")
    assert before.ended_by == manager
    assert before.ended_at is not None


def test_repeating_a_tag_changes_nothing_but_a_new_note_does(project, researcher, about):
    first = tag_disagreement(project, researcher, *about, "unclear", "Why?")
    assert tag_disagreement(project, make_member(project, "manager"), *about, "unclear", "Why?") == first
    assert DisagreementTag.objects.count() == 1
    tag_disagreement(project, researcher, *about, "unclear", "The article is cut off.")
    assert current_tags(about) == [("unclear", "The article is cut off.", researcher)]


def test_a_tag_can_be_removed_and_added_again(project, researcher, about):
    tag_disagreement(project, researcher, *about, "guideline")
    assert untag_disagreement(project, researcher, *about).ended_by == researcher
    assert current_tags(about) == []
    assert untag_disagreement(project, researcher, *about) is None
    tag_disagreement(project, researcher, *about, "guideline")
    assert len(current_tags(about)) == 1
    assert DisagreementTag.objects.count() == 2


def test_tags_are_separate_per_evaluator_and_question(project, researcher, about):
    setup, question, summary = about
    other = make_setup(project, "ROUGE").pk
    tag_disagreement(project, researcher, *about, "label")
    tag_disagreement(project, researcher, other, question, summary, "evaluator")
    tag_disagreement(project, researcher, setup, "repetition", summary, "guideline")
    assert current_tags(about) == [("label", "", researcher)]


def test_only_managers_and_researchers_of_the_project_can_tag(project, about):
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


def test_evaluators_and_summaries_of_other_projects_are_not_found(project, researcher, about):
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


def test_the_database_enforces_one_current_tag_and_known_verdicts(project, researcher, about):
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
