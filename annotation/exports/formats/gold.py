"""The gold set: its summaries with the agreed and explained answers."""

from collections.abc import Iterator

from annotation.exports.exporter import JSON_LINES_FILE, Exporter
from annotation.exports.files import jsonl_chunks
from annotation.exports.filters import SummaryFilters
from annotation.models import GoldRating


class GoldExporter(Exporter):
    name = "gold"
    title = "Gold set (JSONL)"
    description = (
        "One gold summary per line with its article and the explained answers, retired ones included. Raters "
        "must not see it: it has the answers of their rounds."
    )
    Options = SummaryFilters
    ending = "jsonl"
    content_type = JSON_LINES_FILE

    options: SummaryFilters

    def written(self) -> Iterator[bytes]:
        return jsonl_chunks(self._rows())

    def _rows(self) -> Iterator[dict[str, object]]:
        chosen = GoldRating.objects.filter(self.options.summaries("summary__"), summary__project=self.project)
        gold_set = (
            chosen.select_related("summary__article", "summary__system")
            .prefetch_related("answers__question")
            .order_by("summary")
        )
        for gold in gold_set.iterator(chunk_size=200):
            article, system = gold.summary.article, gold.summary.system
            yield {
                "article_id": article.external_id,
                "system": system.name,
                "is_reference": system.is_reference,
                "is_retired": gold.retired_at is not None,
                "language": article.language,
                "dataset": article.dataset,
                "split": article.split,
                "title": article.title,
                "article": article.text,
                "summary": gold.summary.text,
                "answers": {
                    answer.question.key: {"value": answer.value, "explanation": answer.explanation}
                    for answer in gold.answers.all()
                },
            }
