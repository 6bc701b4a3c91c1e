"""Decisions on answers about which raters disagree, with their history."""

from collections.abc import Iterator, Sequence

from annotation.exports.exporter import CSV_FILE, Exporter
from annotation.exports.files import csv_chunks, utc
from annotation.exports.filters import SummaryFilters
from annotation.models import Adjudication

HEADER = (
    "article_id",
    "system",
    "language",
    "dataset",
    "question",
    "value",
    "note",
    "adjudicator",
    "decided_at",
    "ended_at",
)


class AdjudicationsExporter(Exporter):
    name = "adjudications"
    title = "Adjudications (CSV)"
    description = (
        "One decision per row, oldest first, with its note. Changed and withdrawn decisions have an end. "
        "Adjudicators are numbered; no file names them."
    )
    Options = SummaryFilters
    ending = "csv"
    content_type = CSV_FILE

    options: SummaryFilters

    def written(self) -> Iterator[bytes]:
        return csv_chunks(HEADER, self._rows())

    def _rows(self) -> Iterator[Sequence[object]]:
        of_project = Adjudication.objects.filter(summary__project=self.project)
        numbers = Adjudication.objects.adjudicators(self.project)
        chosen = of_project.filter(self.options.summaries("summary__")).order_by("pk")
        rows = chosen.select_related("summary__article", "summary__system", "question")
        for each in rows.defer("summary__text", "summary__article__text").iterator(chunk_size=500):
            article = each.summary.article
            yield (
                article.external_id,
                each.summary.system.name,
                article.language,
                article.dataset,
                each.question.key,
                each.value,
                each.note,
                f"adjudicator-{numbers[each.decided_by_id]}",
                utc(each.decided_at),
                utc(each.ended_at) if each.ended_at else "",
            )
