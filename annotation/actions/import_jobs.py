"""Imports that run on a worker: queued by a page, claimed by one worker at a time, safe under kill -9.

A job is done in the transaction that loads its file, so it is loaded once or not at all. Scores belong to the
app `scoring`, which this app does not import: its task hands in what keeps them, and is called by its name.
"""

import logging
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path

from celery import current_app
from django.conf import settings
from django.contrib.auth.models import User
from django.core.files import File
from django.db import OperationalError, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from annotation.actions.import_progress import CHECKING
from annotation.actions.import_report import Report
from annotation.actions.import_settled import ScoreKeeper
from annotation.actions.importing import import_file
from annotation.errors import DomainError, InvalidImport
from annotation.importers.importer import Importer, UnknownFormat, open_import
from annotation.importers.options import OptionsRefused
from annotation.importers.records import FileRefused
from annotation.models import ImportJob, Project

TASK = "scoring.tasks.run_import"
MOST_ATTEMPTS = 3
"""Claims of one job before it fails: a worker that was killed each time met something it cannot stand."""
ROWS_STORED_PER_S = 1000
"""A cautious rate, for how long a claim has to last while the rows are stored."""
SWEEP_EXPIRES_S = 10
LONGEST_FILE_NAME = 200

logger = logging.getLogger(__name__)


class ClaimLost(Exception):
    """Another worker has the job by now."""


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
    """Keep an uploaded file and ask a worker to import it.

    `second_file` is the format's companion (articles or examples), `options` are the format's declared ones
    (`importer_class(name).options`) by name, as `read_options` takes them. Raises InvalidImport, whose
    `fields` are named 'format', 'file', 'second_file' and as the options.
    """
    for field, file in (("file", uploaded), ("second_file", second_file)):
        if file is not None and (file.size or 0) > settings.UPLOAD_MAX_BYTES:
            limit = settings.UPLOAD_MAX_BYTES // 1024**2
            raise InvalidImport({field: f"The file is over {limit} MiB. Compress it with gzip, or split it."})
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
        except (UnknownFormat, OptionsRefused, FileRefused) as error:
            for stored in filter(None, (job.file, job.articles_file)):
                stored.delete(save=False)
            raise InvalidImport(_fields(error)) from error
        wake(job.pk)
    return job


def _fields(error: Exception) -> dict[str, str]:
    if isinstance(error, OptionsRefused):
        return {"second_file" if name == "companion" else name: text for name, text in error.fields.items()}
    return {"format" if isinstance(error, UnknownFormat) else "file": str(error)}


def load_checked(job: ImportJob, user: User, *, skip_bad: bool = False, **options: object) -> ImportJob:
    """Import for good what `job` was a dry run of: the same files and options, but for the `options` given.

    Raises DomainError unless it was one and has ended.
    """
    if not job.dry_run or job.status not in (ImportJob.Status.DONE, ImportJob.Status.FAILED):
        raise DomainError("Only a finished dry run can be loaded.")
    loading = ImportJob(
        project=job.project,
        created_by=user,
        format=job.format,
        file=job.file.name,
        file_name=job.file_name,
        articles_file=job.articles_file.name if job.articles_file else None,
        options=job.options | options,
        skip_bad=skip_bad,
    )
    with transaction.atomic():
        loading.save()
        wake(loading.pk)
    return loading


def open_job(job: ImportJob) -> Importer:
    """The importer on the job's files. Raises as `open_import` does."""
    return open_import(
        job.format,
        Path(job.file.path),
        companion=Path(job.articles_file.path) if job.articles_file else None,
        options=job.options,
        dimensions=[question.dimension for question in job.project.questionnaire.protocol.questions],
        name=job.file_name,
    )


def rejected_rows_of(job: ImportJob) -> Path | None:
    """The file of the rows that the job left out, if there is one."""
    path = _rejects_path(job)
    return path if path.is_file() else None


def _rejects_path(job: ImportJob) -> Path:
    return Path(f"{job.file.path}.{job.pk}.rejected.jsonl")


def work_on_import(job_id: int, scores: Callable[[ImportJob], ScoreKeeper]) -> None:
    """Claim a job and import its file; nothing where another worker has it.

    `scores` makes what keeps a job's scores. A database that fails for the moment leaves the job as it is,
    and the sweep wakes a worker for it once the claim has ended.
    """
    claim = claim_import(job_id)
    if claim is None:
        return
    try:
        failure = _import(claim, scores)
        if failure:
            claim.end(status=ImportJob.Status.FAILED, failure=failure)
    except ClaimLost:
        logger.warning("Import %s is with another worker by now; nothing was stored here.", job_id)


def _import(claim: "Claim", scores: Callable[[ImportJob], ScoreKeeper]) -> str:
    """Why it could not be done; empty where the job has ended."""
    try:
        _check_and_load(claim, scores)
    except (ClaimLost, OperationalError):
        raise
    except (DomainError, OptionsRefused, UnknownFormat, FileRefused) as error:
        return str(error)
    except Exception as error:
        logger.exception("Import %s failed.", claim.job.pk)
        return f"It failed unexpectedly: {type(error).__name__}: {error}"
    return ""


def _check_and_load(claim: "Claim", scores: Callable[[ImportJob], ScoreKeeper]) -> None:
    job = claim.job

    def progress(step: str, rows_read: int, rows_total: int) -> None:
        if step == CHECKING:
            seconds = settings.CLAIM_LEASE_S
            if rows_read == rows_total:  # the claim cannot be renewed in the loading's transaction
                seconds += rows_total // ROWS_STORED_PER_S
            claim.renew(seconds, rows_read=rows_read, rows_total=rows_total)

    def finish(report: Report) -> None:
        refused = bool(report.refused)
        claim.end(
            status=ImportJob.Status.FAILED if refused else ImportJob.Status.DONE,
            failure=report.refused,
            report=report.as_json(),
            errors=[problem.as_json() for problem in report.problems],
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
    )
    if report.refused or job.dry_run:
        finish(report)


class Claim:
    """A worker's hold on a job. The time it ends is its token: every claim and renewal sets another."""

    def __init__(self, job: ImportJob, until: datetime) -> None:
        self.job = job
        self._until = until

    def renew(self, seconds: float, **changes: object) -> None:
        """Raises ClaimLost."""
        until = timezone.now() + timedelta(seconds=seconds)
        self._change(claimed_until=until, **changes)
        self._until = until

    def end(self, **changes: object) -> None:
        """Record how the job ended. Raises ClaimLost."""
        self._change(claimed_until=None, finished_at=timezone.now(), **changes)

    def _change(self, **changes: object) -> None:
        mine = ImportJob.objects.filter(
            pk=self.job.pk, status=ImportJob.Status.RUNNING, claimed_until=self._until
        )
        if not mine.update(**changes):
            raise ClaimLost


def claim_import(job_id: int) -> Claim | None:
    """The job for this worker alone, if it waits or its worker has not renewed its claim."""
    now = timezone.now()
    until = now + timedelta(seconds=settings.CLAIM_LEASE_S)
    worn_out = _claimable(now).filter(pk=job_id, attempts__gte=MOST_ATTEMPTS)
    worn_out.update(
        status=ImportJob.Status.FAILED,
        failure=f"The worker was stopped {MOST_ATTEMPTS} times in the middle of this import, perhaps for "
        "want of memory. Nothing was stored.",
        claimed_until=None,
        finished_at=now,
    )
    claimed = (
        _claimable(now)
        .filter(pk=job_id)
        .update(
            status=ImportJob.Status.RUNNING,
            claimed_until=until,
            started_at=now,
            attempts=F("attempts") + 1,
        )
    )
    if not claimed:
        return None
    return Claim(ImportJob.objects.select_related("project__questionnaire").get(pk=job_id), until)


def _claimable(now: datetime) -> QuerySet[ImportJob]:
    return ImportJob.objects.filter(
        Q(status=ImportJob.Status.QUEUED) | Q(status=ImportJob.Status.RUNNING, claimed_until__lt=now)
    )


def wake(job_id: int, expires_s: float | None = None) -> None:
    """Ask a worker to import, once the transaction is committed. A broker out of reach is no error: the sweep
    asks again."""

    def send() -> None:
        try:
            current_app.send_task(TASK, args=[job_id], queue="cpu", expires=expires_s, retry=False)
        except Exception:  # brokers raise errors of many libraries
            logger.warning(
                "The broker cannot be reached; import %s waits for the sweep.", job_id, exc_info=True
            )

    transaction.on_commit(send)


def wake_waiting_imports() -> None:
    """The sweep: a message for every job that waits, or whose worker was killed."""
    for job_id in _claimable(timezone.now()).values_list("pk", flat=True):
        wake(job_id, expires_s=SWEEP_EXPIRES_S)
