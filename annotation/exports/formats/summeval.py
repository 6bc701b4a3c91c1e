"""The layout of the SummEval release: one summary a line with the answers of all its raters.

Source: model_annotations.aligned.paired.jsonl, published with Fabbri et al. 2021, "SummEval: Re-evaluating
Summarization Evaluation" (TACL).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from annotation.database.portions import portions
from annotation.exports.articles import ExportedArticle, ExportedSummary, exported_articles
from annotation.exports.exporter import JSON_LINES_FILE, Exporter
from annotation.exports.files import jsonl_chunks
from annotation.exports.filters import RatingFilters
from annotation.exports.rated import ExportedRating, ratings_of_summaries
from annotation.protocol import SUMMEVAL

CROWD = "crowd"
PORTION = 100  # articles whose ratings are read together
Line = dict[str, object]


class SummEvalExporter(Exporter):
    name = "summeval"
    title = "SummEval (JSONL)"
    description = (
        "The released JSONL, one rated summary per line. Raters of the group crowd are turker_annotations, "
        "all others expert_annotations, without names, comments and revisions."
    )
    ending = "jsonl"
    content_type = JSON_LINES_FILE
    answers = SUMMEVAL

    @dataclass(frozen=True)
    class Options(RatingFilters):
        pass

    options: Options

    def written(self) -> Iterator[bytes]:
        articles = exported_articles(self.project, self.options)
        return jsonl_chunks(chain.from_iterable(map(self._lines, portions(articles, PORTION))))

    def _lines(self, articles: list[ExportedArticle]) -> Iterator[Line]:
        ids = [summary.pk for article in articles for summary in article.summaries]
        ratings = ratings_of_summaries(self.project, self.options, ids)
        for article in articles:
            for summary in article.summaries:
                if summary.pk in ratings:
                    yield _line(article, summary, sorted(ratings[summary.pk], key=_in_order))


def _line(article: ExportedArticle, summary: ExportedSummary, ratings: list[ExportedRating]) -> Line:
    text = {"text": article.text} if article.text else {}
    return {
        "id": article.article_id,
        "decoded": summary.text,
        "expert_annotations": [_annotation(each) for each in ratings if each.group != CROWD],
        "turker_annotations": [_annotation(each) for each in ratings if each.group == CROWD],
        "references": article.references,
        "model_id": summary.system,
        **text,
    }


def _annotation(rating: ExportedRating) -> dict[str, int]:
    values = rating.values
    return {
        question.key: int(values[question.key]) for question in SUMMEVAL.questions if question.key in values
    }


def _in_order(rating: ExportedRating) -> tuple[str, int]:
    """Return what sorts expert-2 before expert-10."""
    number = re.search(r"[0-9]+$", rating.rater)
    return (rating.rater[: number.start()], int(number[0])) if number else (rating.rater, 0)
