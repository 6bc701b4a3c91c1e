"""The SEAHORSE release: one rating a row, tab separated, with or without CSV quoting.

Source: Clark et al. 2023, "SEAHORSE: A Multilingual, Multifaceted Dataset for Summarization Evaluation"
(EMNLP), section 3; the columns are those of the published files.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from annotation.declared.settings import setting
from annotation.imports.reading.articles import joined_articles
from annotation.imports.reading.fields import Fields
from annotation.imports.reading.importer import ARTICLES, Importer
from annotation.imports.reading.options import sheet_option
from annotation.imports.reading.quoting import found_quoting
from annotation.imports.reading.records import (
    AnswerRecord,
    ArticleRecord,
    Entry,
    RatingRecord,
    Rejected,
    Row,
    SummaryRecord,
    is_reference,
)
from annotation.imports.reading.tables import Quoting, table_rows
from annotation.imports.reading.workbooks import WorkbookFile
from annotation.protocol import SEAHORSE

COLUMNS = {f"question{number}": question.key for number, question in enumerate(SEAHORSE.questions, start=1)}
PLACES = {question: column for column, question in COLUMNS.items()}
NEEDED = ("gem_id", "worker_lang", "summary", "model", *COLUMNS)
GEM_ID = re.compile(r"(?P<dataset>.+)-(?P<split>train|validation|val|test)-(?P<number>\d+)")
MEANING = {Quoting.CSV: "in CSV (doubled inside quotes)", Quoting.NONE: "literal characters"}


class SeahorseImporter(Importer):
    name = "seahorse"
    title = "SEAHORSE (TSV, CSV, XLSX)"
    purpose = "Released answers to six questions."
    description = (
        "The released TSV with gem_id, worker_lang, summary, model and question1 to question6. The file "
        "names no raters: the first, second and third rating of a summary go to seahorse-1, seahorse-2 and "
        "seahorse-3. Add the articles from an examples file to rate the summaries here."
    )

    @dataclass(frozen=True)
    class Options:
        quoting: str = setting(
            "auto",
            label="Quotation marks",
            help="The file's way of writing quotation marks inside a field.",
            choices={
                "auto": "detect from the file",
                "csv": "quoted fields, inner quotes doubled",
                "none": "literal characters",
            },
        )
        sheet: str = sheet_option()

    options: Options
    columns = NEEDED
    companion = ARTICLES
    answers = SEAHORSE

    @cached_property
    def quoting(self) -> Quoting:
        chosen = self.options.quoting
        if isinstance(self.file, WorkbookFile):
            return Quoting.NONE
        return found_quoting(self.file) if chosen == "auto" else Quoting(chosen)

    @cached_property
    def _named(self) -> dict[str, ArticleRecord]:
        rows = table_rows(self.file, NEEDED, self.quoting)
        articles = (_article(str(row.values["gem_id"]).strip(), row) for row in rows if isinstance(row, Row))
        return {article.external_id: article for article in articles}

    def entries(self) -> Iterator[Entry | Rejected]:
        marks = f"Quotation marks were read as {MEANING[self.quoting]}."
        self.notes = [] if isinstance(self.file, WorkbookFile) else [marks]
        if self.companion_file is not None:
            yield from joined_articles(self.companion_file, self._named, self.notes)
        given: Counter[tuple[str, str]] = Counter()
        for row in table_rows(self.file, NEEDED, self.quoting):
            yield row if isinstance(row, Rejected) else _entry(row, given)


def _entry(row: Row, given: Counter[tuple[str, str]]) -> Entry | Rejected:
    fields = Fields(row)
    article_id = fields.name("gem_id", "article_id", needed=True)
    system = fields.name("model", "system", needed=True)
    given[article_id, system] += 1
    language = fields.language("worker_lang")
    text = fields.text("summary")
    answers = {
        question: AnswerRecord(value.lower(), "", row.line, column)
        for column, question in COLUMNS.items()
        if (value := str(row.values[column]).strip())
    }
    if not language and not fields.problems:
        fields.problem("worker_lang", "", "a language code")
    rating = RatingRecord(
        article_id,
        system,
        f"seahorse-{given[article_id, system]}",
        answers,
        group="imported",
        complete=True,
        columns=PLACES,
    )
    summary = SummaryRecord(article_id, system, text, is_reference(system))
    return fields.entry(_article(article_id, row), summaries=(summary,), ratings=(rating,))


def _article(article_id: str, row: Row) -> ArticleRecord:
    """Return the article that the ids describe, in de and not de-DE, since it has one language."""
    parts = GEM_ID.fullmatch(article_id)
    return ArticleRecord(
        article_id,
        str(row.values["worker_lang"]).strip().partition("-")[0],
        dataset=parts["dataset"] if parts else "",
        split={"val": "validation"}.get(parts["split"], parts["split"]) if parts else "",
    )
