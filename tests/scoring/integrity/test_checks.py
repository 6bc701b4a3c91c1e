"""Each check of check_integrity finds rows that break its rule, and nothing else is found."""

from collections.abc import Callable

import pytest
from django.core.management import call_command
from django.db import connection, transaction

from annotation.models import (
    Adjudication,
    Answer,
    Article,
    Assignment,
    ImportJob,
    Project,
    ProjectChange,
    Question,
    Rater,
    Rating,
    Summary,
)
from annotation.protocol import SUMMEVAL
from scoring.integrity.checks import CHECKS, SHOWN, check_results
from scoring.integrity.database_checks import TRIGGERS
from scoring.models import Batch, Run, Score, SeenArticle
from scoring.runs.lifecycle import delete_run
from scoring.runs.planning import plan_run
from scoring.runs.worker import work_on_run
from tests.factories import make_member, make_project, make_summary
from tests.scoring.integrity.sound_campaign import SoundCampaign, make_sound_campaign

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture(autouse=True)
def _separate_upload_folder(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path


def found(project: Project | None = None) -> dict[str, tuple[str, ...]]:
    return {each.check.name: each.examples for each in check_results(project) if each.broken}


def one_place_too_many(campaign: SoundCampaign) -> None:
    Summary.objects.filter(pk=campaign.finished.summary_id).update(open_places=1)


def a_place_of_a_withdrawn_summary(campaign: SoundCampaign) -> None:
    Summary.objects.filter(pk=campaign.withdrawn.pk).update(open_places=1)


def another_redundancy(campaign: SoundCampaign) -> None:
    Project.objects.filter(pk=campaign.project.pk).update(redundancy=2)


def a_lease_too_many(campaign: SoundCampaign) -> None:
    held = campaign.unfinished
    Assignment.objects.create(
        rater=campaign.idle,
        summary=campaign.finished.summary,
        stage_opened_at=held.stage_opened_at,
        leased_until=held.leased_until,
    )


def gold_for_everybody(campaign: SoundCampaign) -> None:
    Summary.objects.filter(project=campaign.project, gold__isnull=False).update(
        ratings_wanted=1, open_places=1
    )


def the_answer(campaign: SoundCampaign, key: str):
    return Answer.objects.filter(rating=campaign.finished, question__key=key)


def an_answer_off_the_scale(campaign: SoundCampaign) -> None:
    the_answer(campaign, "grammar").update(value="maybe")


def an_answer_after_the_end(campaign: SoundCampaign) -> None:
    the_answer(campaign, "comprehensibility").update(value="no")


def a_missing_answer(campaign: SoundCampaign) -> None:
    the_answer(campaign, "conciseness").delete()


def no_answers(campaign: SoundCampaign) -> None:
    campaign.finished.answers.all().delete()


def an_answer_to_a_strange_question(campaign: SoundCampaign) -> None:
    strange = Question.objects.filter(questionnaire=make_project(SUMMEVAL).questionnaire).first()
    the_answer(campaign, "grammar").update(question=strange)


def gold_without_an_answer(campaign: SoundCampaign) -> None:
    gold = campaign.project.summaries.filter(gold__isnull=False)[0].gold
    gold.answers.filter(question__key="grammar").delete()


def an_answer_to_the_open_stage(campaign: SoundCampaign) -> None:
    Assignment.objects.filter(pk=campaign.unfinished.pk).update(stage=2)


def an_earlier_revision_counts(campaign: SoundCampaign) -> None:
    first = the_answer(campaign, "grammar").get()
    Answer.objects.create(
        rating=first.rating,
        question=first.question,
        value="yes",
        revision=2,
        is_current=False,
        created_at=first.created_at,
    )


def a_finished_rating_under_way(campaign: SoundCampaign) -> None:
    Assignment.objects.filter(rating=campaign.finished).update(state="skipped")


def a_done_assignment_without_a_rating(campaign: SoundCampaign) -> None:
    Assignment.objects.filter(pk=campaign.unfinished.pk).update(state="done")
    Summary.objects.filter(pk=campaign.unfinished.summary_id).update(open_places=1)


def a_rating_by_somebody_else(campaign: SoundCampaign) -> None:
    Rating.objects.filter(pk=campaign.finished.pk).update(rater=campaign.idle)


def a_suspended_rater_at_work(campaign: SoundCampaign) -> None:
    Rater.objects.filter(pk=campaign.unfinished.rater_id).update(status="suspended")


def an_open_summary_of_a_decided_round(campaign: SoundCampaign) -> None:
    in_rounds = Assignment.objects.filter(rater__project=campaign.project, round__isnull=False)
    in_rounds.update(state="reopened")


def a_rater_of_another_language(campaign: SoundCampaign) -> None:
    campaign.unfinished.rater.qualifications.update(language="de")
    Rater.objects.filter(pk=campaign.unfinished.rater_id).update(languages=["de"])


def a_qualified_rater_without_qualification(campaign: SoundCampaign) -> None:
    campaign.idle.qualifications.all().delete()


def a_summary_of_another_projects_article(campaign: SoundCampaign) -> None:
    article = make_summary(make_project()).article
    Summary.objects.filter(pk=campaign.withdrawn.pk).update(article=article)


def a_decision_on_a_strange_question(campaign: SoundCampaign) -> None:
    strange = Question.objects.filter(questionnaire=make_project(SUMMEVAL).questionnaire).first()
    Adjudication.objects.filter(summary__project=campaign.project).update(question=strange)


def a_change_of_a_later_revision(campaign: SoundCampaign) -> None:
    ProjectChange.objects.create(
        project=campaign.project, revision=1_000_000, kind="rating", changed_id=campaign.finished.pk
    )


def another_text(campaign: SoundCampaign) -> None:
    Article.objects.filter(pk=campaign.withdrawn.article_id).update(text="Another text.")


def an_unmarked_article(campaign: SoundCampaign) -> None:
    SeenArticle.objects.filter(setup=campaign.run.setup).delete()


def a_missing_file(campaign: SoundCampaign) -> None:
    ImportJob.objects.filter(pk=campaign.job.pk).update(file="imports/gone.jsonl")


def one_summary_more_than_the_batches(campaign: SoundCampaign) -> None:
    Run.objects.filter(pk=campaign.run.pk).update(total=1)


def an_unfinished_batch_of_a_done_run(campaign: SoundCampaign) -> None:
    Batch.objects.filter(run=campaign.run).update(finished_at=None)


def a_batch_of_another_size(campaign: SoundCampaign) -> None:
    Batch.objects.filter(run=campaign.run).update(summary_ids=[])


def a_done_run_without_end(campaign: SoundCampaign) -> None:
    Run.objects.filter(pk=campaign.run.pk).update(finished_at=None)


def a_claimed_batch_that_is_finished(campaign: SoundCampaign) -> None:
    Batch.objects.filter(run=campaign.run).update(leased_until=campaign.unfinished.leased_until)


def a_missing_score(campaign: SoundCampaign) -> None:
    Score.objects.filter(run=campaign.run, summary=campaign.finished.summary_id).delete()


def an_infinite_score(campaign: SoundCampaign) -> None:
    Score.objects.filter(run=campaign.run, summary=campaign.finished.summary_id).update(value=float("inf"))


def a_score_of_another_projects_summary(campaign: SoundCampaign) -> None:
    strange = make_summary(make_project())
    own = Score.objects.filter(run=campaign.run).first()
    Score.objects.create(setup=own.setup, run=own.run, dimension=own.dimension, summary=strange, value=0.5)


def a_reply_that_nobody_paid(campaign: SoundCampaign) -> None:
    Run.objects.filter(pk=campaign.run.pk).update(spent=0)


DAMAGE: dict[str, list[Callable[[SoundCampaign], None]]] = {
    "open places": [one_place_too_many, a_place_of_a_withdrawn_summary],
    "wanted ratings": [another_redundancy],
    "ratings of a summary": [a_lease_too_many],
    "gold summaries": [gold_for_everybody],
    "answers": [
        an_answer_off_the_scale,
        an_answer_after_the_end,
        a_missing_answer,
        no_answers,
        an_answer_to_a_strange_question,
    ],
    "gold answers": [gold_without_an_answer],
    "locked stages": [an_answer_to_the_open_stage],
    "revisions": [an_earlier_revision_counts],
    "finished ratings": [
        a_finished_rating_under_way,
        a_done_assignment_without_a_rating,
        a_rating_by_somebody_else,
    ],
    "leases": [a_suspended_rater_at_work, an_open_summary_of_a_decided_round],
    "qualified raters": [a_rater_of_another_language],
    "qualified status": [a_qualified_rater_without_qualification],
    "one project": [a_summary_of_another_projects_article, a_decision_on_a_strange_question],
    "changes": [a_change_of_a_later_revision],
    "article digests": [another_text],
    "seen articles": [an_unmarked_article],
    "uploads": [a_missing_file],
    "runs": [
        one_summary_more_than_the_batches,
        an_unfinished_batch_of_a_done_run,
        a_batch_of_another_size,
    ],
    "ended work": [a_done_run_without_end],
    "claims": [a_claimed_batch_that_is_finished],
    "complete scores": [a_missing_score],
    "scores": [an_infinite_score, a_score_of_another_projects_summary],
    "money": [a_reply_that_nobody_paid],
}


def test_each_check_finds_damage_and_only_in_its_project(subtests):
    campaign, other = make_sound_campaign(), make_sound_campaign()
    assert found() == {}
    checks = {each.name: each for each in CHECKS if each.of_project}
    assert checks.keys() == DAMAGE.keys()
    for name, damages in DAMAGE.items():
        for damage in damages:
            with subtests.test(damage.__name__), transaction.atomic():
                damage(campaign)
                assert found(campaign.project).keys() == {name}
                assert list(checks[name].broken(other.project)) == []
                assert list(checks[name].broken(None)) == list(checks[name].broken(campaign.project))
                transaction.set_rollback(True)


def test_the_first_ten_rows_are_named():
    campaign = make_sound_campaign()
    for _ in range(SHOWN + 1):
        make_summary(campaign.project, ratings_wanted=2)
    broken = next(each for each in check_results(campaign.project) if each.check.name == "wanted ratings")
    assert (broken.broken, len(broken.examples)) == (SHOWN + 1, SHOWN)
    pk = int(broken.examples[0].removeprefix("summary "))
    assert Summary.objects.get(pk=pk).ratings_wanted == 2


def test_scores_that_went_with_a_deleted_run_are_not_missed():
    campaign = make_sound_campaign()
    make_summary(campaign.project)
    again = plan_run(campaign.project, "length", {})
    work_on_run(again.pk)
    delete_run(campaign.run, make_member(campaign.project, "manager"))
    assert Score.objects.filter(setup=again.setup_id).count() == 1
    assert found() == {}


def test_the_demo_projects_are_sound(settings):
    settings.LOCAL = True
    call_command("load_demo")
    for run in Run.objects.filter(status="queued", setup__evaluator="length"):
        work_on_run(run.pk)
    assert found() == {}


def test_a_missing_trigger():
    with connection.cursor() as cursor, transaction.atomic():
        table = "" if connection.vendor == "sqlite" else " ON annotation_auditentry"
        cursor.execute(f"DROP TRIGGER audit_entry_stays{table}")
        assert found() == {"triggers": ("audit_entry_stays",)}
        transaction.set_rollback(True)


sqlite_only = pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL checks itself")


@sqlite_only
def test_a_reference_to_nothing():
    campaign = make_sound_campaign()
    with transaction.atomic():
        Rating.objects.filter(pk=campaign.finished.pk).update(voided_by=1_000_000)
        assert found() == {"references": (f"annotation_rating {campaign.finished.pk} (no such auth_user)",)}
        transaction.set_rollback(True)


@sqlite_only
def test_a_row_that_a_constraint_forbids():
    campaign = make_sound_campaign()
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA ignore_check_constraints = ON")
        Score.objects.filter(run=campaign.run, summary=campaign.withdrawn).update(value=None)
        cursor.execute("PRAGMA ignore_check_constraints = OFF")
    assert found() == {"database file": ("CHECK constraint failed in scoring_score",)}


def test_every_trigger_is_known():
    statement = "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    if connection.vendor != "sqlite":
        statement = "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal"
    with connection.cursor() as cursor:
        cursor.execute(statement)
        assert sorted(name for (name,) in cursor.fetchall()) == list(TRIGGERS)
