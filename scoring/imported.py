"""Scores computed elsewhere, kept as runs that are done: what `annotation`'s import hands over.

An import is put together here and not in `annotation`, which knows nothing of scores: imports between the
apps run from scoring to annotation, never back.
"""

from collections.abc import Callable, Sequence
from hashlib import sha256

from django.contrib.auth.models import User
from django.utils import timezone

from annotation.actions import import_jobs
from annotation.actions.import_settled import ScoreKeeper
from annotation.importers.importer import Importer
from annotation.importers.records import ScoreRecord
from annotation.models import ImportJob, Project
from scoring.models import EvaluatorSetup, Run, Score

EVALUATOR = "imported"
AT_ONCE = 500  # summaries in one statement

ScoreKey = tuple[str, str, str, str]
"""Evaluator, dimension, article, system."""


class ImportedScores:
    """Keeps the scores of one pass over one file; see `annotation.actions.import_settled.ScoreKeeper`.

    An evaluator's name is its identity in a project: scores under a name that is there already are added to
    it, and must agree with those it has.
    """

    def __init__(self, project: Project, file_name: str, user: User | None) -> None:
        self._project = project
        self._file_name = file_name
        self._user = user
        self._known: dict[ScoreKey, tuple[float | None, str]] = {}
        self._setups: dict[str, EvaluatorSetup] = {
            setup.label: setup
            for setup in EvaluatorSetup.objects.filter(project=project, evaluator=EVALUATOR)
        }
        self._runs: dict[str, Run] = {}
        self._scored: dict[str, set[int]] = {}

    def look_up(self, found: Sequence[tuple[ScoreRecord, int]]) -> None:
        names = {pk: (record.article_id, record.system) for record, pk in found}
        labels = {setup.pk: label for label, setup in self._setups.items()}
        ids = list(names)
        for start in range(0, len(ids) if labels else 0, AT_ONCE):
            for setup, dimension, summary, value, reason in Score.objects.filter(
                setup__in=labels, summary__in=ids[start : start + AT_ONCE]
            ).values_list("setup", "dimension", "summary", "value", "reason"):
                self._known.setdefault((labels[setup], dimension, *names[summary]), (value, reason))

    def conflict(self, record: ScoreRecord) -> str | None:
        known = self._known.get(_key(record))
        if known is None or known == (record.value, record.reason):
            return None
        value, reason = known
        there = f"no score ({reason})" if value is None else f"{value!r}"
        return f"{there}, as {record.evaluator} has already; or another name for the evaluator"

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

    def _run(self, label: str) -> Run:
        """The run that this import makes of the evaluator's scores."""
        if label not in self._runs:
            now = timezone.now()
            self._runs[label] = Run.objects.create(
                setup=self._setup(label),
                created_by=self._user,
                status=Run.Status.DONE,
                started_at=now,
                finished_at=now,
            )
        return self._runs[label]

    def _setup(self, label: str) -> EvaluatorSetup:
        setup = self._setups.get(label)
        if setup is None:
            setup = self._setups[label] = EvaluatorSetup(
                project=self._project,
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


def score_keeper(project: Project, importer: Importer, user: User | None = None) -> Callable[[], ScoreKeeper]:
    """What `import_file` keeps this file's scores with."""
    return lambda: ImportedScores(project, importer.file.name, user)


def work_on_import(job_id: int) -> None:
    """Import the file of a queued job, its scores included."""

    def keeper(job: ImportJob) -> ScoreKeeper:
        return ImportedScores(job.project, job.file_name, job.created_by)

    import_jobs.work_on_import(job_id, keeper)
