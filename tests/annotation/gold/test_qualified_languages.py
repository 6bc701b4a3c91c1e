import pytest

from annotation.errors import DomainError, NotAllowed
from annotation.gold.qualified_languages import (
    LanguageState,
    choose_language,
    current_language,
    qualified_languages,
    qualify_rater,
    rater_languages,
    withdraw_qualification,
)
from annotation.gold.rounds import next_in_round, open_round, start_round
from annotation.models import Assignment, Rater
from annotation.people.members import reinstate_rater, remove_rater, suspend_rater
from annotation.rating.assigning import take_assignment
from annotation.rating.submitting import GivenAnswer
from tests.annotation.rating.rating_steps import submit_stage
from tests.factories import make_gold, make_member, make_project, make_rater, make_summary

pytestmark = pytest.mark.django_db
NO = {"comprehensibility": "no"}


@pytest.fixture
def project():
    made = make_project(gold_round_size=1)
    for language in ("de", "en"):
        make_gold(made, NO, language=language)
        make_summary(made, language=language)
    return made


@pytest.fixture
def rater(project):
    return make_rater(project, status=Rater.Status.TRAINING, languages=["de", "en", "vi"])


def pass_round(rater, language):
    current = start_round(rater, language)
    submit_stage(rater, next_in_round(current).pk, 1, {"comprehensibility": GivenAnswer("no")})
    current.refresh_from_db()
    rater.refresh_from_db()
    return current


def test_a_passed_round_qualifies_in_its_language_only(rater):
    passed = pass_round(rater, "de")
    assert (passed.passed, passed.language) == (True, "de")
    assert qualified_languages(rater) == ["de"]
    assert rater.status == Rater.Status.QUALIFIED
    assert rater.qualifications.get().round == passed
    assert take_assignment(rater).summary.article.language == "de"


def test_work_comes_only_in_the_chosen_language_and_only_when_qualified_in_it(rater):
    pass_round(rater, "de")
    choose_language(rater, "en")
    with pytest.raises(NotAllowed, match="after you pass a gold round"):
        take_assignment(rater)
    pass_round(rater, "en")
    assert take_assignment(rater).summary.article.language == "en"
    choose_language(rater, "de")
    assert take_assignment(rater).summary.article.language == "de"
    assert rater.assignments.filter(state=Assignment.State.OPEN, round__isnull=True).count() == 2


def test_each_language_says_what_it_needs(rater):
    pass_round(rater, "de")
    start_round(rater, "en")
    choose_language(rater, "en")
    states = [(each.language, each.state, each.is_current, each.waiting) for each in rater_languages(rater)]
    assert states == [
        ("de", LanguageState.QUALIFIED, False, 1),
        ("en", LanguageState.ROUND_OPEN, True, 0),
        ("vi", LanguageState.NO_GOLD, False, 0),
    ]


def test_rounds_in_two_languages_may_be_open_at_once(rater):
    first, second = start_round(rater, "de"), start_round(rater, "en")
    assert (first.number, second.number) == (1, 2)
    assert open_round(rater, "de") == first
    for each in (first, second):
        assert {a.summary.article.language for a in each.assignments.all()} == {each.language}


def test_the_only_language_needs_no_choice_and_a_lost_one_no_longer_counts(project):
    assert current_language(make_rater(project, languages=["en"], chosen_language="de")) == "en"
    assert current_language(make_rater(project, languages=["de", "en"], chosen_language="vi")) == ""
    with pytest.raises(DomainError, match="not one of your languages"):
        choose_language(make_rater(project), "de")


def test_a_manager_qualifies_in_one_language_and_is_named(rater, project):
    manager = make_member(project, "manager")
    assert qualify_rater(rater, manager, "vi").decided_by == manager
    assert qualified_languages(rater) == ["vi"]
    with pytest.raises(DomainError, match="does not rate in 'tr'"):
        qualify_rater(rater, manager, "tr")
    with pytest.raises(NotAllowed):
        qualify_rater(rater, make_member(project, "researcher"), "de")


def test_a_withdrawn_qualification_returns_the_open_summary_and_needs_another_round(rater, project):
    manager = make_member(project, "manager")
    pass_round(rater, "de")
    held = take_assignment(rater)
    withdraw_qualification(rater, manager, "de")
    held.refresh_from_db()
    held.summary.refresh_from_db()
    rater.refresh_from_db()
    assert (held.state, held.summary.open_places) == (Assignment.State.RELEASED, 1)
    assert rater.status == Rater.Status.TRAINING
    assert start_round(rater, "de").number == 2
    with pytest.raises(DomainError, match="is not qualified"):
        withdraw_qualification(rater, manager, "de")


def test_a_suspended_rater_returns_as_what_they_became_meanwhile(rater, project):
    manager = make_member(project, "manager")
    suspend_rater(rater)
    qualify_rater(rater, manager, "de")
    rater.refresh_from_db()
    assert rater.status == Rater.Status.SUSPENDED
    with pytest.raises(NotAllowed):
        take_assignment(rater)
    remove_rater(rater)
    with pytest.raises(NotAllowed, match="Reinstate"):
        qualify_rater(rater, manager, "en")
    for _ in range(2):  # from removed to suspended, and from suspended
        reinstate_rater(rater)
    rater.refresh_from_db()
    assert rater.status == Rater.Status.QUALIFIED
