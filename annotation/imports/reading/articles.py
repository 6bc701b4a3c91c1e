"""Articles from an examples file, joined to a file that only names them."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace

from annotation.imports.reading.blank_texts import is_blank
from annotation.imports.reading.fields import Fields
from annotation.imports.reading.json_rows import json_lines
from annotation.imports.reading.lines import TextFile
from annotation.imports.reading.records import (
    ArticleRecord,
    Entry,
    Rejected,
    SummaryRecord,
    reference_summaries,
)
from annotation.imports.reading.wrong_rows import limited


def joined_articles(
    file: TextFile, wanted: Mapping[str, ArticleRecord], notes: list[str]
) -> Iterator[Entry | Rejected]:
    """Yield the articles of an examples file whose id (article_id, else id) is among `wanted`.

    Fields of `wanted` take precedence over those of the examples file, except the text. Rows on other
    articles are skipped. `notes` gains a remark on wanted articles that the file lacks.
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
        article = read_article(fields, article_id, text_needed=True)
        if article_id in wanted:
            known = asdict(wanted[article_id]) | {"text": ""}
            article = replace(article, **{name: value for name, value in known.items() if value})
        references = read_references(fields, article_id)
        yield fields.entry(article, summaries=references)
    if missing:
        notes.append(
            f"{len(missing):,} of {len(wanted):,} articles are not in {file.name}, for example "
            f"{min(missing)}: they are stored without text."
        )


def read_article(fields: Fields, article_id: str, *, text_needed: bool = False) -> ArticleRecord:
    """Return the article of a row in the layout of examples."""
    text = fields.text("article", needed=text_needed)
    if text_needed and is_blank(text) and "article" in fields.row.values and not fields.problems:
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
    """Return the references of a row in the layout of examples."""
    return reference_summaries(article_id, fields.texts("references", fields.row.values.get("references")))


def named_articles(entries: Iterator[Entry | Rejected]) -> dict[str, ArticleRecord]:
    """Return the articles that a file's own entries name, by id, without their texts.

    Raises TooManyProblems.
    """
    return {
        article.external_id: replace(article, text="")
        for entry in limited(entries, left_out=True)
        if isinstance(entry, Entry)
        if (article := entry.article) is not None
    }
