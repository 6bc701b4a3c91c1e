"""Scores computed elsewhere: a table with a column for each metric, or one evaluator's {"id", "scores"}."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from annotation.declared.settings import SettingsRefused, setting
from annotation.imports.reading.fields import Fields
from annotation.imports.reading.importer import Companion, Importer, TableHead
from annotation.imports.reading.json_rows import json_lines, json_rows
from annotation.imports.reading.mapping import Mapped, read_mapping
from annotation.imports.reading.options import map_option, sheet_option
from annotation.imports.reading.records import Entry, FileRefused, Problem, Rejected, Row, ScoreRecord, listed
from annotation.imports.reading.score_columns import (
    NO_SCORE,
    ScoreColumn,
    columns_note,
    named_scores,
    read_score,
    refuse_texts,
    see_columns,
)
from annotation.imports.reading.tables import MissingColumns, column_names, is_json, parts_of, table_rows

Names = tuple[str, str]
"""Article and system."""
NAMES = ("article_id", "system")
OF_SUMMARY = ("id", *NAMES)
OF_EVALUATOR = "score:"
"""Prefix of the fields that hold the scores of one evaluator each."""


class ScoresImporter(Importer):
    name = "scores"
    title = "Scores (CSV, TSV, XLSX, JSON, JSONL)"
    purpose = "Scores of metrics that ran elsewhere."
    description = (
        "One summary per row and one column per metric, beside article_id and system, or an id, which is "
        "article_id/system. A column such as ice_coherence holds the scores of ice on coherence, if the "
        "questionnaire has that dimension. Or JSONL of one evaluator: id, scores (a number or null for each "
        "dimension), and reasons for nulls. Other ids need the scored examples file. The summaries must be "
        "in the project."
    )

    @dataclass(frozen=True)
    class Options:
        evaluator: str = setting(
            "",
            label="Evaluator name",
            help="Name of the evaluator; empty: the file's name up to its first dot.",
            details="In a table, columns named only after a dimension belong to it.",
        )
        map: tuple[str, ...] = map_option()
        sheet: str = sheet_option()

    options: Options
    columns = NAMES
    json_fields = ("id", "scores")
    mapped_fields = (*OF_SUMMARY, "score")
    several = "score"
    companion = Companion(
        name="examples",
        label="Examples",
        help="The scored examples file, which maps ids to article_id and system.",
    )

    def prepare(self) -> None:
        self._evaluator = self.options.evaluator or self.file.name.partition(".")[0]
        try:
            self._mapped = read_mapping(self.options.map, OF_SUMMARY, several=self.several)
        except ValueError as error:
            raise SettingsRefused({"map": str(error)}) from None
        self._chosen: dict[str, str] = {}
        for field, column in self._mapped.columns.items():
            if field.startswith(OF_EVALUATOR):
                if column in self._chosen:
                    raise SettingsRefused({"map": f"found {column!r} twice, expected one evaluator for it"})
                self._chosen[column] = field.removeprefix(OF_EVALUATOR).strip()
        if any(field.startswith(OF_EVALUATOR) for field in self._mapped.constants):
            raise SettingsRefused({"map": "found a score for all rows, expected score:NAME=column"})

    def entries(self) -> Iterator[Entry | Rejected]:
        names: dict[str, Names] | None = None
        if self.companion_file is not None:
            names = {}
            for row in json_lines(self.companion_file):
                rejected = row if isinstance(row, Rejected) else _remember(row, names)
                if rejected:
                    yield rejected
        if self._is_of_one_evaluator:
            if self.options.map:
                kind, needed = "scores of one evaluator, by dimension", "a column for each evaluator to map"
                raise FileRefused.because(self.file.name, 1, "scores", kind, needed)
            for row in json_rows(self.file):
                yield row if isinstance(row, Rejected) else self._entry(row, names)
            return
        columns, note = self._score_columns
        self.notes = [note]
        for row in self._rows():
            yield row if isinstance(row, Rejected) else self._table_entry(row, names, columns)

    def table_head(self) -> TableHead | None:
        head = super().table_head()
        if head is None:
            return None
        pairs = self._given_pairs(head.columns)
        given = {_field(pair) for pair in pairs}
        if "id" not in given:
            pairs += [pair for pair in head.proposed if _field(pair) in {*OF_SUMMARY} - given]
        held = read_mapping(pairs, OF_SUMMARY).of({name: name for name in head.columns}).keys()
        if held == {"id", "system"}:
            pairs.append("article_id=id")
        named = _columns_of_summaries(read_mapping(pairs, OF_SUMMARY), head.columns)
        cells = (Row(self.file.name, 1, dict(zip(head.columns, row, strict=True))) for row in head.rows)
        scores = see_columns(cells, head.columns).without(named).scores
        return replace(head, proposed=pairs + [f"{OF_EVALUATOR}{name}={name}" for name in scores])

    def _given_pairs(self, columns: Sequence[str]) -> list[str]:
        """Return the pairs of the option `map` that name the summary by columns of the table."""
        pairs = []
        for pair in self.options.map:
            column = pair.partition("=")[2]
            named = () if column.startswith("=") else parts_of(column.strip(), columns)
            if _field(pair) in OF_SUMMARY and all(name in columns for name in named):
                pairs.append(pair)
        return pairs

    @cached_property
    def _is_json(self) -> bool:
        return is_json(self.file)

    @cached_property
    def _is_of_one_evaluator(self) -> bool:
        """True for JSON whose first row has an object of scores by dimension."""
        if not self._is_json:
            return False
        first = next((row for row in json_rows(self.file) if isinstance(row, Row)), None)
        return first is None or "scores" in first.values

    def _rows(self) -> Iterator[Row | Rejected]:
        return json_rows(self.file) if self._is_json else table_rows(self.file, self._needed)

    @cached_property
    def _needed(self) -> list[str]:
        """The columns that the table must have."""
        present = self._mapped.of({name: name for name in column_names(self.file)})
        is_mapped = any(self._mapped.theirs(field) != field for field in NAMES)
        is_by_id = "id" in present and not (is_mapped or _has_names(present))
        return self._mapped.needed(["id"] if is_by_id or self.companion_file is not None else NAMES)

    @cached_property
    def _score_columns(self) -> tuple[dict[str, ScoreColumn], str]:
        """The columns of scores, and a note on them.

        Raises FileRefused if they are unclear, and as `table_rows` does.
        """
        rows = (row for row in self._rows() if isinstance(row, Row))
        seen = see_columns(rows, [] if self._is_json else column_names(self.file))
        beside = seen.without(_columns_of_summaries(self._mapped, seen.names))
        if not self._chosen:
            refuse_texts(self.file.name, beside, is_json=self._is_json)
        missing = [
            Problem(self.file.name, 1, name, f"no such column among {listed(seen.names)}", "this column")
            for name in self._chosen
            if name not in seen.names
        ]
        if missing:
            raise MissingColumns(missing)
        names = self._chosen or {name: name for name in beside.scores}
        columns = named_scores(self.file.name, names, self.dimensions, self._evaluator)
        return columns, columns_note(columns, [name for name in beside.names if name not in columns])

    def _table_entry(
        self, row: Row, names: Mapping[str, Names] | None, columns: Mapping[str, ScoreColumn]
    ) -> Entry | Rejected:
        given = row.values
        row.values = self._mapped.of(given)
        fields = Fields(row)
        is_named = names is None and _has_names(row.values)
        identifier = "" if is_named else fields.name("id", needed=True)
        article_id, system = _summary(fields, identifier, names)
        scores = []
        for column, of in columns.items():
            value = read_score(fields, column, given.get(column))
            reason = "" if value is not None else NO_SCORE
            scores.append(ScoreRecord(article_id, system, of.evaluator, of.dimension, value, reason, column))
        entry = replace(fields.entry(scores=scores), row=given)
        return self._mapped.renamed(entry) if isinstance(entry, Rejected) else entry

    def _entry(self, row: Row, names: Mapping[str, Names] | None) -> Entry | Rejected:
        fields = Fields(row)
        article_id, system = _summary(fields, fields.name("id", needed=True), names)
        reasons = fields.members("reasons")
        evaluator = fields.check_name("evaluator", self._evaluator, needed=True)
        scores: dict[str, ScoreRecord] = {}
        for name, found in fields.members("scores", needed=True).items():
            field = f"scores.{name}"
            dimension = fields.check_name(field, name, "dimension", needed=True)
            if dimension and dimension in scores:
                fields.problem(field, name, f"one score on {dimension}")
            value = fields.number(field, found)
            reason = ""
            if found is None:
                reason = fields.check_text(f"reasons.{name}", reasons.get(name) or "")
                if not reason:
                    fields.problem(f"reasons.{name}", None, "why there is no score")
            elif reasons.get(name):
                fields.problem(f"reasons.{name}", reasons[name], "no reason where there is a score")
            scores[dimension] = ScoreRecord(article_id, system, evaluator, dimension, value, reason, field)
        return fields.entry(scores=list(scores.values()))


def _field(pair: str) -> str:
    return pair.partition("=")[0].strip()


def _has_names(values: Mapping[str, object]) -> bool:
    return any(field in values for field in NAMES)


def _columns_of_summaries(mapped: Mapped, present: Collection[str]) -> set[str]:
    """Return the columns that name the summaries under the mapping."""
    fields = [field for field in OF_SUMMARY if field not in mapped.constants]
    return {part for field in fields for part in parts_of(mapped.theirs(field), present)}


def _summary(fields: Fields, identifier: str, names: Mapping[str, Names] | None) -> Names:
    """Return a row's article and system, or the id and no system where it has nothing else.

    `names` has them by id, if there is an examples file.
    """
    if names is None:
        given = _has_names(fields.row.values)
        article_id = fields.name("article_id", needed=given)
        system = fields.name("system", needed=given)
    else:
        article_id, system = names.get(identifier, ("", ""))
        if identifier and not article_id:
            fields.problem("id", identifier, "an id of the examples file")
    return article_id or identifier, system


def _remember(row: Row, names: dict[str, Names]) -> Rejected | None:
    fields = Fields(row)
    identifier = fields.name("id", needed=True)
    found = (fields.name("article_id", needed=True), fields.name("system", needed=True))
    if names.setdefault(identifier, found) != found:
        fields.problem("id", identifier, "an id that stands for one summary")
    return fields.rejected()
