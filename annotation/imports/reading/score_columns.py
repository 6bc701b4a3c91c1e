"""The columns of a wide table of scores: one for each metric, beside those that name the summary."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from annotation.imports.reading.column_proposal import known_field
from annotation.imports.reading.fields import WITHIN_LIMITS, Fields
from annotation.imports.reading.labels import GENERAL, split_score_name
from annotation.imports.reading.proposal import NOT_ANSWERED
from annotation.imports.reading.records import FileRefused, Problem, Row, listed, shown
from annotation.imports.reading.tables import MOST_COLUMNS, MissingColumns
from annotation.protocol import LARGEST_NUMBER

NO_SCORE = "no score in the file"
NEEDED = "a number such as 0.25, or an empty cell"
REMEDY = (
    "numbers: remove this column from the file, or choose the columns of scores (on the command line: "
    "--map score:NAME=column for each)"
)
TEXTS = {
    *("article_id", "article", "summary", "system", "references", "title", "language"),
    *("dataset", "split", "comment", "rated_at"),
}
"""Fields whose columns hold no scores, under any of their names."""
_ROW_NUMBERS = re.compile(r"|index|Unnamed: [0-9]+")
"""Names that programs give to the numbers of rows."""
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


@dataclass(frozen=True)
class ScoreColumn:
    evaluator: str
    dimension: str


@dataclass(frozen=True)
class SeenColumns:
    """The columns of a table by what their cells hold.

    A column holds scores if it has a number or no text. Its texts are then invalid cells.
    """

    scores: Sequence[str]
    known: Sequence[str]
    """Columns that are no scores by their names."""
    texts: Mapping[str, tuple[int, object]]
    """Other columns without a number, each with the line and value of its first text."""

    @property
    def names(self) -> list[str]:
        return [*self.scores, *self.known, *self.texts]

    def without(self, named: Collection[str]) -> "SeenColumns":
        return SeenColumns(
            [name for name in self.scores if name not in named],
            [name for name in self.known if name not in named],
            {name: first for name, first in self.texts.items() if name not in named},
        )


def see_columns(rows: Iterable[Row], columns: Sequence[str]) -> SeenColumns:
    """Return what `columns`, and further fields of JSON rows, hold.

    Raises FileRefused for more than MOST_COLUMNS.
    """
    numbers: dict[str, bool] = dict.fromkeys(columns, False)
    texts: dict[str, tuple[int, object]] = {}
    for row in rows:
        for name, found in row.values.items():
            if numbers.setdefault(name, False) or _is_absent(found):
                continue
            if _is_number(found):
                numbers[name] = True
            elif name not in texts:
                texts[name] = row.line, found
        if len(numbers) > MOST_COLUMNS:
            raise FileRefused.because(
                row.file,
                row.line,
                "line",
                f"over {MOST_COLUMNS:,} fields so far",
                f"at most {MOST_COLUMNS:,}",
            )
    known = [name for name in numbers if _is_known(name)]
    free = [name for name in numbers if not _is_known(name)]
    return SeenColumns(
        [name for name in free if numbers[name] or name not in texts],
        known,
        {name: texts[name] for name in free if not numbers[name] and name in texts},
    )


def named_scores(
    file: str, names: Mapping[str, str], dimensions: Collection[str], nameless: str
) -> dict[str, ScoreColumn]:
    """Return what the scores in each column are, given the names of the scores by column.

    A name that is only a dimension belongs to the evaluator `nameless`. Raises FileRefused for names that are
    too long, and for two columns of the same scores.
    """
    fields = Fields(Row(file, 1, {}))
    found: dict[str, ScoreColumn] = {}
    columns: dict[ScoreColumn, str] = {}
    for column, name in names.items():
        evaluator, dimension = split_score_name(name, dimensions, nameless)
        evaluator = fields.check_name(column, evaluator, "evaluator", needed=True)
        found[column] = scores = ScoreColumn(evaluator, dimension)
        first = columns.setdefault(scores, column)
        if evaluator and first != column:
            fields.problem(
                column, name, f"other scores than those of {evaluator} on {dimension} in column {first}"
            )
    if fields.problems:
        raise FileRefused(fields.problems)
    return found


def refuse_texts(file: str, seen: SeenColumns, *, is_json: bool) -> None:
    """Raise MissingColumns if there are columns of texts of unknown meaning, or none of scores."""
    problems = [Problem(file, line, name, shown(found), REMEDY) for name, (line, found) in seen.texts.items()]
    if not problems and not seen.scores:
        found = f"no scores among {listed(seen.known)}" if seen.known else "no scores"
        by_dimension = "an object of scores by dimension, or a field for each metric"
        place, expected = ("scores", by_dimension) if is_json else ("header", "a column for each metric")
        problems = [Problem(file, 1, place, found, expected)]
    if problems:
        raise MissingColumns(problems)


def read_score(fields: Fields, column: str, found: object) -> float | None:
    """Return the number of a cell, or None without one. Notes a problem for anything else."""
    if _is_absent(found):
        return None
    if not isinstance(found, str):
        return fields.number(column, found)
    text = found.strip()
    if not _NUMBER.fullmatch(text):
        fields.problem(column, text, NEEDED)
        return None
    number = float(text)
    if abs(number) > LARGEST_NUMBER:
        fields.problem(column, text, WITHIN_LIMITS)
        return None
    return number


def columns_note(columns: Mapping[str, ScoreColumn], left_out: Sequence[str]) -> str:
    """Return which evaluators the file has scores of, and which columns are left out."""
    dimensions: dict[str, list[str]] = {}
    for each in columns.values():
        dimensions.setdefault(each.evaluator, []).append(each.dimension)
    evaluators = listed(
        [name if on == [GENERAL] else f"{name} ({', '.join(on)})" for name, on in dimensions.items()]
    )
    note = f"Scores of {len(dimensions):,} evaluator{'s' * (len(dimensions) != 1)}: {evaluators}."
    if left_out:
        note += f" Columns that are left out: {listed([name or '(no name)' for name in left_out])}."
    return note


def _is_absent(found: object) -> bool:
    return found is None or (isinstance(found, str) and found.strip().casefold() in {"", *NOT_ANSWERED})


def _is_number(found: object) -> bool:
    if isinstance(found, str):
        return _NUMBER.fullmatch(found.strip()) is not None
    return isinstance(found, int | float) and not isinstance(found, bool)


def _is_known(name: str) -> bool:
    is_field = name == "is_reference" or known_field(name) in TEXTS
    return is_field or _ROW_NUMBERS.fullmatch(name) is not None
