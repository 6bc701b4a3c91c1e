import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from annotation.errors import NotAllowed
from annotation.gold.rounds import start_round
from annotation.imports.jobs import queue_import
from annotation.imports.undoing import ImportInUse, effect_of_undoing, is_undoable, undo_import
from annotation.models import GoldRating, Project, Rater, Rating, Role, Summary, System
from annotation.rating.assigning import take_assignment
from metaeval.models import DisagreementTag
from scoring.models import Score, Setup
from scoring.runs.imported_scores import work_on_import
from tests.annotation.imports.importing_steps import revision, row_counts
from tests.annotation.rating.rating_steps import signed_in, text_of
from tests.factories import (
    make_article,
    make_member,
    make_rater,
    make_summary,
    make_system,
)

pytestmark = pytest.mark.django_db

RATINGS = """article_id,system,rater,question,value,summary,article,language
a1,s1,r1,comprehensibility,no,Text 1,Article 1,en
a1,s2,r1,comprehensibility,no,Text 2,Article 1,en
"""
SCORES = '{"id": "a1/s1", "scores": {"quality": 0.5}}\n'


@pytest.fixture(autouse=True)
def _folder(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path


def imported(project, manager, format_name, name, content, **options):
    job = queue_import(
        project, manager, format_name, SimpleUploadedFile(name, content.encode()), options=options
    )
    work_on_import(job.pk)
    job.refresh_from_db()
    assert job.status == "done", (job.failure, job.errors)
    return job


def import_ratings(project, manager):
    return imported(project, manager, "ratings", "ratings.csv", RATINGS)


def import_scores(project, manager):
    return imported(project, manager, "scores", "scores.jsonl", SCORES)


def test_an_import_is_undone_as_a_whole_and_can_be_repeated(project, manager):
    make_summary(project)
    before = row_counts(project)
    job = import_ratings(project, manager)
    loaded = row_counts(project)
    assert effect_of_undoing(job).deleted == {
        "articles": 1,
        "systems": 2,
        "summaries": 2,
        "raters": 1,
        "ratings": 2,
    }
    at = revision(project)
    undo_import(job, manager)
    assert row_counts(project) == before
    assert revision(project) > at
    assert (job.undone_by, is_undoable(job)) == (manager, False)
    with pytest.raises(ImportInUse, match="only once"):
        undo_import(job, manager)
    import_ratings(project, manager)
    assert row_counts(project) == loaded


def test_ratings_that_were_imported_onto_earlier_summaries_free_their_places(project, manager):
    article = make_article(project, external_id="a1", text="Article 1")
    for number in (1, 2):
        make_summary(
            project, article=article, system=make_system(project, f"s{number}"), text=f"Text {number}"
        )
    job = import_ratings(project, manager)
    assert [summary.open_places for summary in Summary.objects.all()] == [0, 0]
    undo_import(job, manager)
    assert [summary.open_places for summary in Summary.objects.all()] == [1, 1]
    assert not Rating.objects.exists()


def test_an_import_with_scores_is_undone_with_its_runs(project, manager):
    import_ratings(project, manager)
    job = import_scores(project, manager)
    assert Score.objects.count() == 1
    undo_import(job, manager)
    assert not Score.objects.exists()
    assert not Setup.objects.exists()


def test_what_depends_on_an_import_is_named_and_keeps_it(project, manager):
    job = import_ratings(project, manager)
    scores = import_scores(project, manager)
    assert effect_of_undoing(job).dependents == {"scores": 1}
    first, second = Summary.objects.filter(project=project).order_by("pk")
    question = project.questionnaire.questions.get(key="comprehensibility")
    DisagreementTag.objects.create(
        summary=first,
        question=question,
        setup=Setup.objects.get(),
        verdict="label",
        created_by=manager,
        created_at=timezone.now(),
    )
    assert effect_of_undoing(scores).dependents == {"disagreement tags": 1}
    Summary.objects.filter(pk=second.pk).update(ratings_wanted=2, open_places=1)
    take_assignment(make_rater(project))
    make_summary(project, article=first.article, system=make_system(project, "later"))
    make_summary(project, system=System.objects.get(name="s1"))
    counts = row_counts(project)
    found = effect_of_undoing(job).dependents
    assert found == {"assignments": 1, "disagreement tags": 1, "scores": 1, "summaries": 2}
    with pytest.raises(ImportInUse, match="2 summaries"):
        undo_import(job, manager)
    assert row_counts(project) == counts


def import_gold(project, manager, summary):
    gold = {
        "article_id": summary.article.external_id,
        "article": summary.article.text,
        "summary": summary.text,
        "system": summary.system.name,
        "language": "en",
        "answers": {"comprehensibility": {"value": "no", "explanation": "No verb."}},
    }
    return imported(project, manager, "gold", "gold.jsonl", json.dumps(gold))


def test_imported_gold_answers_are_undone_until_a_round_has_used_them(project, manager):
    summary = make_summary(project)
    job = import_gold(project, manager, summary)
    undo_import(job, manager)
    summary.refresh_from_db()
    assert (GoldRating.objects.exists(), summary.open_places) == (False, 1)

    job = import_gold(project, manager, summary)
    start_round(make_rater(project, status=Rater.Status.TRAINING), "en")
    with pytest.raises(ImportInUse, match="Raters got 1 gold summary of this import in gold rounds"):
        undo_import(job, manager)


@pytest.mark.parametrize("is_reference", [False, True])
def test_the_page_says_that_gold_served_as_a_hidden_check_keeps_its_import(project, manager, is_reference):
    system = make_system(project, "writer", is_reference=is_reference)
    summary = make_summary(project, system=system)
    job = import_gold(project, manager, summary)
    Project.objects.filter(pk=project.pk).update(check_rate=1)
    make_summary(project)  # a check takes the place of another summary
    assert take_assignment(make_rater(project)).is_check
    browser = signed_in(manager)
    page, undo = (reverse(name, args=[project.slug, job.pk]) for name in ("import_job", "import_undo"))
    shown = text_of(browser.get(page))
    assert "This import cannot be undone. Raters got 1 gold summary" in shown
    assert undo not in browser.get(page).content.decode()
    assert "Raters got 1 gold summary" in text_of(browser.get(undo))
    assert 'class="button danger"' not in text_of(browser.get(undo))
    refused = browser.post(undo)
    assert refused.status_code == 409
    assert "Raters got 1 gold summary" in text_of(refused)
    assert GoldRating.objects.filter(summary=summary, retired_at=None).exists()


def test_only_managers_undo_an_import(project, manager):
    job = import_ratings(project, manager)
    with pytest.raises(NotAllowed):
        undo_import(job, make_member(project, Role.RESEARCHER))


def test_the_page_counts_what_it_deletes_and_asks_before(project, manager):
    job = import_ratings(project, manager)
    browser = signed_in(manager)
    page, undo = (reverse(name, args=[project.slug, job.pk]) for name in ("import_job", "import_undo"))
    assert undo in browser.get(page).content.decode()
    asked = text_of(browser.get(undo))
    assert "<b>2</b> summaries" in asked
    extra = make_summary(project, system=System.objects.get(name="s1"))
    refused = browser.get(undo)
    assert "cannot be undone" in text_of(refused)
    assert 'class="button danger"' not in text_of(refused)
    assert browser.post(undo).status_code == 409
    extra.delete()
    assert browser.post(undo).url == page
    assert "undid this import" in text_of(browser.get(page))
    assert undo not in browser.get(page).content.decode()
