"""The layout that BARTScore, ICE and others use: articles with the summaries and scores of all systems.

Source of the layout: Yuan et al. 2021, "BARTScore: Evaluating Generated Text as Text Generation" (NeurIPS),
the data files of its repository: {article id: {src, ref_summ or ref_summs, sys_summs: {system: {sys_summ,
scores: {name: number}}}}}.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from annotation.declared.settings import SettingsRefused, setting
from annotation.imports.reading.fields import Fields
from annotation.imports.reading.importer import Importer
from annotation.imports.reading.json_rows import is_one_object, json_lines, json_members
from annotation.imports.reading.labels import label_pattern, read_labels, split_score_name
from annotation.imports.reading.options import create_questionnaire_option, language_option, rater_option
from annotation.imports.reading.proposal import MOST_QUESTIONS
from annotation.imports.reading.records import (
    ArticleRecord,
    Entry,
    FileRefused,
    RatingRecord,
    Rejected,
    Row,
    ScoreRecord,
    SummaryRecord,
    reference_summaries,
)

NUMBERED = (
    "Every summary has a different system, so systems cannot be compared. If each article lists the same "
    "systems in the same order, name them with --systems."
)
NO_VALUE = "the imported file has no value"


class BartScoreImporter(Importer):
    name = "bartscore"
    title = "BARTScore layout (JSON, JSONL)"
    purpose = "Summaries with human and other scores."
    description = (
        "One object of articles by id, or one article per line with its id: src, ref_summ or ref_summs, and "
        "sys_summs with the text (sys_summ) and scores of each system. Scores that match the pattern of "
        "human labels become ratings on an interval scale. All others become scores of imported evaluators."
    )

    @dataclass(frozen=True)
    class Options:
        labels: str = setting(
            "",
            label="Human labels",
            help="Pattern of the names of human scores, such as human_score_{dimension}.",
            details="{dimension} alone where they are called by the dimension. Empty: no score is human.",
        )
        rater: str = rater_option()
        no_references: bool = setting(
            False, label="Skip references", help="Skip all references, if they are only placeholders."
        )
        systems: tuple[str, ...] = setting(
            (),
            label="System names",
            help="Names of the numbered systems, in the order of the file.",
        )
        language: str = language_option()
        create_questionnaire: bool = create_questionnaire_option()

    options: Options
    json_fields = ("src", "sys_summs")
    proposes = "interval"

    def prepare(self) -> None:
        try:
            self._labels = label_pattern(self.options.labels) if self.options.labels else None
        except ValueError as error:
            raise SettingsRefused({"labels": str(error)}) from None
        if len(set(self.options.systems)) < len(self.options.systems):
            raise SettingsRefused({"systems": "found a name twice, expected one name for each system"})
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
        if is_one_object(self.file, frozenset(self.json_fields)):
            yield from json_members(self.file)
            return
        for row in json_lines(self.file):
            yield None, row

    def _labelled_dimensions(self) -> frozenset[str]:
        """Return the dimensions that human labels name anywhere in the file.

        Raises FileRefused for more than MOST_QUESTIONS.
        """
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
            if len(found) > MOST_QUESTIONS:
                many = f"labels of over {MOST_QUESTIONS} dimensions"
                raise FileRefused.because(row.file, row.line, "scores", many, "a pattern that fits fewer")
        return frozenset(found)

    def _entry(self, member: object, row: Row, known: frozenset[str]) -> Entry | Rejected:
        fields = Fields(row)
        key = "article_id" if "article_id" in row.values else "id"
        article_id = fields.check_name(
            key, row.values.get(key) if member is None else member, "article_id", needed=True
        )
        article = ArticleRecord(article_id, fields.language(), text=fields.text("src", needed=True))
        summaries = [] if self.options.no_references else _references(fields, article_id)
        ratings: list[RatingRecord] = []
        scores: list[ScoreRecord] = []
        systems = fields.members("sys_summs", needed=True)
        seen: set[str] = set()
        for name, (place, found) in self._named(fields, systems):
            field = f"sys_summs.{place}"
            members = fields.check_members(field, found, needed=True)
            if not isinstance(found, dict):
                continue
            system = fields.check_name(field, name, "system", needed=True)
            if system and system in seen:
                fields.problem(field, name, f"one summary by {system}")
            seen.add(system)
            text = fields.check_text(f"{field}.sys_summ", members.get("sys_summ"))
            summaries.append(SummaryRecord(article_id, system, text))
            values = fields.check_members(f"{field}.scores", members.get("scores"))
            labels, others = self._split_scores(f"{field}.scores", values)
            ratings += read_labels(fields, article_id, system, self.options.rater, labels)
            scores += _scores(fields, article_id, system, others, known)
        return fields.entry(article, summaries=summaries, ratings=ratings, scores=scores)

    def _named(
        self, fields: Fields, systems: Mapping[str, object]
    ) -> Iterator[tuple[str, tuple[str, object]]]:
        """Yield the systems as (name, (key in the file, value))."""
        names = self.options.systems or list(systems)
        if len(names) != len(systems):
            fields.problem("sys_summs", len(systems), f"{len(names)} systems, as many as were named")
            return iter(())
        return zip(names, systems.items(), strict=True)

    def _split_scores(
        self, field: str, values: Mapping[str, object]
    ) -> tuple[dict[str, tuple[str, object]], dict[str, tuple[str, object]]]:
        """Return human labels by dimension, and other scores by name, each as (field, value)."""
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


def _scores(
    fields: Fields,
    article_id: str,
    system: str,
    found: Mapping[str, tuple[str, object]],
    known: frozenset[str],
) -> list[ScoreRecord]:
    """Return the scores of one summary, given by name as (field, value)."""
    scores: dict[tuple[str, str], ScoreRecord] = {}
    for name, (field, given) in found.items():
        evaluator, dimension = split_score_name(name, known)
        evaluator = fields.check_name(field, evaluator, "evaluator", needed=True)
        dimension = fields.check_name(field, dimension, "dimension", needed=True)
        if evaluator and dimension and (evaluator, dimension) in scores:
            fields.problem(field, name, f"one score by {evaluator} on {dimension}")
        value = fields.number(field, given)
        reason = "" if value is not None else NO_VALUE
        scores[evaluator, dimension] = ScoreRecord(
            article_id, system, evaluator, dimension, value, reason, field
        )
    return list(scores.values())
