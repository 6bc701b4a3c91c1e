import pytest

from annotation.errors import DomainError, InvalidAnswers, NotFound
from annotation.gold.gold_set import AgreedAnswer, remove_from_gold_set, restore_to_gold_set, set_gold_answers
from annotation.gold.rounds import gold_available, round_decision, start_round
from annotation.models import GoldRating, Project, Rater, Summary
from annotation.rating.assigning import take_assignment
from tests.factories import ALL_YES, make_article, make_gold, make_project, make_rater, make_summary

pytestmark = pytest.mark.django_db


def agreed(**changes: str) -> dict[str, AgreedAnswer]:
    return {key: AgreedAnswer(value, f"Because {key}.") for key, value in {**ALL_YES, **changes}.items()}


def stored(summary: Summary) -> dict[str, tuple[str, str]]:
    rows = GoldRating.objects.get(summary=summary).answers.values_list(
        "question__key", "value", "explanation"
    )
    return {key: (value, explanation) for key, value, explanation in rows}


def test_setting_gold_answers_takes_a_summary_out_of_production():
    project = make_project()
    summary = make_summary(project)
    rater = make_rater(project)
    set_gold_answers(summary, agreed(grammar="no"))
    summary.refresh_from_db()
    assert (summary.ratings_wanted, summary.open_places) == (0, 0)
    assert take_assignment(rater) is None
    assert stored(summary)["grammar"] == ("no", "Because grammar.")


def test_changing_the_answers_drops_answers_no_longer_asked():
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
def test_it_refuses_incomplete_invalid_or_unexplained_answers(answers, field):
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


def test_an_unused_gold_item_returns_to_production_with_full_redundancy():
    project = make_project(redundancy=2)
    summary = make_gold(project).summary
    remove_from_gold_set(summary, to_be_rated=True)
    summary.refresh_from_db()
    assert (summary.ratings_wanted, summary.open_places) == (2, 2)
    assert not GoldRating.objects.exists()


def test_an_unused_gold_item_can_be_removed_without_being_rated():
    summary = make_gold(make_project()).summary
    remove_from_gold_set(summary, to_be_rated=False)
    summary.refresh_from_db()
    assert summary.ratings_wanted == 0
    assert not GoldRating.objects.exists()


def test_a_gold_item_seen_by_raters_is_retired_and_still_decides_their_round():
    project = make_project()
    summary = make_gold(project).summary
    rater = make_rater(project, status=Rater.Status.TRAINING)
    started = start_round(rater, "en")
    remove_from_gold_set(summary, to_be_rated=False)
    assert gold_available(rater.project, "en") == 0
    assert len(round_decision(started).results) == 6
    assert not Summary.objects.with_open_places(project, ["en"]).exists()


def test_a_gold_item_seen_by_raters_never_returns_to_production():
    project = make_project()
    summary = make_gold(project).summary
    start_round(make_rater(project, status=Rater.Status.TRAINING), "en")
    with pytest.raises(DomainError, match="have seen"):
        remove_from_gold_set(summary, to_be_rated=True)
    assert GoldRating.objects.filter(retired_at__isnull=True).exists()


def test_a_retired_gold_item_can_be_restored():
    project = make_project()
    summary = make_gold(project).summary
    rater = make_rater(project, status=Rater.Status.TRAINING)
    start_round(rater, "en")
    remove_from_gold_set(summary, to_be_rated=False)
    restore_to_gold_set(summary)
    assert gold_available(rater.project, "en") == 1


def test_it_refuses_to_remove_non_gold_or_restore_active_gold():
    project = make_project()
    with pytest.raises(NotFound):
        remove_from_gold_set(make_summary(project), to_be_rated=False)
    with pytest.raises(NotFound):
        restore_to_gold_set(make_gold(project).summary)


def test_every_change_of_the_gold_set_raises_the_projects_revision():
    project = make_project()
    summary = make_summary(project)

    def revision() -> int:
        return Project.objects.get(pk=project.pk).revision

    set_gold_answers(summary, agreed())
    assert revision() == 1
    remove_from_gold_set(summary, to_be_rated=True)
    assert revision() == 2
