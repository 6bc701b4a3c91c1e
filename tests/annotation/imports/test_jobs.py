"""Imports in a worker: the queue, claims, cancelling and recovery from killed workers."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from celery import current_app
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError
from django.utils import timezone

from annotation.database import wake_ups
from annotation.errors import DomainError, ImportEnded, InvalidImport, NotAllowed
from annotation.imports import jobs
from annotation.imports import progress as import_progress
from annotation.imports.jobs import (
    MOST_ATTEMPTS,
    cancel_import,
    claim_import,
    load_checked,
    queue_import,
    rejected_rows_of,
    wake_waiting_imports,
    work_on_import,
)
from annotation.imports.reading import lines
from annotation.models import Article, ImportJob, Project, Rating
from tests.factories import make_member, make_user
from tests.import_files import SEAHORSE_HEADER, seahorse_row, workbook

pytestmark = pytest.mark.django_db


class NoScores:
    """Look-up of scores for files without scores."""

    def look_up(self, found):
        assert not found

    def finish(self):
        """Nothing changes for scores."""


@pytest.fixture(autouse=True)
def uploads(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "uploads"
    return settings.MEDIA_ROOT


@pytest.fixture(autouse=True)
def messages(monkeypatch):
    """Collect the messages to workers, in place of a broker."""
    sent = []
    monkeypatch.setattr(
        current_app, "send_task", lambda name, **options: sent.append((name, options["args"]))
    )
    return sent


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


def test_an_upload_is_stored_and_wakes_a_worker_after_the_commit(
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


def test_an_unreachable_broker_does_not_stop_queueing_an_import(
    project, monkeypatch, django_capture_on_commit_callbacks
):
    def fail(*_, **__):
        raise ConnectionError("no broker")

    monkeypatch.setattr(wake_ups, "_failed_at", wake_ups._failed_at)  # restored afterwards
    monkeypatch.setattr(current_app, "send_task", fail)
    with django_capture_on_commit_callbacks(execute=True):
        job = queue(project)
    assert ImportJob.objects.get().pk == job.pk


def test_a_worker_imports_the_file_and_reports_the_counts(project):
    job = work(queue(project))
    assert job.status == ImportJob.Status.DONE
    assert job.report["refused"] == ""
    assert job.report["counts"]["ratings"] == {"new": 1, "present": 0, "filled": 0}
    assert (job.rows_read, job.rows_total) == (2, 2)
    assert job.finished_at is not None
    assert job.leased_until is None
    assert Rating.objects.count() == 1
    entry = project.audit_entries.get(action="file_imported")
    assert (entry.actor, entry.object, entry.details["new"]["ratings"]) == (job.created_by, job.file_name, 1)


def test_a_worker_imports_a_workbook_with_its_progress(project, tmp_path):
    path = workbook(tmp_path / "w.xlsx", *(row.split("\t") for row in (SEAHORSE_HEADER, seahorse_row())))
    job = queue(project, SimpleUploadedFile("ratings.xlsx", path.read_bytes()))
    work(job)
    job.refresh_from_db()
    assert (job.status, job.rows_read, job.rows_total) == (ImportJob.Status.DONE, 2, 2)
    assert job.report["counts"]["ratings"]["new"] == 1


def test_articles_can_come_in_a_second_file(project):
    articles = SimpleUploadedFile("a.jsonl", b'{"id": "xsum-validation-1", "article": "Long."}\n')
    job = work(queue(project, second_file=articles))
    assert job.status == ImportJob.Status.DONE
    assert Article.objects.get().text == "Long."


def test_an_invalid_file_fails_and_lists_errors_under_its_uploaded_name(project):
    job = work(queue(project, upload("broken", seahorse_row(), seahorse_row(answers="Perhaps" + "\t" * 5))))
    assert job.status == ImportJob.Status.FAILED
    assert job.failure == "2 rows are invalid. Correct or skip them."
    assert [(error["file"], error["line"], error["field"]) for error in job.errors] == [
        ("ratings.tsv", 2, "line"),
        ("ratings.tsv", 4, "question1"),
    ]
    assert not Rating.objects.exists()


def test_rejected_rows_are_kept_in_a_file(project):
    job = work(queue(project, upload("broken", seahorse_row()), skip_bad=True))
    assert (job.status, job.report["refused"], job.report["rejected"]) == ("done", "", 1)
    assert json.loads(rejected_rows_of(job).read_text())["line"] == 2
    assert Rating.objects.count() == 1
    assert rejected_rows_of(work(queue(project))) is None


def test_a_dry_run_can_be_loaded_without_another_upload(project):
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
def test_an_invalid_import_is_refused_at_once_and_not_stored(project, uploads, format_name, options, field):
    with pytest.raises(InvalidImport) as refusal:
        queue(project, format_name=format_name, options=options)
    assert list(refusal.value.fields) == [field]
    assert not ImportJob.objects.exists()
    assert not stored_files(uploads)


def test_a_second_file_that_the_format_does_not_accept_is_refused(project, uploads):
    with pytest.raises(InvalidImport) as refusal:
        queue(project, format_name="gold", second_file=upload())
    assert list(refusal.value.fields) == ["second_file"]
    assert not stored_files(uploads)


def test_a_file_over_the_limit_is_refused(project, settings, uploads):
    settings.UPLOAD_MAX_BYTES = 20
    with pytest.raises(InvalidImport, match="Compress it with gzip"):
        queue(project)
    assert not stored_files(uploads)


def test_only_one_worker_can_claim_a_job(project):
    job = queue(project)
    assert claim_import(job.pk) is not None
    assert claim_import(job.pk) is None
    work(job)
    assert not Rating.objects.exists()


def test_a_killed_workers_job_is_retried_after_its_claim_expires(project):
    job = queue(project)
    claim_import(job.pk)
    ImportJob.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    assert work(job).status == ImportJob.Status.DONE
    assert job.attempts == 2
    assert Rating.objects.count() == 1


def test_a_job_that_keeps_killing_workers_fails(project):
    job = queue(project)
    for _ in range(MOST_ATTEMPTS):
        assert claim_import(job.pk) is not None
        ImportJob.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    assert work(job).status == ImportJob.Status.FAILED
    assert job.failure.startswith(f"Given up after {MOST_ATTEMPTS} attempts.")


def test_a_finished_job_is_not_run_again(project):
    job = work(queue(project))
    finished = job.finished_at
    assert work(job).finished_at == finished


def test_a_worker_that_lost_its_claim_stores_nothing(project, monkeypatch):
    """It was slow, and another worker claimed the job while it was storing."""
    job = queue(project)
    original = jobs.import_file

    def slow(*args, **kwargs):
        finish = kwargs["before_commit"]

        def overtaken(report):
            assert Rating.objects.exists()
            ImportJob.objects.update(token="another worker's")
            finish(report)

        return original(*args, **(kwargs | {"before_commit": overtaken}))

    monkeypatch.setattr(jobs, "import_file", slow)
    assert work(job).status == ImportJob.Status.RUNNING
    assert not Rating.objects.exists()
    assert Project.objects.get(pk=project.pk).revision == 0


def test_only_the_worker_with_the_claim_renews_or_finishes_a_job(project):
    first = claim_import(queue(project).pk)
    assert first.renew(60)
    ImportJob.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    second = claim_import(first.pk)
    assert not first.renew(60)
    assert not first.finish(status=ImportJob.Status.DONE)
    assert second.renew(60)


def test_a_worker_stops_a_cancelled_import_at_once(project, monkeypatch, uploads):
    monkeypatch.setattr(import_progress, "EVERY_S", 0)
    monkeypatch.setattr(lines, "WATCHED", 0)
    manager = make_member(project, "manager")
    job = queue(project, upload("broken", *(seahorse_row(f"a-test-{n}") for n in range(50))), skip_bad=True)
    original = jobs.import_file
    progress_of_rows = []

    def cancelled(project, importer, **kwargs):
        report = kwargs["progress"]

        def progress(step, rows_read, rows_total):
            progress_of_rows.append(rows_read)
            if rows_read == 10:
                cancel_import(job, manager)
            report(step, rows_read, rows_total)

        return original(project, importer, **(kwargs | {"progress": progress}))

    monkeypatch.setattr(jobs, "import_file", cancelled)
    assert work(job).status == ImportJob.Status.CANCELLED
    assert max(progress_of_rows) == 10
    assert not Article.objects.exists()
    assert not [path for path in stored_files(uploads) if "rejected" in path.name or "cancel" in path.name]


def test_only_a_manager_can_cancel_and_only_an_unfinished_import(project):
    job = queue(project)
    with pytest.raises(NotAllowed):
        cancel_import(job, make_member(project, "researcher"))
    assert work(job).status == ImportJob.Status.DONE
    with pytest.raises(ImportEnded):
        cancel_import(job, make_member(project, "manager"))
    job.refresh_from_db()
    assert (job.status, Rating.objects.count()) == (ImportJob.Status.DONE, 1)


def test_passes_over_the_file_before_its_rows_renew_the_claim(project, monkeypatch):
    """Detecting the quoting and the questions takes extra passes, and the claim must not expire in them."""
    monkeypatch.setattr(import_progress, "EVERY_S", 0)
    monkeypatch.setattr(lines, "WATCHED", 0)
    job = queue(project, upload(*(seahorse_row(f"a-test-{n}", 'a "b" c') for n in range(50))))
    renewed = []
    original = ImportJob.renew
    monkeypatch.setattr(
        ImportJob,
        "renew",
        lambda self, *args, **changes: (
            renewed.append(changes["rows_read"]) or original(self, *args, **changes)
        ),
    )
    assert work(job).status == ImportJob.Status.DONE
    assert renewed.count(0) > 50
    assert renewed[-1] == 51


def test_a_locked_database_leaves_the_job_for_another_attempt(project, monkeypatch):
    def locked(*_, **__):
        raise OperationalError("database is locked")

    job = queue(project)
    monkeypatch.setattr(jobs, "import_file", locked)
    with pytest.raises(OperationalError):
        work(job)
    job.refresh_from_db()
    assert job.status == ImportJob.Status.RUNNING


def test_an_unexpected_failure_is_shown_and_ends_the_job(project, monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(jobs, "import_file", fail)
    job = work(queue(project))
    assert job.status == ImportJob.Status.FAILED
    assert job.failure == "Unexpected error: ZeroDivisionError: by zero"


def test_a_missing_file_fails_the_job_with_the_reason(project):
    job = queue(project)
    Path(job.file.path).unlink()
    assert work(job).status == ImportJob.Status.FAILED
    assert "no such file" in job.failure


def test_the_sweep_wakes_workers_for_waiting_and_abandoned_imports(
    project, messages, django_capture_on_commit_callbacks
):
    waiting, dropped, running, done = (queue(project) for _ in range(4))
    now = timezone.now()
    ImportJob.objects.filter(pk=dropped.pk).update(status="running", leased_until=now - timedelta(seconds=1))
    ImportJob.objects.filter(pk=running.pk).update(status="running", leased_until=now + timedelta(seconds=60))
    ImportJob.objects.filter(pk=done.pk).update(status="done", finished_at=now)
    messages.clear()
    with django_capture_on_commit_callbacks(execute=True):
        wake_waiting_imports()
    assert sorted(args for _, args in messages) == [[waiting.pk], [dropped.pk]]
