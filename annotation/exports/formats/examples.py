"""Articles and summaries without ratings: one summary a line, with its article and references."""

from collections.abc import Iterator

from annotation.exports.articles import exported_articles
from annotation.exports.exporter import JSON_LINES_FILE, Exporter
from annotation.exports.files import jsonl_chunks
from annotation.exports.filters import SummaryFilters


class ExamplesExporter(Exporter):
    name = "examples"
    title = "Articles and summaries (JSONL)"
    description = "One summary per line with its article and references, to be scored or imported elsewhere."
    Options = SummaryFilters
    ending = "jsonl"
    content_type = JSON_LINES_FILE

    options: SummaryFilters

    def written(self) -> Iterator[bytes]:
        return jsonl_chunks(self._rows())

    def _rows(self) -> Iterator[dict[str, object]]:
        for article in exported_articles(self.project, self.options):
            for summary in article.summaries:
                yield {
                    "id": f"{article.article_id}/{summary.system}",
                    "article_id": article.article_id,
                    "system": summary.system,
                    "is_reference": summary.is_reference,
                    "summary": summary.text,
                    **article.described,
                    "references": article.references,
                }
