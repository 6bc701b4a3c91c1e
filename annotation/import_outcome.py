"""How far an import job is, and what it came to, in the words of its page."""

from dataclasses import dataclass
from datetime import datetime

from annotation.actions.import_questionnaires import project_is_in_use
from annotation.actions.importing import MOST_PROBLEMS
from annotation.models import ImportJob

KINDS = {
    "articles": "Articles",
    "systems": "Systems",
    "summaries": "Summaries",
    "references": "References that nobody rates",
    "raters": "Raters",
    "ratings": "Ratings",
    "answers": "Answers",
    "gold": "Gold summaries",
    "scores": "Scores",
}


@dataclass(frozen=True)
class Pace:
    """Of the checking of rows; the storing that follows is one step and has no measure."""

    rows_a_second: float
    seconds_left: float


def pace(job: ImportJob, now: datetime) -> Pace | None:
    """None before there is something to measure."""
    if job.started_at is None or not job.rows_read or not job.rows_total:
        return None
    elapsed = (now - job.started_at).total_seconds()
    if elapsed <= 0:
        return None
    rate = job.rows_read / elapsed
    return Pace(rate, (job.rows_total - job.rows_read) / rate)


@dataclass(frozen=True)
class Count:
    what: str
    new: int
    present: int
    filled: int


@dataclass(frozen=True)
class Outcome:
    """`counts` are what was, or in a dry run would be, loaded. `loadable` says whether a dry run can be
    followed by the import: as it is, without the `rejected` rows, or with the `proposed` questionnaire."""

    counts: list[Count]
    languages: dict[str, int]
    notes: list[str]
    rejected: int
    proposed: dict[str, object] | None
    confirms_questionnaire: bool
    loadable: bool


def has_ended(job: ImportJob) -> bool:
    return job.status in (ImportJob.Status.DONE, ImportJob.Status.FAILED)


def outcome_of(job: ImportJob) -> Outcome:
    report = job.report
    proposed = report.get("questionnaire")
    confirmed = bool(job.options.get("create_questionnaire"))
    confirms = bool(proposed) and not confirmed and not project_is_in_use(job.project)
    rejected = report.get("rejected", 0)
    curable = confirms or (rejected > 0 and len(job.errors) <= MOST_PROBLEMS)
    return Outcome(
        counts=[
            Count(title, **report["counts"][kind])
            for kind, title in KINDS.items()
            if kind in report.get("counts", {})
        ],
        languages=report.get("languages", {}),
        notes=report.get("notes", []),
        rejected=rejected,
        proposed=proposed,
        confirms_questionnaire=confirms,
        loadable=job.dry_run and (job.status == ImportJob.Status.DONE or curable),
    )
