"""Scores computed elsewhere: one summary a line, {"id", "scores", "reasons"}."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from annotation.declared.settings import setting
from annotation.imports.reading.fields import Fields
from annotation.imports.reading.importer import Companion, Importer
from annotation.imports.reading.json_rows import json_lines
from annotation.imports.reading.records import Entry, Rejected, Row, ScoreRecord

Names = tuple[str, str]  # article_id, system


class ScoresImporter(Importer):
    name = "scores"
    title = "Scores (JSONL)"
    purpose = "Scores of an evaluator that ran elsewhere."
    description = (
        "One summary per line: id, scores (a number or null for each dimension), and reasons for nulls. The "
        "id is article_id/system, as in Touchstone's files. Other ids need the scored examples file, or "
        "article_id and system on every line. The summaries must be in the project."
    )

    @dataclass(frozen=True)
    class Options:
        evaluator: str = setting(
            "",
            label="Evaluator name",
            help="Name of the evaluator; empty: the file's name up to its first dot.",
        )

    options: Options
    json_fields = ("id", "scores")
    companion = Companion(
        name="examples",
        label="Examples",
        help="The scored examples file, which maps ids to article_id and system.",
    )

    def prepare(self) -> None:
        self._evaluator = self.options.evaluator or self.file.name.partition(".")[0]

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
            scores[dimension] = ScoreRecord(
                article_id or identifier, system, evaluator, dimension, value, reason, field
            )
        return fields.entry(scores=list(scores.values()))


def _remember(row: Row, names: dict[str, Names]) -> Rejected | None:
    fields = Fields(row)
    identifier = fields.name("id", needed=True)
    found = (fields.name("article_id", needed=True), fields.name("system", needed=True))
    if names.setdefault(identifier, found) != found:
        fields.problem("id", identifier, "an id that stands for one summary")
    return fields.rejected()
