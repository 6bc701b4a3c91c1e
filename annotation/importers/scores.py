"""Scores computed elsewhere: one summary a line, {"id", "scores", "reasons"}."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from annotation.importers.fields import Fields
from annotation.importers.importer import Companion, Importer
from annotation.importers.json_rows import json_lines
from annotation.importers.lines import TextFile
from annotation.importers.options import Option
from annotation.importers.records import Entry, Rejected, Row, ScoreRecord

Names = tuple[str, str]  # article_id, system


class Scores(Importer):
    name = "scores"
    title = "Scores (JSONL)"
    description = (
        "One summary a line: id, scores (a number or null for each dimension), and reasons where they are "
        "null. The id of a summary is article_id/system, as Touchstone writes it; other ids need the "
        "examples file that was scored, or article_id and system on every line. The summaries must be in the "
        "project."
    )
    options = (
        Option(
            name="evaluator",
            label="Evaluator",
            help="What the evaluator is called here; the file's name up to its first dot if left empty.",
            kind="text",
            default="",
        ),
    )
    companion = Companion(
        name="examples",
        label="Examples",
        help="The examples file that was scored: it says which article_id and system an id stands for.",
    )

    def __init__(
        self,
        file: TextFile,
        companion: TextFile | None,
        options: Mapping[str, Any],
        dimensions: Sequence[str],
    ) -> None:
        super().__init__(file, companion, options, dimensions)
        self._evaluator = options["evaluator"] or file.name.partition(".")[0]

    def entries(self) -> Iterator[Entry | Rejected]:
        names: dict[str, Names] | None = None
        if self.companion_file is not None:
            names = {}
            for row in json_lines(self.companion_file):
                rejected = row if isinstance(row, Rejected) else _remember(row, names)
                if rejected:
                    yield rejected
        for row in json_lines(self.file):
            yield row if isinstance(row, Rejected) else self._entry(row, names)

    def _entry(self, row: Row, names: Mapping[str, Names] | None) -> Entry | Rejected:
        fields = Fields(row)
        identifier = fields.name("id", needed=True)
        if names is None:
            given = "article_id" in row.values or "system" in row.values
            article_id = fields.name("article_id", needed=given)
            system = fields.name("system", needed=given)
        else:
            article_id, system = names.get(identifier, ("", ""))
            if identifier and not article_id:
                fields.problem("id", identifier, "an id of the examples file")
        reasons = fields.members("reasons")
        scores = []
        for dimension, found in fields.members("scores", needed=True).items():
            field = f"scores.{dimension}"
            fields.check_name(field, dimension, "dimension", needed=True)
            value = fields.number(field, found)
            reason = ""
            if found is None:
                reason = fields.check_text(f"reasons.{dimension}", reasons.get(dimension) or "")
                if not reason:
                    fields.problem(f"reasons.{dimension}", None, "why there is no score")
            elif reasons.get(dimension):
                fields.problem(f"reasons.{dimension}", reasons[dimension], "no reason where there is a score")
            scores.append(
                ScoreRecord(
                    article_id or identifier, system, self._evaluator, dimension, value, reason, field
                )
            )
        fields.check_name("evaluator", self._evaluator, needed=True)
        return fields.rejected() or Entry(row.file, row.line, row.values, scores=scores)


def _remember(row: Row, names: dict[str, Names]) -> Rejected | None:
    fields = Fields(row)
    identifier = fields.name("id", needed=True)
    found = (fields.name("article_id", needed=True), fields.name("system", needed=True))
    if names.setdefault(identifier, found) != found:
        fields.problem("id", identifier, "an id that stands for one summary")
    return fields.rejected()
