"""The export of a dataset: ratings in the layout of Hugging Face datasets, with their card."""

from collections.abc import Iterator
from dataclasses import dataclass

from annotation.declared.settings import setting
from annotation.exports.exporter import Exporter
from annotation.exports.files import jsonl_chunks, utc
from annotation.exports.filters import RatingFilters, articles_option
from annotation.exports.rated import ExportedRating, exported_ratings
from annotation.exports.zip_stream import zip_chunks
from annotation.models import Project
from annotation.models.projects import LICENCE_PATTERN
from annotation.protocol import Question, ScaleKind
from metaeval.dataset_card.layout import data_file, split_name, splits_of

Row = dict[str, object]


class DatasetExporter(Exporter):
    name = "dataset"
    title = "Dataset with card (ZIP)"
    description = (
        "A folder that Hugging Face's datasets loads: JSONL files by split, one rating per row, and a card "
        "with features, counts, agreement and known limits."
    )
    ending = "zip"
    content_type = "application/zip"

    @dataclass(frozen=True)
    class Options(RatingFilters):
        licence: str = setting(
            "",
            label="Licence",
            help="Licence of the ratings as Hugging Face writes it, such as cc-by-4.0.",
            pattern=f"{LICENCE_PATTERN}|",
            expected="an identifier such as cc-by-4.0",
        )
        articles: bool = articles_option()
        comments: bool = setting(
            False, label="Comments", help="Include raters' comments, to be read before you publish."
        )

    options: Options

    @classmethod
    def project_options(cls, project: Project) -> dict[str, object]:
        return {"licence": project.licence} if project.licence else {}

    @classmethod
    def warning(cls, project: Project) -> str:
        if project.licence:
            return ""
        return (
            "This project has no licence. Unless you enter one below, the card says that nobody can know how "
            "they may use the ratings."
        )

    def written(self) -> Iterator[bytes]:
        return zip_chunks(self._files())

    def _files(self) -> Iterator[tuple[str, Iterator[bytes]]]:
        from metaeval.dataset_card.card import dataset_card

        card = dataset_card(
            self.project,
            self.options,
            licence=self.options.licence,
            articles=self.options.articles,
            comments=self.options.comments,
        )
        yield "README.md", iter([card.encode()])
        for split in splits_of(self.project, self.options):
            yield data_file(split), jsonl_chunks(self._rows(split))

    def _rows(self, split: str) -> Iterator[Row]:
        questions = self.project.questionnaire.protocol.questions
        options = self.options
        for rating in exported_ratings(self.project, options, split=split, articles=options.articles):
            values, comments = rating.values, rating.comments
            row: Row = {
                "article_id": rating.article_id,
                "language": rating.language,
                "dataset": rating.dataset,
                "split": split_name(rating.split),
                "system": rating.system,
                "is_reference": rating.is_reference,
                "summary": rating.summary,
                "rater": rating.rater,
                "group": rating.group,
                "is_imported": rating.is_imported,
                "rated_at": utc(rating.rated_at),
                "answers": {each.key: _value(each, values.get(each.key)) for each in questions},
            }
            yield row | self._optional(rating, comments, questions)

    def _optional(
        self, rating: ExportedRating, comments: dict[str, str], questions: tuple[Question, ...]
    ) -> Row:
        found: Row = {}
        if self.options.comments:
            found["comments"] = {each.key: comments.get(each.key) for each in questions}
        if self.options.articles:
            found["article"] = rating.article
        return found


def _value(question: Question, value: str | None) -> str | int | float | None:
    """Return an answer in the type of its feature; None if the question was not answered."""
    if value is None or question.scale.kind == ScaleKind.NOMINAL:
        return value
    return int(value) if question.scale.kind == ScaleKind.ORDINAL else float(value)
