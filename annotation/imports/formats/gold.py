"""The gold set: summaries with the agreed answers, each with an explanation.

JSONL has one summary a line with its answers by question: {question: {"value", "explanation"}}. Tables have
one row for each summary and question, with the columns question, value and explanation.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from annotation.imports.reading.articles import read_article
from annotation.imports.reading.fields import Fields
from annotation.imports.reading.importer import Importer
from annotation.imports.reading.json_rows import json_rows
from annotation.imports.reading.options import language_option, sheet_option
from annotation.imports.reading.records import (
    AnswerRecord,
    ArticleRecord,
    Entry,
    GoldRecord,
    Rejected,
    Row,
    SummaryRecord,
    is_reference,
)
from annotation.imports.reading.tables import is_json, table_rows


class GoldImporter(Importer):
    name = "gold"
    title = "Gold set (JSONL, JSON, CSV, TSV, XLSX)"
    purpose = "Agreed answers that qualify raters."
    description = (
        "Summaries with agreed answers: article_id, article, system, summary, "
        "optionally language, title, dataset and split, and answers with value and explanation for every "
        "question that is asked: none after an answer that ends the rating, such as No to SEAHORSE's first "
        "question. Tables have one row per summary and question, with the columns question, "
        "value and explanation."
    )
    columns = ("article_id", "system", "summary", "question", "value", "explanation")
    json_fields = ("article_id", "article", "system", "summary", "answers")

    @dataclass(frozen=True)
    class Options:
        language: str = language_option()
        sheet: str = sheet_option()

    def entries(self) -> Iterator[Entry | Rejected]:
        if is_json(self.file):
            for row in json_rows(self.file):
                yield row if isinstance(row, Rejected) else _entry(row)
            return
        answered: dict[tuple[str, str], dict[str, AnswerRecord]] = {}
        for row in table_rows(self.file, self.columns):
            yield row if isinstance(row, Rejected) else _table_entry(row, answered)
        for (article_id, system), answers in answered.items():
            first = min(answer.line for answer in answers.values())
            gold = GoldRecord(article_id, system, answers)
            whole = {"article_id": article_id, "system": system}
            whole |= {question: answer.value for question, answer in answers.items()}
            yield Entry(self.file.name, first, whole, gold=(gold,))


def _entry(row: Row) -> Entry | Rejected:
    fields = Fields(row)
    article, summary = _texts(fields)
    answers = {}
    for question, found in fields.members("answers", needed=True).items():
        field = f"answers.{question}"
        given = fields.check_members(field, found, needed=True)
        answers[question] = _answer(fields, field, given.get("value"), given.get("explanation"))
    gold = GoldRecord(summary.article_id, summary.system, answers, fields.flag("is_retired"))
    return fields.entry(article, summaries=(summary,), gold=(gold,))


def _table_entry(row: Row, answered: dict[tuple[str, str], dict[str, AnswerRecord]]) -> Entry | Rejected:
    fields = Fields(row)
    article, summary = _texts(fields)
    question = fields.name("question", needed=True)
    answer = _answer(fields, "", row.values["value"], row.values["explanation"])
    key = summary.article_id, summary.system
    given = answered.get(key, {})
    if question in given and not fields.problems:
        fields.problem(
            "question", question, f"a question without an answer yet: line {given[question].line} has one"
        )
    if not fields.problems:
        answered.setdefault(key, given)[question] = answer
    return fields.entry(article, summaries=(summary,))


def _texts(fields: Fields) -> tuple[ArticleRecord, SummaryRecord]:
    article_id = fields.name("article_id", needed=True)
    system = fields.name("system", needed=True)
    article = read_article(fields, article_id, text_needed=True)
    text = fields.text("summary", needed=True)
    people = is_reference(system) or fields.flag("is_reference")
    return article, SummaryRecord(article_id, system, text, people, to_be_rated=False)


def _answer(fields: Fields, field: str, value: object, explanation: object) -> AnswerRecord:
    inside = f"{field}." if field else ""
    given = fields.value(f"{inside}value", value)
    why = fields.value(f"{inside}explanation", explanation)
    for name, text in (("value", given), ("explanation", why)):
        if not text and not fields.is_wrong(f"{inside}{name}"):
            fields.problem(f"{inside}{name}", text, "a text")
    return AnswerRecord(given, why, fields.row.line, f"{inside}value")
