"""Imports that run on a worker: queued by a page, leased to one worker at a time, safe under kill -9.

A job finishes in the transaction that loads its file, so the file is loaded once or not at all. The task is
in `scoring`, because files may hold scores and this app does not import that one. It is called by its name.
"""

import logging
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.core.files import File
from django.db import OperationalError, transaction
from django.utils import timezone

from annotation.audit.log import acting_as
from annotation.database.wake_ups import send_task
from annotation.declared.settings import SettingsRefused
from annotation.errors import DomainError, ImportEnded, InvalidImport
from annotation.imports.checked_entry import ScoreKeeper
from annotation.imports.import_file import import_file
from annotation.imports.progress import CHECKING
from annotation.imports.reading.importer import Importer, UnknownFormat, open_import
from annotation.imports.reading.records import FileRefused
from annotation.imports.report import Report
from annotation.imports.upload_limit import too_large_message
from annotation.models import ImportJob, LeaseLost, Project
from annotation.permissions import Permission, require


def end_process_in(seconds: float) -> None:
    """Move the deadline of this process.

    Within `deadline` the kernel ends the process, even in the middle of a call that runs no Python.
    """
    signal.setitimer(signal.ITIMER_REAL, seconds)


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """End the process unless the block ends, or the deadline moves, within `seconds`."""
    in_main_thread = threading.current_thread() is threading.main_thread()  # only there can handlers be set
    handler = signal.signal(signal.SIGALRM, signal.SIG_DFL) if in_main_thread else None
    end_process_in(seconds)
    try:
        yield
    finally:
        end_process_in(0)  # never
        if handler is not None:
            signal.signal(signal.SIGALRM, handler)


MOST_ATTEMPTS = 3
"""Claims of one job before it fails, since what ended each worker would end the next one, too."""
STORING_TIMES_CHECKING = 10
"""The lease while rows are stored, as a multiple of the time it took to check them.

It cannot be renewed in the transaction that stores them.
"""
SWEEP_EXPIRES_S = 10
LONGEST_FILE_NAME = 200

logger = logging.getLogger(__name__)


def queue_import(
    project: Project,
    user: User,
    format_name: str,
    uploaded: File,
    second_file: File | None = None,
    options: Mapping[str, object] | None = None,
    *,
    dry_run: bool = False,
    skip_bad: bool = False,
) -> ImportJob:
    """Store an uploaded file and wake a worker to import it.

    `second_file` is the format's companion (articles or examples). `options` are values for
    `importer_class(format_name).Options`, as `read_settings` takes them. Raises InvalidImport, whose `fields`
    are 'format', 'file', 'second_file' and the names of options.
    """
    for field, file in (("file", uploaded), ("second_file", second_file)):
        if file is not None and (file.size or 0) > settings.UPLOAD_MAX_BYTES:
            raise InvalidImport({field: too_large_message()})
    job = ImportJob(
        project=project,
        created_by=user,
        format=format_name,
        file=uploaded,
        file_name=Path(uploaded.name or "file").name[-LONGEST_FILE_NAME:],
        articles_file=second_file,
        options=dict(options or {}),
        dry_run=dry_run,
        skip_bad=skip_bad,
    )
    with transaction.atomic():
        job.save()
        try:
            open_job(job)
        except (UnknownFormat, SettingsRefused, FileRefused) as error:
            for stored in filter(None, (job.file, job.articles_file)):
                stored.delete(save=False)
            raise InvalidImport(_fields(error)) from error
        wake(job.pk)
    return job


def _fields(error: Exception) -> dict[str, str]:
    if isinstance(error, SettingsRefused):
        return {"second_file" if name == "companion" else name: text for name, text in error.fields.items()}
    return {"format" if isinstance(error, UnknownFormat) else "file": str(error)}


def load_checked(job: ImportJob, user: User, *, skip_bad: bool = False, **options: object) -> ImportJob:
    """Import the files of the dry run `job` for good, with its options updated by `options`.

    Raises DomainError unless `job` is a finished dry run.
    """
    return _next_job(job, user, options, dry_run=False, skip_bad=skip_bad)


def check_without_invalid_rows(job: ImportJob, user: User) -> ImportJob:
    """Check the files of the dry run `job` to their end, skipping invalid rows, and store nothing.

    Raises DomainError unless `job` is a finished dry run.
    """
    return _next_job(job, user, {}, dry_run=True, skip_bad=True)


def check_with_options(job: ImportJob, user: User, **options: object) -> ImportJob:
    """Check the files of the dry run `job` again, with its options updated by `options`, and store nothing.

    Raises DomainError unless `job` is a finished dry run.
    """
    return _next_job(job, user, options, dry_run=True, skip_bad=job.skip_bad)


def _next_job(
    job: ImportJob, user: User, options: Mapping[str, object], *, dry_run: bool, skip_bad: bool
) -> ImportJob:
    if not job.dry_run or job.status not in (ImportJob.Status.DONE, ImportJob.Status.FAILED):
        raise DomainError("Only a finished dry run can be imported.")
    following = ImportJob(
        project=job.project,
        created_by=user,
        format=job.format,
        file=job.file.name,
        file_name=job.file_name,
        articles_file=job.articles_file.name if job.articles_file else None,
        options=job.options | dict(options),
        dry_run=dry_run,
        skip_bad=skip_bad,
    )
    with transaction.atomic():
        following.save()
        wake(following.pk)
    return following


def open_job(job: ImportJob) -> Importer:
    """Return the importer of the job's files. Raises what `open_import` raises."""
    return open_import(
        job.format,
        Path(job.file.path),
        companion=Path(job.articles_file.path) if job.articles_file else None,
        options=job.options,
        dimensions=[question.dimension for question in job.project.questionnaire.protocol.questions],
        name=job.file_name,
    )


def rejected_rows_of(job: ImportJob) -> Path | None:
    """Return the file of rejected rows, or None."""
    path = _rejects_path(job)
    return path if path.is_file() else None


def _rejects_path(job: ImportJob) -> Path:
    return Path(f"{job.file.path}.{job.pk}.rejected.jsonl")


def cancel_import(job: ImportJob, user: User) -> None:
    """Cancel an unfinished job. Nothing of its file is stored.

    Raises NotAllowed unless `user` manages the project, ImportEnded if the job has ended.
    """
    require(user, job.project, Permission.MANAGE_PROJECT)
    unfinished = ImportJob.objects.unfinished().filter(pk=job.pk)
    cancelled = 0
    if unfinished.exists():
        request = _cancel_request(job)
        request.touch()
        try:
            cancelled = unfinished.update(
                status=ImportJob.Status.CANCELLED, token="", leased_until=None, finished_at=timezone.now()
            )
        finally:
            request.unlink(missing_ok=True)
    if not cancelled:
        raise ImportEnded("This import has already ended, so it can no longer be cancelled.")


def _cancel_request(job: ImportJob) -> Path:
    """Return the file that tells a worker to stop: on SQLite nobody else can write while it stores rows."""
    return Path(f"{job.file.path}.{job.pk}.cancel")


def work_on_import(job_id: int, scores: Callable[[ImportJob], ScoreKeeper]) -> None:
    """Claim a job and import its file. Do nothing if another worker has it.

    `scores` makes what stores the job's scores. When the database fails for the moment, the job stays as it
    is, and the sweep wakes a worker once the lease has expired. A process that makes no progress for as long
    as its lease lasts is ended, so that no two workers are on one job.
    """
    job = claim_import(job_id)
    if job is None:
        return
    try:
        with deadline(settings.CLAIM_LEASE_S), acting_as(lambda: job.created_by):
            failure = _import(job, scores)
        if failure:
            _require_lease(job.finish(status=ImportJob.Status.FAILED, failure=failure))
    except LeaseLost:
        logger.warning("Import %s was cancelled or is with another worker. Nothing was stored.", job_id)


def _require_lease(held: bool) -> None:
    if not held:
        raise LeaseLost


def _import(job: ImportJob, scores: Callable[[ImportJob], ScoreKeeper]) -> str:
    """Return why the import failed; empty if the job has finished."""
    try:
        _check_and_load(job, scores)
    except (LeaseLost, OperationalError):
        raise
    except (DomainError, SettingsRefused, UnknownFormat, FileRefused) as error:
        return str(error)
    except Exception as error:
        logger.exception("Import %s failed.", job.pk)
        return f"Unexpected error: {type(error).__name__}: {error}"
    return ""


def _check_and_load(job: ImportJob, scores: Callable[[ImportJob], ScoreKeeper]) -> None:
    started = time.monotonic()

    def progress(step: str, rows_read: int, rows_total: int) -> None:
        if step != CHECKING:  # needs no lock, unlike a renewal
            _require_lease(not _cancel_request(job).exists() and job.held.exists())
            return
        seconds = settings.CLAIM_LEASE_S
        if rows_read == rows_total:
            seconds += STORING_TIMES_CHECKING * (time.monotonic() - started)
        _require_lease(job.renew(seconds, rows_read=rows_read, rows_total=rows_total))
        end_process_in(seconds)

    def finish(report: Report) -> None:
        status = ImportJob.Status.FAILED if report.refused else ImportJob.Status.DONE
        errors = [problem.as_json() for problem in report.problems]
        _require_lease(
            job.finish(status=status, failure=report.refused, report=report.as_json(), errors=errors)
        )

    report = import_file(
        job.project,
        open_job(job),
        dry_run=job.dry_run,
        skip_bad=job.skip_bad,
        rejected_to=_rejects_path(job),
        scores=lambda: scores(job),
        progress=progress,
        before_commit=finish,
        job=job,
    )
    if report.refused or job.dry_run:
        finish(report)


def claim_import(job_id: int) -> ImportJob | None:
    """Return the job, leased to this worker; None if it is not claimable.

    A job that has been claimed `MOST_ATTEMPTS` times fails instead.
    """
    now = timezone.now()
    ImportJob.objects.claimable(now).filter(pk=job_id, attempts__gte=MOST_ATTEMPTS).update(
        status=ImportJob.Status.FAILED,
        failure=f"Given up after {MOST_ATTEMPTS} attempts. Each time the worker was killed, ran out of "
        f"memory or made no progress for {settings.CLAIM_LEASE_S} seconds. Nothing was stored. Split the "
        "file and import its parts, or ask the server's operator for the worker's log.",
        token="",
        leased_until=None,
        finished_at=now,
    )
    jobs = ImportJob.objects.select_related("project__questionnaire").filter(pk=job_id)
    return jobs.claim(now, status=ImportJob.Status.RUNNING, started_at=now)


def wake(job_id: int, expires_s: float | None = None) -> None:
    """Ask a worker to import, once the transaction is committed."""
    send_task("run_import", job_id, "cpu", expires_s)


def wake_waiting_imports() -> None:
    """Send a message for every job that waits or whose worker was killed."""
    for job_id in ImportJob.objects.claimable().values_list("pk", flat=True):
        wake(job_id, expires_s=SWEEP_EXPIRES_S)
