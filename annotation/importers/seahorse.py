"""The SEAHORSE release: one rating a row, tab separated, with or without CSV quoting.

Source: Clark et al. 2023, "SEAHORSE: A Multilingual, Multifaceted Dataset for Summarization Evaluation"
(EMNLP), section 3; the columns are those of the published files.
"""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cached_property

from annotation.importers.articles import joined_articles
from annotation.importers.fields import Fields
from annotation.importers.importer import ARTICLES, Importer
from annotation.importers.lines import TextFile
from annotation.importers.options import Option
from annotation.importers.quoting import found_quoting
from annotation.importers.records import (
    AnswerRecord,
    ArticleRecord,
    Entry,
    RatingRecord,
    Rejected,
    Row,
    SummaryRecord,
    is_reference,
)
from annotation.importers.tables import Quoting, table_rows
from annotation.protocol import SEAHORSE

COLUMNS = {f"question{number}": question.key for number, question in enumerate(SEAHORSE.questions, start=1)}
PLACES = {question: column for column, question in COLUMNS.items()}
NEEDED = ("gem_id", "worker_lang", "summary", "model", *COLUMNS)
GEM_ID = re.compile(r"(?P<dataset>.+)-(?P<split>train|validation|val|test)-(?P<number>\d+)")
MEANING = {Quoting.CSV: "CSV writes them (doubled inside quotes)", Quoting.NONE: "they stand"}


class Seahorse(Importer):
    name = "seahorse"
    title = "SEAHORSE (TSV)"
    description = (
        "The released TSV: gem_id, worker_lang, summary, model, question1 to question6. The file names no "
        "raters: the first, second and third rating of a summary go to seahorse-1, seahorse-2 and "
        "seahorse-3, which are places in the file and not people. Articles come from an examples file; "
        "without it the ratings count, and the summaries cannot be rated here."
    )
    options = (
        Option(
            name="quoting",
            label="Quoting",
            help="How quotation marks are written: csv (fields in quotes, inner quotes doubled), none (as "
            "they stand), or auto (found out from the file).",
            kind="choice",
            default="auto",
            choices=("auto", "csv", "none"),
        ),
    )
    companion = ARTICLES
    answers = SEAHORSE

    @cached_property
    def quoting(self) -> Quoting:
        chosen = self.set["quoting"]
        return found_quoting(self.file, "\t") if chosen == "auto" else Quoting(chosen)

    @cached_property
    def _named(self) -> dict[str, ArticleRecord]:
        rows = table_rows(self.file, "\t", self.quoting, NEEDED)
        articles = (_article(str(row.values["gem_id"]).strip(), row) for row in rows if isinstance(row, Row))
        return {article.external_id: article for article in articles}

    def entries(self) -> Iterator[Entry | Rejected]:
        self.notes = [f"Quotation marks were read as {MEANING[self.quoting]}."]
        if self.companion_file is not None:
            yield from joined_articles(self.companion_file, self._named, self.notes)
        yield from _own_entries(self.file, self.quoting)


def _own_entries(file: TextFile, quoting: Quoting) -> Iterator[Entry | Rejected]:
    given: Counter[tuple[str, str]] = Counter()
    for row in table_rows(file, "\t", quoting, NEEDED):
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
    rejected = fields.rejected()
    if rejected is not None:
        return rejected
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
    return Entry(row.file, row.line, row.values, _article(article_id, row), (summary,), (rating,))


def _article(article_id: str, row: Row) -> ArticleRecord:
    """What the ids tell of an article: de and not de-DE, since one article has one language."""
    parts = GEM_ID.fullmatch(article_id)
    return ArticleRecord(
        article_id,
        str(row.values["worker_lang"]).strip().partition("-")[0],
        dataset=parts["dataset"] if parts else "",
        split={"val": "validation"}.get(parts["split"], parts["split"]) if parts else "",
    )
