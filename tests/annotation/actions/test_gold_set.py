import pytest

from annotation.actions.assigning import take_assignment
from annotation.actions.gold_rounds import gold_available, round_decision, start_round
from annotation.actions.gold_set import (
    AgreedAnswer,
    remove_from_gold_set,
    restore_to_gold_set,
    set_gold_answers,
)
from annotation.errors import DomainError, InvalidAnswers, NotFound
from annotation.models import GoldRating, Project, Rater, Summary
from tests.factories import ALL_YES, make_article, make_gold, make_project, make_rater, make_summary

pytestmark = pytest.mark.django_db


def agreed(**changes: str) -> dict[str, AgreedAnswer]:
    return {key: AgreedAnswer(value, f"Because {key}.") for key, value in {**ALL_YES, **changes}.items()}


def stored(summary: Summary) -> dict[str, tuple[str, str]]:
    rows = GoldRating.objects.get(summary=summary).answers.values_list(
        "question__key", "value", "explanation"
    )
    return {key: (value, explanation) for key, value, explanation in rows}


def test_a_summary_with_agreed_answers_is_gold_and_no_longer_given_out():
    project = make_project()
    summary = make_summary(project)
    rater = make_rater(project)
    set_gold_answers(summary, agreed(grammar="no"))
    summary.refresh_from_db()
    assert (summary.ratings_wanted, summary.open_places) == (0, 0)
    assert take_assignment(rater) is None
    assert stored(summary)["grammar"] == ("no", "Because grammar.")


def test_changing_the_answers_drops_those_that_are_no_longer_asked():
    summary = make_gold(make_project()).summary
    set_gold_answers(summary, {"comprehensibility": AgreedAnswer("no", "It cannot be read.")})
    assert stored(summary) == {"comprehensibility": ("no", "It cannot be read.")}


@pytest.mark.parametrize(
    ("answers", "field"),
    [
        ({}, "comprehensibility"),
        ({"comprehensibility": AgreedAnswer("yes", "Clear.")}, "repetition"),
        (agreed(comprehensibility="no"), "repetition"),
        (agreed(grammar="maybe"), "grammar"),
        ({**agreed(), "grammar": AgreedAnswer("yes", "  ")}, "grammar"),
        ({**agreed(), "grammar": AgreedAnswer("yes", "x" * 2001)}, "grammar"),
        ({**agreed(), "beauty": AgreedAnswer("yes", "Nice.")}, "beauty"),
    ],
)
def test_it_refuses_answers_that_are_incomplete_invalid_or_unexplained(answers, field):
    summary = make_summary(make_project())
    with pytest.raises(InvalidAnswers) as refused:
        set_gold_answers(summary, answers)
    assert field in refused.value.fields
    assert not GoldRating.objects.exists()
    summary.refresh_from_db()
    assert summary.ratings_wanted == 1


def test_it_refuses_a_summary_whose_article_has_no_text():
    project = make_project()
    summary = make_summary(project, article=make_article(project, text=""))
    with pytest.raises(DomainError, match="no text"):
        set_gold_answers(summary, agreed())


def test_an_unused_gold_item_goes_back_to_the_raters_with_the_projects_redundancy():
    project = make_project(redundancy=2)
    summary = make_gold(project).summary
    remove_from_gold_set(summary, to_be_rated=True)
    summary.refresh_from_db()
    assert (summary.ratings_wanted, summary.open_places) == (2, 2)
    assert not GoldRating.objects.exists()


def test_an_unused_gold_item_may_be_removed_without_being_rated():
    summary = make_gold(make_project()).summary
    remove_from_gold_set(summary, to_be_rated=False)
    summary.refresh_from_db()
    assert summary.ratings_wanted == 0
    assert not GoldRating.objects.exists()


def test_a_gold_item_that_raters_know_is_retired_and_still_judges_their_round():
    project = make_project()
    summary = make_gold(project).summary
    rater = make_rater(project, status=Rater.Status.TRAINING)
    started = start_round(rater)
    remove_from_gold_set(summary, to_be_rated=False)
    assert gold_available(rater) == 0
    assert len(round_decision(started).results) == 6
    assert not Summary.objects.with_open_places(project, ["en"]).exists()


def test_a_gold_item_that_raters_know_is_never_given_out_for_production():
    project = make_project()
    summary = make_gold(project).summary
    start_round(make_rater(project, status=Rater.Status.TRAINING))
    with pytest.raises(DomainError, match="know"):
        remove_from_gold_set(summary, to_be_rated=True)
    assert GoldRating.objects.filter(retired_at__isnull=True).exists()


def test_a_retired_gold_item_can_be_restored():
    project = make_project()
    summary = make_gold(project).summary
    rater = make_rater(project, status=Rater.Status.TRAINING)
    start_round(rater)
    remove_from_gold_set(summary, to_be_rated=False)
    restore_to_gold_set(summary)
    assert gold_available(rater) == 1


def test_it_refuses_to_remove_or_restore_what_is_not_in_that_state():
    project = make_project()
    with pytest.raises(NotFound):
        remove_from_gold_set(make_summary(project), to_be_rated=False)
    with pytest.raises(NotFound):
        restore_to_gold_set(make_gold(project).summary)


def test_every_change_of_the_gold_set_is_announced():
    project = make_project()
    summary = make_summary(project)

    def revision() -> int:
        return Project.objects.get(pk=project.pk).revision

    set_gold_answers(summary, agreed())
    assert revision() == 1
    remove_from_gold_set(summary, to_be_rated=True)
    assert revision() == 2
