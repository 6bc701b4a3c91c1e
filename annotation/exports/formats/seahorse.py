"""The layout of the SEAHORSE release: one rating a row, tab separated, with CSV quoting.

Source: the files published with Clark et al. 2023, "SEAHORSE: A Multilingual, Multifaceted Dataset for
Summarization Evaluation" (EMNLP).
"""

from collections.abc import Iterator
from dataclasses import dataclass

from annotation.exports.exporter import TSV_FILE, Exporter
from annotation.exports.files import tsv_chunks
from annotation.exports.filters import RatingFilters
from annotation.exports.rated import ExportedRating, exported_ratings
from annotation.protocol import SEAHORSE

HEADER = (
    "gem_id",
    "worker_lang",
    "summary",
    "model",
    *(f"question{number}" for number in range(1, len(SEAHORSE.questions) + 1)),
)
WORKER_LANGUAGES = {"en": "en-US", "es": "es-ES"}
"""The release's names of raters' languages, where they differ from the article's code."""


class SeahorseExporter(Exporter):
    name = "seahorse"
    title = "SEAHORSE (TSV)"
    description = (
        "The released TSV, one row per rating, without raters and comments. Do not open it in a spreadsheet, "
        "which may run texts as formulas."
    )
    ending = "tsv"
    content_type = TSV_FILE
    answers = SEAHORSE

    @dataclass(frozen=True)
    class Options(RatingFilters):
        pass

    options: Options

    def written(self) -> Iterator[bytes]:
        rows = map(_row, exported_ratings(self.project, self.options))
        return tsv_chunks(HEADER, rows, escape_formulas=False)


def _row(rating: ExportedRating) -> list[str]:
    values = rating.values
    return [
        rating.article_id,
        WORKER_LANGUAGES.get(rating.language, rating.language),
        rating.summary,
        rating.system,
        *(values.get(question.key, "").capitalize() for question in SEAHORSE.questions),
    ]
