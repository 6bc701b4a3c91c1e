"""Articles from an examples file, joined to a file that only names them."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from annotation.importers.fields import Fields
from annotation.importers.json_rows import json_lines
from annotation.importers.lines import TextFile
from annotation.importers.records import (
    ArticleRecord,
    Entry,
    Rejected,
    SummaryRecord,
    reference_summaries,
)


def joined_articles(
    file: TextFile, wanted: Mapping[str, ArticleRecord], notes: list[str]
) -> Iterator[Entry | Rejected]:
    """The articles of an examples file whose id (article_id, else id) is among `wanted`.

    What `wanted` says of an article beside its text goes before what the examples file says. Rows on other
    articles are passed over. `notes` is told how many wanted articles the file lacks.
    """
    missing = set(wanted)
    for row in json_lines(file):
        if isinstance(row, Rejected):
            yield row
            continue
        fields = Fields(row)
        article_id = fields.name(
            "article_id" if "article_id" in row.values else "id", "article_id", needed=True
        )
        if article_id and article_id not in wanted:
            continue
        missing.discard(article_id)
        known = wanted.get(article_id, ArticleRecord(article_id))
        article = _joined(known, read_article(fields, article_id, text_needed=True))
        references = read_references(fields, article_id)
        yield fields.rejected() or Entry(row.file, row.line, row.values, article, references)
    if missing:
        notes.append(
            f"{len(missing):,} of {len(wanted):,} articles are not in {file.name}, for example "
            f"{min(missing)}: they are kept without text."
        )


def read_article(fields: Fields, article_id: str, *, text_needed: bool = False) -> ArticleRecord:
    """The article of a row in the layout of examples."""
    text = fields.text("article", needed=text_needed)
    if text_needed and not text.strip() and "article" in fields.row.values and not fields.problems:
        fields.problem("article", text, "the text of an article")
    return ArticleRecord(
        article_id,
        language=fields.language(),
        dataset=fields.name("dataset"),
        split=fields.split(),
        title=fields.name("title"),
        text=text,
    )


def read_references(fields: Fields, article_id: str) -> list[SummaryRecord]:
    """The references of a row in the layout of examples."""
    return reference_summaries(article_id, fields.texts("references", fields.row.values.get("references")))


def _joined(known: ArticleRecord, found: ArticleRecord) -> ArticleRecord:
    return ArticleRecord(
        known.external_id,
        known.language or found.language,
        known.dataset or found.dataset,
        known.split or found.split,
        known.title or found.title,
        found.text,
    )


def named_articles(entries: Iterator[Entry | Rejected]) -> dict[str, ArticleRecord]:
    """The articles that a file's own entries name, by id, without their texts."""
    return {
        article.external_id: replace(article, text="")
        for entry in entries
        if isinstance(entry, Entry)
        if (article := entry.article) is not None
    }
