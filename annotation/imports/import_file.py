"""Importing a file: it is checked without a lock, and then loaded in one transaction.

The file is read twice, so that memory does not grow with its texts: once to check every row, and once more,
with the project locked, to check again and store.
"""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from django.db import transaction
from django.utils import timezone

from annotation import protocol
from annotation.audit.actions import Action
from annotation.audit.log import record
from annotation.database.without_gc import without_gc
from annotation.errors import DomainError
from annotation.imports.checked_entry import ScoreKeeper
from annotation.imports.checking import Checker, RowName
from annotation.imports.progress import CHECKING, STORING, Progress, ProgressReport
from annotation.imports.questionnaires import adopt_questionnaire, choose_questionnaire
from annotation.imports.reading.importer import Importer, other_formats
from annotation.imports.reading.kinds import OtherKind
from annotation.imports.reading.proposal import CannotPropose
from annotation.imports.reading.records import Entry, FileRefused, Rejected
from annotation.imports.reading.tables import MissingColumns
from annotation.imports.reading.wrong_rows import TooManyProblems, WrongRows
from annotation.imports.rejected_rows import RejectedRows
from annotation.imports.report import Report
from annotation.imports.writing import Writer
from annotation.models import ImportJob, Project

PORTION = 500  # entries that are looked up and stored together, at most
PORTION_SIZE = 4_000_000  # characters of their texts, beyond which a portion takes no further entry
NO_VALID_ROW = (
    "No row can be imported, because every row is invalid. Correct the file or choose another format."
)
CLOSED = (
    "The campaign is closed, so no ratings can be added to it. Reopen it under Settings, or import a file "
    "without new ratings."
)


class ChangedMeanwhile(DomainError):
    """The project changed between the check and the loading; nothing was stored."""

    status = 409


# The garbage collector took a third of the time of an import of SEAHORSE's size.
@without_gc()
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
    job: ImportJob | None = None,
) -> Report:
    """Check a file and, if it is valid and this is no dry run, load it completely.

    With `skip_bad`, invalid rows are skipped and written to `rejected_to` as JSONL with their problems; a
    file without a valid row is still refused.
    `scores` makes a score keeper for each pass. `progress` is called with the rows read, at most twice a
    second. `before_commit` runs in the loading transaction, which is the only one that writes. The new rows
    name `job`, so that it can be undone.

    Loading the same file again changes nothing. An invalid file is reported, not raised, and so are new
    ratings for a closed campaign. Raises ChangedMeanwhile if the project changed during the import,
    DomainError if it is archived or was closed meanwhile, and OSError if `rejected_to` cannot be written.
    """
    report = Report(dry_run=dry_run)
    reading = ProgressReport(importer, progress)
    with closing(RejectedRows(rejected_to if skip_bad and not dry_run else None)) as rejects:
        try:
            reading.start(CHECKING)
            report.table = importer.table_head()
            choice = choose_questionnaire(project, importer)
            report.proposed = choice.questionnaire if choice.proposed else None
            report.refused = choice.refusal
            check = _Pass(project, importer, choice.questionnaire, report, scores)
            check.check(reading, rejects, WrongRows(left_out=skip_bad))
        except CannotPropose as refusal:
            report.refused = f"No questionnaire fits this file: {refusal}."
            report.stopped = True
        except TooManyProblems as refusal:
            report.problems = refusal.problems
            report.refused = refusal.reason
            report.stopped = report.too_many_problems = True
        except FileRefused as refusal:
            report.problems = [*report.problems, *refusal.problems]
            report.refused = "The file cannot be read."
            if isinstance(refusal, OtherKind) and refusal.problems[0].file == importer.file.name:
                report.refused += f" {other_formats(refusal)}"
            if isinstance(refusal, MissingColumns) and refusal.problems[0].file == importer.file.name:
                report.lacks_columns = True
            report.stopped = True
        else:
            report.notes = [*importer.file.notes, *importer.notes]
            if report.problems and not report.has_valid_rows and (choice.proposed or not report.refused):
                report.refused = NO_VALID_ROW
            elif report.problems and not skip_bad and not report.refused:
                one = report.rejected == 1
                invalid = "1 row is invalid" if one else f"{report.rejected:,} rows are invalid"
                report.refused = f"{invalid}. Correct or skip {'it' if one else 'them'}."
            if project.closed_at is not None and report.has_new_ratings:
                report.refused = CLOSED
        if report.refused or dry_run:
            return report
        rejects.keep()
    with transaction.atomic():
        if report.has_news:
            locked = Project.objects.select_for_update().get(pk=project.pk)
            if locked.archived_at is not None:
                raise DomainError(f"{locked.name} is archived, so it is read-only. Restore it first.")
            if locked.closed_at is not None and report.has_new_ratings:
                raise DomainError(CLOSED)
            if choice.proposed:
                adopt_questionnaire(locked, choice.questionnaire)
            check.load(locked, reading, job)
        if before_commit is not None:
            before_commit(report)
        if report.has_news:
            new = {what: tally.new for what, tally in report.counts.items()}
            record(
                Action.FILE_IMPORTED,
                locked,
                importer.file.name,
                details={"format": importer.name, "new": new},
            )
            locked.bump_revision()
    return report


class _Pass:
    """Two passes over a file. The second skips what the first found to be invalid."""

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
        self._rows_read = 0
        self._wrong: set[int] = set()
        self._wrong_rows: set[RowName] = set()
        self._checker = self._new_checker(project, report, scores and scores())

    def _new_checker(self, project: Project, report: Report, scores: ScoreKeeper | None) -> Checker:
        language = getattr(self._importer.options, "language", "")
        return Checker(project, self._questionnaire, language, report, scores, self._wrong_rows)

    def check(self, reading: ProgressReport, rejects: RejectedRows, wrong: WrongRows) -> None:
        """Find all problems. Raises FileRefused and TooManyProblems."""
        self._report.problems = wrong.problems

        def reject(rejected: Rejected) -> None:
            rejects.add(rejected)
            self._report.rejected += 1
            wrong.add(rejected, self._rows_read)

        for portion in _portions(self._entries(reading, reject)):
            checked = self._checker.check([entry for _, entry in portion])
            for (number, entry), each in zip(portion, checked, strict=True):
                if each.problems:
                    self._wrong.add(number)
                    reject(Rejected(entry.file, entry.line, entry.row, each.problems))
                elif self._is_valid_row(entry):
                    self._report.has_valid_rows = True
        wrong.problems.sort(key=lambda problem: (problem.file != self._importer.file.name, problem.line))
        self._report.not_listed = wrong.found - len(wrong.problems)
        reading.finish()

    def _is_valid_row(self, entry: Entry) -> bool:
        """Return whether an entry without problems is of the file's own rows, and of a valid one."""
        return entry.file == self._importer.file.name and (entry.file, entry.line) not in self._wrong_rows

    def load(self, project: Project, reading: ProgressReport, job: ImportJob | None) -> None:
        """Store the valid rows. Raises ChangedMeanwhile."""
        countable = self._checker.countable
        keeper = self._new_keeper and self._new_keeper()
        self._checker = self._new_checker(project, Report(), keeper)
        writer = Writer(project, self._checker, countable, keeper, timezone.now(), job)
        reading.start(STORING)
        entries = ((number, each) for number, each in self._entries(reading) if number not in self._wrong)
        for portion in _portions(entries):
            checked = self._checker.check([entry for _, entry in portion])
            for each in checked:
                if each.problems:
                    raise ChangedMeanwhile(
                        "The project changed during the import, and now "
                        f"{each.problems[0]}. Nothing was stored. Import the file again."
                    )
            writer.write(checked)
        writer.finish()
        reading.finish()

    def _entries(
        self, reading: ProgressReport, reject: Callable[[Rejected], None] | None = None
    ) -> Iterator[tuple[int, Entry]]:
        number = self._rows_read = 0
        for item in self._importer.entries():
            self._rows_read += 1
            reading.tell()
            if isinstance(item, Entry):
                yield number, item
                number += 1
            elif reject is not None:
                reject(item)


def _portions(entries: Iterator[tuple[int, Entry]]) -> Iterator[list[tuple[int, Entry]]]:
    """Yield the numbered entries in lists that are small in number and in the size of their texts."""
    portion: list[tuple[int, Entry]] = []
    size = 0
    for number, entry in entries:
        portion.append((number, entry))
        size += len(entry.article.text) if entry.article else 0
        size += sum(len(summary.text or "") for summary in entry.summaries)
        if len(portion) == PORTION or size >= PORTION_SIZE:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion
