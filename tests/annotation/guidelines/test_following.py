"""Raters confirm the guidelines before they rate, and answers know the version."""

import pytest

from annotation.errors import DomainError, GuidelinesUnconfirmed
from annotation.gold.rounds import next_in_round, start_round
from annotation.guidelines.following import (
    confirm_guidelines,
    current_guidelines,
    followed_versions,
    followers_of,
    raters_to_confirm,
    require_confirmed,
)
from annotation.guidelines.versions import start_draft
from annotation.models import Answer, Assignment, Rater, Rating
from annotation.people.members import suspend_rater
from annotation.rating.assigning import take_assignment
from annotation.rating.current_assignment import next_assignment
from annotation.rating.desk import desk_at
from annotation.rating.submitting import GivenAnswer, correct_answer, save_draft
from tests.annotation.rating.rating_steps import FIRST, at_stage, submit_stage
from tests.factories import (
    make_gold,
    make_member,
    make_project,
    make_rater,
    make_summary,
    publish_guidelines,
)

pytestmark = pytest.mark.django_db

YES = {"comprehensibility": GivenAnswer("yes")}


@pytest.fixture
def rater(project):
    make_summary(project)
    return make_rater(project)


def confirm(rater, *versions):
    confirm_guidelines(rater, [version.pk for version in versions])


def test_without_guidelines_nothing_is_asked_and_answers_name_none(rater):
    assignment = take_assignment(rater)
    submit_stage(rater, assignment.pk, 1, YES)
    assert followed_versions(rater) == []
    assert Answer.objects.get().guidelines is None


def test_a_rater_gets_no_summary_before_they_confirm(project, rater):
    version = publish_guidelines(project)
    with pytest.raises(GuidelinesUnconfirmed):
        take_assignment(rater)
    assert not Assignment.objects.exists()
    confirm(rater, version)
    confirm(rater, version)
    assert take_assignment(rater) is not None
    assert rater.confirmations.count() == 1


def test_a_newcomer_confirms_before_the_first_gold_round(project):
    make_gold(project)
    newcomer = make_rater(project, status=Rater.Status.TRAINING)
    version = publish_guidelines(project)
    with pytest.raises(GuidelinesUnconfirmed):
        start_round(newcomer, "en")
    with pytest.raises(GuidelinesUnconfirmed):
        next_assignment(newcomer)
    assert not newcomer.rounds.exists()
    confirm(newcomer, version)
    assert next_in_round(start_round(newcomer, "en")) is not None


def test_a_new_version_stops_every_step_of_a_rating_but_drafts(project, rater):
    confirm(rater, publish_guidelines(project))
    assignment = take_assignment(rater)
    at_stage(assignment, 2)
    new = publish_guidelines(project, "Rate better.")
    given = {"repetition": GivenAnswer("yes"), "grammar": GivenAnswer("yes")}
    for act in (
        lambda: submit_stage(rater, assignment.pk, 2, given),
        lambda: desk_at(rater, assignment.pk).require_open(),
        lambda: next_assignment(rater),
    ):
        with pytest.raises(GuidelinesUnconfirmed):
            act()
    save_draft(rater, assignment.pk, 2, given)
    # what was acknowledged before is acknowledged again
    submit_stage(rater, assignment.pk, 1, {key: GivenAnswer(value) for key, value in FIRST.items()})
    confirm(rater, new)
    submit_stage(rater, assignment.pk, 2, given)
    versions = dict(Answer.objects.values_list("question__key", "guidelines__number"))
    assert versions == {"comprehensibility": 1, "repetition": 2, "grammar": 2}


def test_a_correction_knows_the_version_under_which_it_was_made(project, rater):
    assignment = take_assignment(rater)
    at_stage(assignment, 4)
    rating = Rating.objects.get()
    new = publish_guidelines(project)
    with pytest.raises(GuidelinesUnconfirmed):
        correct_answer(rater, rating.pk, "grammar", GivenAnswer("yes"))
    confirm(rater, new)
    correct_answer(rater, rating.pk, "grammar", GivenAnswer("yes"))
    versions = Answer.objects.filter(question__key="grammar").order_by("revision")
    assert [answer.guidelines for answer in versions] == [None, new]


def test_raters_follow_their_own_language_and_otherwise_the_default_one(project):
    english, german = publish_guidelines(project), publish_guidelines(project, language="de")
    rater = make_rater(project, languages=["de", "en", "tr"])
    found = {each.version: each.languages for each in followed_versions(rater)}
    assert found == {german: ("de",), english: ("en", "tr")}
    confirm(rater, english)
    with pytest.raises(GuidelinesUnconfirmed):
        require_confirmed(rater)
    confirm(rater, german)
    current = require_confirmed(rater)
    assert [current.version_for(language) for language in ("de", "en", "tr")] == [german, english, english]


def test_the_answer_names_the_version_in_the_language_of_the_summary(project):
    english, german = publish_guidelines(project), publish_guidelines(project, language="de")
    rater = make_rater(project, languages=["de", "en"])
    confirm(rater, english, german)
    make_summary(project, language="de")
    submit_stage(rater, take_assignment(rater).pk, 1, YES)
    assert Answer.objects.get().guidelines == german


def test_without_guidelines_in_the_own_or_the_default_language_nothing_is_asked(project, rater):
    publish_guidelines(project, language="de")
    assert take_assignment(rater) is not None


def test_only_current_versions_can_be_confirmed(project, rater):
    old = publish_guidelines(project)
    new = publish_guidelines(project, "Rate better.")
    foreign = publish_guidelines(make_project())
    for versions in ([], [old.pk], [new.pk, foreign.pk]):
        with pytest.raises(DomainError, match="have changed"):
            confirm_guidelines(rater, versions)
    assert not rater.confirmations.exists()


def test_a_rater_is_shown_which_version_they_confirmed_before(project, rater):
    old = publish_guidelines(project)
    confirm(rater, old)
    new = publish_guidelines(project, "Rate better.")
    (found,) = followed_versions(rater)
    assert (found.version, found.confirmed_at, found.confirmed_before) == (new, None, old)


def test_managers_see_who_has_confirmed_and_who_must_confirm_a_draft(project, rater):
    version = publish_guidelines(project)
    confirm(rater, version)
    waiting = make_rater(project, languages=["tr"])
    suspend_rater(make_rater(project))
    make_rater(project, user=None)
    found = followers_of(project, version, current_guidelines(project))
    assert {each.rater: each.confirmed_at is not None for each in found} == {rater: True, waiting: False}
    manager = make_member(project, "manager")
    assert raters_to_confirm(start_draft(project, manager, "tr", "Oku.")) == [waiting]
