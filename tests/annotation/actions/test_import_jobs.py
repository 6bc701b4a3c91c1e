"""Imports on a worker: what is queued, who works on it, and what a killed worker leaves."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError
from django.utils import timezone

from annotation.actions import import_jobs
from annotation.actions.import_jobs import (
    MOST_ATTEMPTS,
    ClaimLost,
    claim_import,
    load_checked,
    queue_import,
    rejected_rows_of,
    wake_waiting_imports,
    work_on_import,
)
from annotation.errors import DomainError, InvalidImport
from annotation.models import Article, ImportJob, Project, Rating
from tests.factories import make_project, make_user
from tests.import_files import SEAHORSE_HEADER, seahorse_row

pytestmark = pytest.mark.django_db


class NoScores:
    """These files have none."""

    def look_up(self, found):
        assert not found


@pytest.fixture(autouse=True)
def uploads(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "uploads"
    return settings.MEDIA_ROOT


@pytest.fixture(autouse=True)
def messages(monkeypatch):
    """What is sent to the workers, in place of a broker."""
    sent = []
    monkeypatch.setattr(
        import_jobs.current_app, "send_task", lambda name, **options: sent.append((name, options["args"]))
    )
    return sent


@pytest.fixture
def project():
    return make_project()


def upload(*rows, header=SEAHORSE_HEADER, name="ratings.tsv"):
    return SimpleUploadedFile(name, "\n".join((header, *rows)).encode())


def queue(project, file=None, format_name="seahorse", **options):
    return queue_import(project, make_user(), format_name, file or upload(seahorse_row()), **options)


def work(job):
    work_on_import(job.pk, lambda _: NoScores())
    job.refresh_from_db()
    return job


def stored_files(uploads):
    return [path for path in Path(uploads).rglob("*") if path.is_file()]


def test_an_upload_is_kept_and_a_worker_woken_once_it_is_committed(
    project, messages, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks() as callbacks:
        job = queue(project, dry_run=True, options={"quoting": "none"})
    assert not messages
    for callback in callbacks:
        callback()
    assert messages == [("scoring.tasks.run_import", [job.pk])]
    assert (job.status, job.file_name, job.dry_run) == ("queued", "ratings.tsv", True)
    assert job.options == {"quoting": "none"}


def test_a_broker_out_of_reach_does_not_keep_anybody_from_importing(
    project, monkeypatch, django_capture_on_commit_callbacks
):
    def fail(*_, **__):
        raise ConnectionError("no broker")

    monkeypatch.setattr(import_jobs.current_app, "send_task", fail)
    with django_capture_on_commit_callbacks(execute=True):
        job = queue(project)
    assert ImportJob.objects.get().pk == job.pk


def test_a_worker_imports_the_file_and_says_what_it_did(project):
    job = work(queue(project))
    assert job.status == ImportJob.Status.DONE
    assert job.report["outcome"] == "done"
    assert job.report["counts"]["ratings"] == {"new": 1, "present": 0, "filled": 0}
    assert (job.rows_read, job.rows_total) == (2, 2)
    assert job.finished_at is not None
    assert job.claimed_until is None
    assert Rating.objects.count() == 1


def test_articles_come_in_a_second_file(project):
    articles = SimpleUploadedFile("a.jsonl", b'{"id": "xsum-validation-1", "article": "Long."}\n')
    job = work(queue(project, second_file=articles))
    assert job.status == ImportJob.Status.DONE
    assert Article.objects.get().text == "Long."


def test_a_wrong_file_fails_with_all_its_errors_by_the_name_it_was_uploaded_with(project):
    job = work(queue(project, upload("broken", seahorse_row(), seahorse_row(answers="Perhaps" + "\t" * 5))))
    assert job.status == ImportJob.Status.FAILED
    assert job.failure == "2 rows are wrong."
    assert [(error["file"], error["line"], error["field"]) for error in job.errors] == [
        ("ratings.tsv", 2, "line"),
        ("ratings.tsv", 4, "question1"),
    ]
    assert not Rating.objects.exists()


def test_the_rows_that_were_left_out_can_be_fetched(project):
    job = work(queue(project, upload("broken", seahorse_row()), skip_bad=True))
    assert (job.status, job.report["outcome"], job.report["rejected"]) == ("done", "partly", 1)
    assert json.loads(rejected_rows_of(job).read_text())["line"] == 2
    assert Rating.objects.count() == 1
    assert rejected_rows_of(work(queue(project))) is None


def test_a_dry_run_can_be_loaded_with_the_same_file(project):
    checked = work(queue(project, upload("broken", seahorse_row()), dry_run=True))
    assert (checked.status, Rating.objects.count()) == ("failed", 0)
    loading = work(load_checked(checked, checked.created_by, skip_bad=True))
    assert (loading.status, loading.file_name, Rating.objects.count()) == ("done", "ratings.tsv", 1)


def test_a_proposed_questionnaire_can_be_confirmed_after_a_dry_run(project):
    file = upload(
        "a,x,r,fine,S.", "a,x,q,poor,S.", header="article_id,system,rater,value,summary", name="r.csv"
    )
    checked = work(queue(project, file, "ratings", options={"map": ["question==quality"]}, dry_run=True))
    assert checked.report["questionnaire"]["questions"][0]["answers"] == "one of fine, poor"
    assert checked.status == ImportJob.Status.FAILED
    loading = work(load_checked(checked, checked.created_by, create_questionnaire=True))
    assert (loading.status, Rating.objects.count()) == ("done", 2)


def test_only_a_finished_dry_run_can_be_loaded(project):
    for job in (queue(project, dry_run=True), work(queue(project))):
        with pytest.raises(DomainError, match="Only a finished dry run"):
            load_checked(job, job.created_by)


@pytest.mark.parametrize(
    ("format_name", "options", "field"),
    [
        ("seehorse", {}, "format"),
        ("seahorse", {"quoting": "perhaps"}, "quoting"),
        ("seahorse", {"labels": "x"}, "labels"),
        ("ratings", {"map": ["valeu=x"]}, "map"),
        ("bartscore", {"labels": "human"}, "labels"),
    ],
)
def test_what_cannot_be_imported_is_refused_at_once_and_not_kept(
    project, uploads, format_name, options, field
):
    with pytest.raises(InvalidImport) as refusal:
        queue(project, format_name=format_name, options=options)
    assert list(refusal.value.fields) == [field]
    assert not ImportJob.objects.exists()
    assert not stored_files(uploads)


def test_a_second_file_that_the_format_does_not_take_is_refused(project, uploads):
    with pytest.raises(InvalidImport) as refusal:
        queue(project, format_name="gold", second_file=upload())
    assert list(refusal.value.fields) == ["second_file"]
    assert not stored_files(uploads)


def test_a_file_over_the_limit_is_refused(project, settings, uploads):
    settings.UPLOAD_MAX_BYTES = 20
    with pytest.raises(InvalidImport, match="Compress it with gzip"):
        queue(project)
    assert not stored_files(uploads)


def test_one_worker_has_a_job_at_a_time(project):
    job = queue(project)
    assert claim_import(job.pk) is not None
    assert claim_import(job.pk) is None
    work(job)
    assert not Rating.objects.exists()


def test_a_job_of_a_killed_worker_is_taken_up_once_its_claim_has_ended(project):
    job = queue(project)
    claim_import(job.pk)
    ImportJob.objects.update(claimed_until=timezone.now() - timedelta(seconds=1))
    assert work(job).status == ImportJob.Status.DONE
    assert job.attempts == 2
    assert Rating.objects.count() == 1


def test_a_job_that_kills_its_workers_is_given_up(project):
    job = queue(project)
    for _ in range(MOST_ATTEMPTS):
        assert claim_import(job.pk) is not None
        ImportJob.objects.update(claimed_until=timezone.now() - timedelta(seconds=1))
    assert work(job).status == ImportJob.Status.FAILED
    assert f"stopped {MOST_ATTEMPTS} times" in job.failure


def test_a_finished_job_is_not_done_again(project):
    job = work(queue(project))
    finished = job.finished_at
    assert work(job).finished_at == finished


def test_a_worker_that_lost_its_claim_stores_nothing(project, monkeypatch):
    """It was slow, and another worker has claimed the job while it was storing."""
    job = queue(project)
    original = import_jobs.import_file

    def slow(*args, **kwargs):
        finish = kwargs["before_commit"]

        def overtaken(report):
            assert Rating.objects.exists()
            ImportJob.objects.update(claimed_until=timezone.now() + timedelta(seconds=99))
            finish(report)

        return original(*args, **(kwargs | {"before_commit": overtaken}))

    monkeypatch.setattr(import_jobs, "import_file", slow)
    assert work(job).status == ImportJob.Status.RUNNING
    assert not Rating.objects.exists()
    assert Project.objects.get(pk=project.pk).revision == 0


def test_a_claim_is_renewed_by_who_has_it_and_nobody_else(project):
    first = claim_import(queue(project).pk)
    first.renew(60)
    ImportJob.objects.update(claimed_until=timezone.now() - timedelta(seconds=1))
    second = claim_import(first.job.pk)
    with pytest.raises(ClaimLost):
        first.renew(60)
    with pytest.raises(ClaimLost):
        first.end(status=ImportJob.Status.DONE)
    second.renew(60)


def test_a_locked_database_leaves_the_job_for_another_attempt(project, monkeypatch):
    def locked(*_, **__):
        raise OperationalError("database is locked")

    job = queue(project)
    monkeypatch.setattr(import_jobs, "import_file", locked)
    with pytest.raises(OperationalError):
        work(job)
    job.refresh_from_db()
    assert job.status == ImportJob.Status.RUNNING


def test_an_unexpected_failure_is_shown_and_ends_the_job(project, monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(import_jobs, "import_file", fail)
    job = work(queue(project))
    assert job.status == ImportJob.Status.FAILED
    assert job.failure == "It failed unexpectedly: ZeroDivisionError: by zero"


def test_a_file_that_is_gone_is_told(project):
    job = queue(project)
    Path(job.file.path).unlink()
    assert work(job).status == ImportJob.Status.FAILED
    assert "no such file" in job.failure


def test_the_sweep_wakes_workers_for_what_waits_and_what_was_dropped(
    project, messages, django_capture_on_commit_callbacks
):
    waiting, dropped, running, done = (queue(project) for _ in range(4))
    now = timezone.now()
    ImportJob.objects.filter(pk=dropped.pk).update(status="running", claimed_until=now - timedelta(seconds=1))
    ImportJob.objects.filter(pk=running.pk).update(
        status="running", claimed_until=now + timedelta(seconds=60)
    )
    ImportJob.objects.filter(pk=done.pk).update(status="done")
    messages.clear()
    with django_capture_on_commit_callbacks(execute=True):
        wake_waiting_imports()
    assert sorted(args for _, args in messages) == [[waiting.pk], [dropped.pk]]
