"""The layout that BARTScore, ICE and others use: articles with the summaries and scores of all systems.

Source of the layout: Yuan et al. 2021, "BARTScore: Evaluating Generated Text as Text Generation" (NeurIPS),
the data files of its repository: {article id: {src, ref_summ or ref_summs, sys_summs: {system: {sys_summ,
scores: {name: number}}}}}.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from annotation.importers.fields import Fields
from annotation.importers.importer import Importer
from annotation.importers.json_rows import is_one_object, json_lines, json_members
from annotation.importers.labels import label_pattern, read_labels, split_score_name
from annotation.importers.lines import TextFile
from annotation.importers.options import CREATE_QUESTIONNAIRE, LANGUAGE, RATER, Option, OptionsRefused
from annotation.importers.records import (
    ArticleRecord,
    Entry,
    RatingRecord,
    Rejected,
    Row,
    ScoreRecord,
    SummaryRecord,
    reference_summaries,
)

NUMBERED = (
    "Every summary has a system of its own, so nothing can be compared by system. If each article lists the "
    "same systems in the same order, name them with --systems."
)
NO_VALUE = "the imported file has no value"


class BartScore(Importer):
    name = "bartscore"
    title = "BARTScore layout (JSON, JSONL)"
    description = (
        "One object of articles by id, or one article a line with its id: src, ref_summ or ref_summs, and "
        "sys_summs with the text (sys_summ) and the scores of each system. Scores whose names match the "
        "pattern of human labels become ratings on an interval scale; all others become scores of imported "
        "evaluators, named by what is left of the score's name without its dimension."
    )
    options = (
        Option(
            name="labels",
            label="Human labels",
            help="Pattern of the names of human scores, such as human_score_{dimension}, or {dimension} "
            "where they are called by the dimension alone. Without it no score is taken for a human one.",
            kind="text",
            default="",
        ),
        RATER,
        Option(
            name="no_references",
            label="Leave out the references",
            help="For files whose references are mere placeholders.",
            kind="flag",
            default=False,
        ),
        Option(
            name="systems",
            label="Systems",
            help="Names of the systems in the order in which each article lists them, where the file only "
            "numbers them.",
            kind="list",
            default=[],
        ),
        LANGUAGE,
        CREATE_QUESTIONNAIRE,
    )
    proposes = "interval"

    def __init__(
        self,
        file: TextFile,
        companion: TextFile | None,
        options: Mapping[str, Any],
        dimensions: Sequence[str],
    ) -> None:
        super().__init__(file, companion, options, dimensions)
        try:
            self._labels = label_pattern(options["labels"]) if options["labels"] else None
        except ValueError as error:
            raise OptionsRefused({"labels": str(error)}) from None
        if len(set(options["systems"])) < len(options["systems"]):
            raise OptionsRefused({"systems": "found a name twice, expected one name for each system"})
        self._known: frozenset[str] | None = None

    def entries(self) -> Iterator[Entry | Rejected]:
        if self._known is None:
            self._known = frozenset(self.dimensions) | self._labelled_dimensions()
        systems: set[str] = set()
        articles = summaries = 0
        for article_id, row in self._rows():
            entry = row if isinstance(row, Rejected) else self._entry(article_id, row, self._known)
            if isinstance(entry, Entry):
                written = [summary.system for summary in entry.summaries if not summary.is_reference]
                systems.update(written)
                summaries += len(written)
                articles += 1
            yield entry
        self.notes = [NUMBERED] if len(systems) == summaries > articles > 1 else []

    def _rows(self) -> Iterator[tuple[object, Row | Rejected]]:
        if is_one_object(self.file, frozenset({"src", "sys_summs"})):
            yield from json_members(self.file)
            return
        for row in json_lines(self.file):
            yield None, row

    def _labelled_dimensions(self) -> frozenset[str]:
        """The dimensions that human labels name anywhere in the file: other scores may speak of them too."""
        if self._labels is None:
            return frozenset()
        found = set()
        for _, row in self._rows():
            systems = row.values.get("sys_summs") if isinstance(row, Row) else None
            for system in systems.values() if isinstance(systems, dict) else ():
                scores = system.get("scores") if isinstance(system, dict) else None
                matches = (
                    self._labels.fullmatch(name) for name in (scores if isinstance(scores, dict) else ())
                )
                found |= {match["dimension"] for match in matches if match}
        return frozenset(found)

    def _entry(self, member: object, row: Row, known: frozenset[str]) -> Entry | Rejected:
        fields = Fields(row)
        key = "article_id" if "article_id" in row.values else "id"
        article_id = fields.check_name(
            key, row.values.get(key) if member is None else member, "article_id", needed=True
        )
        article = ArticleRecord(article_id, fields.language(), text=fields.text("src", needed=True))
        summaries = [] if self.set["no_references"] else _references(fields, article_id)
        ratings: list[RatingRecord] = []
        scores: list[ScoreRecord] = []
        systems = fields.members("sys_summs", needed=True)
        for name, (place, found) in self._named(fields, systems):
            field = f"sys_summs.{place}"
            members = fields.check_members(field, found, needed=True)
            if not isinstance(found, dict):
                continue
            system = fields.check_name(field, name, "system", needed=True)
            text = fields.check_text(f"{field}.sys_summ", members.get("sys_summ"))
            summaries.append(SummaryRecord(article_id, system, text))
            values = fields.check_members(f"{field}.scores", members.get("scores"))
            labels, others = self._sorted_out(f"{field}.scores", values)
            ratings += read_labels(fields, article_id, system, self.set["rater"], labels)
            scores += [
                _score(fields, article_id, system, each, place, value, known)
                for each, (place, value) in others.items()
            ]
        return fields.rejected() or Entry(
            row.file, row.line, row.values, article, summaries, ratings, (), scores
        )

    def _named(
        self, fields: Fields, systems: Mapping[str, object]
    ) -> Iterator[tuple[str, tuple[str, object]]]:
        """The systems as (name, (key in the file, what stands there))."""
        names = self.set["systems"] or list(systems)
        if len(names) != len(systems):
            fields.problem("sys_summs", len(systems), f"{len(names)} systems, as many as were named")
            return iter(())
        return zip(names, systems.items(), strict=True)

    def _sorted_out(
        self, field: str, values: Mapping[str, object]
    ) -> tuple[dict[str, tuple[str, object]], dict[str, tuple[str, object]]]:
        """Human labels by dimension, and other scores by name, each with its field and value."""
        labels, others = {}, {}
        for name, value in values.items():
            match = self._labels.fullmatch(name) if self._labels else None
            if match:
                labels[match["dimension"]] = (f"{field}.{name}", value)
            else:
                others[name] = (f"{field}.{name}", value)
        return labels, others


def _references(fields: Fields, article_id: str) -> list[SummaryRecord]:
    several = fields.texts("ref_summs", fields.row.values.get("ref_summs"))
    one = fields.text("ref_summ")
    return reference_summaries(article_id, several or ([one] if one else []))


def _score(
    fields: Fields, article_id: str, system: str, name: str, field: str, found: object, known: frozenset[str]
) -> ScoreRecord:
    evaluator, dimension = split_score_name(name, known)
    fields.check_name(field, evaluator, "evaluator", needed=True)
    fields.check_name(field, dimension, "dimension", needed=True)
    value = fields.number(field, found)
    return ScoreRecord(
        article_id, system, evaluator, dimension, value, "" if value is not None else NO_VALUE, field
    )
