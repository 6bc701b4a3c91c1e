"""The SummEval release: one summary a line, with the ratings of three experts and five crowd workers.

Source: Fabbri et al. 2021, "SummEval: Re-evaluating Summarization Evaluation" (TACL), section 4; the layout
is that of model_annotations.aligned.paired.jsonl.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from annotation.imports.reading.articles import joined_articles, named_articles
from annotation.imports.reading.fields import MOST_IN_A_LIST, Fields, number_text
from annotation.imports.reading.importer import ARTICLES, Importer
from annotation.imports.reading.json_rows import json_lines
from annotation.imports.reading.options import language_option
from annotation.imports.reading.records import (
    AnswerRecord,
    ArticleRecord,
    Entry,
    RatingRecord,
    Rejected,
    Row,
    SummaryRecord,
    reference_summaries,
)
from annotation.protocol import SUMMEVAL

GROUPS = {"expert_annotations": "expert", "turker_annotations": "crowd"}
DATASETS = {"cnn-test-": "cnn_dailymail", "dm-test-": "cnn_dailymail"}


class SummEvalImporter(Importer):
    name = "summeval"
    title = "SummEval (JSONL)"
    purpose = "Released expert and crowd ratings."
    description = (
        "The released JSONL with id, decoded, expert_annotations, turker_annotations, references, model_id, "
        "and text if it is paired with the articles. The file names no raters: expert-1 is the first expert "
        "listed for each summary, not always the same person."
    )

    @dataclass(frozen=True)
    class Options:
        language: str = language_option()

    options: Options
    json_fields = ("id", "decoded", "model_id", *GROUPS)
    companion = ARTICLES
    answers = SUMMEVAL

    def entries(self) -> Iterator[Entry | Rejected]:
        self.notes = []
        if self.companion_file is not None:
            wanted = named_articles(self._own_entries())
            yield from joined_articles(self.companion_file, wanted, self.notes)
        yield from self._own_entries()

    def _own_entries(self) -> Iterator[Entry | Rejected]:
        for row in json_lines(self.file):
            yield row if isinstance(row, Rejected) else self._entry(row)

    def _entry(self, row: Row) -> Entry | Rejected:
        fields = Fields(row)
        article_id = fields.name("id", "article_id", needed=True)
        system = fields.name("model_id", "system", needed=True)
        known = next((name for prefix, name in DATASETS.items() if article_id.startswith(prefix)), "")
        article = ArticleRecord(
            article_id, dataset=known, split="test" if known else "", text=fields.text("text")
        )
        summary = SummaryRecord(article_id, system, fields.text("decoded", needed=True))
        references = reference_summaries(article_id, fields.texts("references", row.values.get("references")))
        ratings = [
            RatingRecord(article_id, system, f"{group}-{number}", answers, group, complete=True)
            for field, group in GROUPS.items()
            for number, answers in enumerate(_annotations(fields, field), start=1)
        ]
        return fields.entry(article, summaries=(summary, *references), ratings=ratings)


def _annotations(fields: Fields, field: str) -> list[Mapping[str, AnswerRecord]]:
    found = fields.row.values.get(field)
    if not isinstance(found, list) or len(found) > MOST_IN_A_LIST:
        fields.problem(field, found, f"a list of at most {MOST_IN_A_LIST:,} annotations")
        return []
    return [_answers(fields, f"{field}.{number}", each) for number, each in enumerate(found, start=1)]


def _answers(fields: Fields, field: str, found: object) -> Mapping[str, AnswerRecord]:
    answers = {}
    for question, value in fields.check_members(field, found, needed=True).items():
        number = fields.number(f"{field}.{question}", value)
        if number is not None:
            answers[question] = AnswerRecord(number_text(number), "", fields.row.line, f"{field}.{question}")
        elif value is None:
            fields.problem(f"{field}.{question}", value, "a whole number from 1 to 5")
    return answers
