"""Progress and outcome of an import job, as its page shows them."""

from dataclasses import dataclass
from datetime import datetime

from annotation.imports.questionnaires import project_is_in_use
from annotation.models import ImportJob

KINDS = {
    "articles": "Articles",
    "systems": "Systems",
    "summaries": "Summaries",
    "references": "References",
    "raters": "Raters",
    "ratings": "Ratings",
    "answers": "Answers",
    "gold": "Gold summaries",
    "scores": "Scores",
}


@dataclass(frozen=True)
class Pace:
    """The speed at which rows are checked. Storing them is one step, without progress."""

    rows_a_second: float
    seconds_left: float


def pace(job: ImportJob, now: datetime) -> Pace | None:
    """Return the speed of an import, None before there is something to measure."""
    if job.started_at is None or not job.rows_read or not job.rows_total:
        return None
    elapsed = (now - job.started_at).total_seconds()
    if elapsed <= 0:
        return None
    rate = job.rows_read / elapsed
    return Pace(rate, (job.rows_total - job.rows_read) / rate)


def counts_of(job: ImportJob) -> dict[str, dict[str, int]]:
    """Return how many rows of each kind are new, present and filled."""
    counts = job.report.get("counts", {})
    return {title: counts[kind] for kind, title in KINDS.items() if kind in counts}


def needs_questionnaire(job: ImportJob) -> bool:
    """Return whether the project has to take on the proposed questionnaire, and can."""
    confirmed = job.options.get("create_questionnaire")
    return bool(job.report.get("questionnaire")) and not confirmed and not project_is_in_use(job.project)


def is_loadable(job: ImportJob) -> bool:
    """Return whether a dry run can be imported: as it is, without invalid rows, or with the questionnaire.

    A file without a valid row cannot, nor one whose valid rows are unknown because reading stopped.
    """
    rejected = job.report.get("rejected", 0) > 0
    hopeless = job.report.get("stopped") or (rejected and not job.report.get("has_valid_rows"))
    curable = job.status == ImportJob.Status.FAILED and (rejected or needs_questionnaire(job))
    return job.dry_run and not hopeless and (job.status == ImportJob.Status.DONE or curable)


def can_skip_after_check(job: ImportJob) -> bool:
    """Return whether a dry run stopped at too many problems and may go on without the invalid rows."""
    stopped = job.status == ImportJob.Status.FAILED and bool(job.report.get("too_many_problems"))
    return job.dry_run and stopped and not job.skip_bad
