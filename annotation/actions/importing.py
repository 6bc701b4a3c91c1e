"""Importing a file: checked whole first, without a lock, and then loaded in one transaction.

The file is read twice, so that memory does not grow with its texts: once to check every row against the
project and against the rows before it, and once more, with the project locked, to check again and store.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from django.db import transaction
from django.utils import timezone

from annotation import protocol
from annotation.actions.import_ledger import Ledger, RowName
from annotation.actions.import_progress import CHECKING, STORING, Progress, ProgressReport
from annotation.actions.import_questionnaires import adopt_questionnaire, choose_questionnaire
from annotation.actions.import_rejects import RejectedRows
from annotation.actions.import_report import Report
from annotation.actions.import_settled import ScoreKeeper
from annotation.actions.import_writing import Writer
from annotation.collector import collector_at_rest
from annotation.errors import DomainError
from annotation.importers.importer import Importer
from annotation.importers.records import Entry, FileRefused, Problem, Rejected
from annotation.models import Project

PORTION = 500  # entries that are looked up and stored together
MOST_PROBLEMS = 100_000
"""Beyond this many, reading stops: the file is not of this format."""


class TooManyProblems(Exception):
    """There is no point in reading on."""


class ChangedMeanwhile(DomainError):
    """The project changed between the check and the loading; nothing was stored."""

    status = 409


# An import makes and keeps very many values; a third of the time at SEAHORSE's size was the collector's.
@collector_at_rest()
def import_file(
    project: Project,
    importer: Importer,
    *,
    dry_run: bool = False,
    skip_bad: bool = False,
    rejected_to: Path | None = None,
    scores: Callable[[], ScoreKeeper] | None = None,
    progress: Progress | None = None,
    before_commit: Callable[[Report], None] | None = None,
) -> Report:
    """Check a file and, unless it is wrong or this is a dry run, load it: all of it or nothing.

    With `skip_bad` wrong rows are left out, and written to `rejected_to` as JSONL with what is wrong with
    them. `scores` makes what keeps imported scores, once for each pass. `progress` hears of the rows read at
    most twice a second. `before_commit` runs in the loading's transaction, as its last step but one; the
    database is written nowhere else.

    Loading the same file again changes nothing. A file that is wrong is no exception but a report that says
    so. Raises ChangedMeanwhile where the project changed under the import, and OSError where `rejected_to`
    cannot be written.
    """
    report = Report(dry_run=dry_run)
    reading = ProgressReport(importer, progress)
    with RejectedRows(rejected_to if skip_bad and not dry_run else None) as rejects:
        try:
            choice = choose_questionnaire(project, importer)
            report.proposed = choice.questionnaire if choice.proposed else None
            report.refused = choice.refusal
            check = _Pass(project, importer, choice.questionnaire, report, scores)
            check.check(reading, rejects)
        except FileRefused as refusal:
            report.problems = [*report.problems, *refusal.problems]
            report.refused = "The file cannot be read."
        except TooManyProblems:
            report.refused = f"Over {MOST_PROBLEMS:,} problems: is this a file of this format?"
        else:
            report.notes = list(importer.notes)
            if report.problems and not skip_bad and not report.refused:
                report.refused = _wrong_rows(report.rejected)
        if report.refused or dry_run:
            return report
        rejects.keep()
    with transaction.atomic():
        if report.has_news:
            locked = Project.objects.select_for_update().get(pk=project.pk)
            if choice.proposed:
                adopt_questionnaire(locked, choice.questionnaire)
            check.load(locked, reading)
        if before_commit is not None:
            before_commit(report)
        if report.has_news:
            locked.bump_revision()
    return report


class _Pass:
    """The two passes over a file, of which the second leaves out what the first has found wrong."""

    def __init__(
        self,
        project: Project,
        importer: Importer,
        questionnaire: protocol.Questionnaire,
        report: Report,
        scores: Callable[[], ScoreKeeper] | None,
    ) -> None:
        self._importer = importer
        self._questionnaire = questionnaire
        self._report = report
        self._new_keeper = scores
        self._wrong: set[int] = set()
        self._wrong_rows: set[RowName] = set()
        self._ledger = self._new_ledger(project, report, scores and scores())

    def _new_ledger(self, project: Project, report: Report, scores: ScoreKeeper | None) -> Ledger:
        language = self._importer.set.get("language", "")
        return Ledger(project, self._questionnaire, language, report, scores, self._wrong_rows)

    def check(self, reading: ProgressReport, rejects: RejectedRows) -> None:
        """Find all that is wrong. Raises FileRefused and TooManyProblems."""
        problems: list[Problem] = []
        self._report.problems = problems
        reading.start(CHECKING)

        def reject(rejected: Rejected) -> None:
            problems.extend(rejected.problems)
            self._report.rejected += 1
            rejects.add(rejected)
            if len(problems) > MOST_PROBLEMS:
                raise TooManyProblems

        for portion in _portions(self._entries(reading, reject)):
            settled = self._ledger.settle([entry for _, entry in portion])
            for (number, entry), each in zip(portion, settled, strict=True):
                if each.problems:
                    self._wrong.add(number)
                    reject(Rejected(entry.file, entry.line, entry.row, each.problems))
        problems.sort(key=lambda problem: (problem.file != self._importer.file.name, problem.line))
        reading.finish()

    def load(self, project: Project, reading: ProgressReport) -> None:
        """Store what is right. Raises ChangedMeanwhile."""
        countable = self._ledger.countable
        keeper = self._new_keeper and self._new_keeper()
        self._ledger = self._new_ledger(project, Report(), keeper)
        writer = Writer(project, self._ledger, countable, keeper, timezone.now())
        reading.start(STORING)
        entries = ((number, each) for number, each in self._entries(reading) if number not in self._wrong)
        for portion in _portions(entries):
            settled = self._ledger.settle([entry for _, entry in portion])
            for each in settled:
                if each.problems:
                    raise ChangedMeanwhile(
                        "The project changed while the file was being imported, and now "
                        f"{each.problems[0]}. Nothing was stored; import it again."
                    )
            writer.write(settled)
        writer.finish()
        reading.finish()

    def _entries(
        self, reading: ProgressReport, reject: Callable[[Rejected], None] | None = None
    ) -> Iterator[tuple[int, Entry]]:
        number = 0
        for item in self._importer.entries():
            reading.tell()
            if isinstance(item, Entry):
                yield number, item
                number += 1
            elif reject is not None:
                reject(item)


def _portions(entries: Iterable[tuple[int, Entry]]) -> Iterator[list[tuple[int, Entry]]]:
    portion: list[tuple[int, Entry]] = []
    for entry in entries:
        portion.append(entry)
        if len(portion) == PORTION:
            yield portion
            portion = []
    if portion:
        yield portion


def _wrong_rows(count: int) -> str:
    return f"{count:,} row{' is' if count == 1 else 's are'} wrong."
