"""Scores computed elsewhere, imported as finished runs.

This is here because `annotation` must not import `scoring`.
"""

from collections.abc import Sequence
from hashlib import sha256

from django.contrib.auth.models import User
from django.utils import timezone

from annotation.database.portions import portions
from annotation.imports import jobs
from annotation.imports.reading.records import ScoreRecord
from annotation.models import ImportJob, Project
from scoring.inputs.seen_articles import mark_seen_articles
from scoring.models import Run, Score, Setup

EVALUATOR = "imported"

ScoreKey = tuple[str, str, str, str]
"""Evaluator, dimension, article, system."""


class ImportedScores:
    """Stores the scores of one file; see `annotation.imports.checked_entry.ScoreKeeper`.

    The evaluator's name identifies its setup in the project. New scores are added to it and must not
    contradict those it has.
    """

    def __init__(
        self, project: Project, file_name: str, user: User | None = None, job: ImportJob | None = None
    ) -> None:
        self._project = project
        self._file_name = file_name
        self._user = user
        self._job = job
        self._known: dict[ScoreKey, tuple[float | None, str]] = {}
        self._setups: dict[str, Setup] = {
            setup.label: setup for setup in Setup.objects.filter(project=project, evaluator=EVALUATOR)
        }
        self._runs: dict[str, Run] = {}
        self._scored: dict[str, set[int]] = {}

    def look_up(self, found: Sequence[tuple[ScoreRecord, int]]) -> None:
        names = {pk: (record.article_id, record.system) for record, pk in found}
        labels = {setup.pk: label for label, setup in self._setups.items()}
        for ids in portions(names if labels else ()):
            for setup, dimension, summary, value, reason in Score.objects.filter(
                setup__in=labels, summary__in=ids
            ).values_list("setup", "dimension", "summary", "value", "reason"):
                self._known.setdefault((labels[setup], dimension, *names[summary]), (value, reason))

    def conflict(self, record: ScoreRecord) -> str | None:
        known = self._known.get(_key(record))
        if known is None or known == (record.value, record.reason):
            return None
        value, reason = known
        there = f"no score ({reason})" if value is None else f"{value!r}"
        return f"{there}, which {record.evaluator} already has, or another evaluator name"

    def note(self, record: ScoreRecord) -> bool:
        key = _key(record)
        is_new = key not in self._known
        self._known[key] = (record.value, record.reason)
        return is_new

    def keep(self, new: Sequence[tuple[ScoreRecord, int]]) -> None:
        runs = {record.evaluator: self._run(record.evaluator) for record, _ in new}
        Score.objects.bulk_create(
            Score(
                setup=runs[record.evaluator].setup,
                run=runs[record.evaluator],
                summary_id=summary,
                dimension=record.dimension,
                value=record.value,
                reason=record.reason,
            )
            for record, summary in new
        )
        for record, summary in new:
            self._scored.setdefault(record.evaluator, set()).add(summary)
        for label, run in runs.items():
            Run.objects.filter(pk=run.pk).update(total=len(self._scored[label]))

    def finish(self) -> None:
        mark_seen_articles(self._project)

    def _run(self, label: str) -> Run:
        """Return this import's run of the evaluator, created if needed."""
        if label not in self._runs:
            now = timezone.now()
            self._runs[label] = Run.objects.create(
                setup=self._setup(label),
                created_by=self._user,
                import_job=self._job,
                status=Run.Status.DONE,
                started_at=now,
                finished_at=now,
            )
        return self._runs[label]

    def _setup(self, label: str) -> Setup:
        setup = self._setups.get(label)
        if setup is None:
            setup = self._setups[label] = Setup(
                project=self._project,
                import_job=self._job,
                evaluator=EVALUATOR,
                label=label,
                params={"name": label},
                signature=f"{EVALUATOR}|name:{label}",
                fingerprint=sha256(f"{EVALUATOR}\x1f{label}".encode()).hexdigest(),
                provenance={"name": EVALUATOR, "label": label, "files": []},
            )
        files = setup.provenance.setdefault("files", [])
        if self._file_name not in files:
            files.append(self._file_name)
        setup.save()
        return setup


def _key(record: ScoreRecord) -> ScoreKey:
    return record.evaluator, record.dimension, record.article_id, record.system


def work_on_import(job_id: int) -> None:
    """Import the file of a queued job, including its scores."""
    jobs.work_on_import(job_id, lambda job: ImportedScores(job.project, job.file_name, job.created_by, job))
