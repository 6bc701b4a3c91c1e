"""Shared by the scripts on papers: files as imports read them, agreement, tables beside published ones."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from annotation.imports.reading.importer import open_import
from annotation.imports.reading.records import AnswerRecord, Entry, FileRefused, Problem, Rejected
from metaeval.stats.arrays import Floats
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.rows import Rows
from scoring.contract.evaluator import GENERAL, score_unseen
from scoring.contract.items import Item
from scoring.contract.params import read_params
from scoring.evaluators import load_evaluator

YES_NO = {"yes": 1.0, "no": 0.0, "unsure": math.nan}
NAME, SOURCE, CELL = 26, 12, 9
"""Widths of columns in characters."""


@dataclass(frozen=True)
class RatedSummaries:
    """The summaries of a file. Every array is (summaries,), with nan for none."""

    items: Sequence[Item]
    """Ids are article/system."""
    labels_by_id: Mapping[str, Mapping[str, float]]
    """Dimension -> id -> label."""
    scores_by_id: Mapping[tuple[str, str], Mapping[str, float | None]]
    """Evaluator and dimension -> id -> score."""

    def labels(self, dimension: str) -> Floats:
        """Return the labels: the first rating of each summary. Yes is 1, no 0, and unsure none."""
        return self.column(self.labels_by_id.get(dimension, {}))

    def scores(self, evaluator: str, dimension: str) -> Floats:
        """Return the scores that the file itself has."""
        return self.column(self.scores_by_id.get((evaluator, dimension), {}))

    def column(self, by_id: Mapping[str, float | None]) -> Floats:
        """Return numbers by summary's id as an array."""
        return np.array([by_id.get(item.id) for item in self.items], dtype=float)

    def agreement(self, level: str, coefficient: str, labels: Floats, scores: Floats) -> float:
        """Return a coefficient of `metaeval.stats` at one of its levels; nan where it is undefined."""
        articles = np.unique([str(item.article_id) for item in self.items], return_inverse=True)[1]
        unknown = np.full(len(self.items), -1)
        yes_no = set(labels[~np.isnan(labels)]) <= {0.0, 1.0}
        rows = Rows(labels, scores, articles, unknown, yes_no)
        return LEVELS[level].estimate(COEFFICIENTS[coefficient], rows).value

    def rouge(self, **settings: str) -> Floats:
        """Return the scores of the evaluator `rouge` with these parameters."""
        evaluator_class = load_evaluator("rouge")
        evaluator = evaluator_class(read_params(evaluator_class, settings))
        return np.array([each.values[GENERAL] for each in score_unseen(evaluator, self.items)], dtype=float)


def read_entries(
    format_name: str, path: Path, companion: Path | None = None, **options: object
) -> list[Entry]:
    """Return a file's entries in a format of docs/importing.md. Exits with all problems of an invalid file.

    `companion` is a second file of the format, such as the articles of SEAHORSE.
    """
    try:
        read = list(open_import(format_name, path, companion=companion, options=options).entries())
    except FileRefused as refused:
        raise SystemExit(str(refused)) from None
    problems = [str(problem) for each in read if isinstance(each, Rejected) for problem in each.problems]
    if problems:
        raise SystemExit("\n".join(problems))
    return [each for each in read if isinstance(each, Entry)]


def read_summaries(
    format_name: str, path: Path, companion: Path | None = None, **options: object
) -> RatedSummaries:
    """Return the summaries of a file with their labels and scores. Exits for an invalid file."""
    articles, references, texts = {}, {}, {}
    labels: dict[str, dict[str, float]] = {}
    scores: dict[tuple[str, str], dict[str, float | None]] = {}
    for entry in read_entries(format_name, path, companion, **options):
        if entry.article is not None and entry.article.text:
            articles[entry.article.external_id] = entry.article.text
        for each in entry.summaries:
            if each.to_be_rated:
                texts[each.article_id, each.system] = each.text
            else:
                references.setdefault(each.article_id, []).append(each.text)
        for rating in entry.ratings:
            for dimension, answer in rating.answers.items():
                by_id = labels.setdefault(dimension, {})
                by_id.setdefault(f"{rating.article_id}/{rating.system}", _number(path, answer))
        for score in entry.scores:
            scored = scores.setdefault((score.evaluator, score.dimension), {})
            scored[f"{score.article_id}/{score.system}"] = score.value
    items = [
        Item(
            f"{article}/{system}",
            text,
            article=articles.get(article),
            references=tuple(references.get(article, ())),
            article_id=article,
        )
        for (article, system), text in texts.items()
    ]
    return RatedSummaries(items, labels, scores)


def _number(path: Path, answer: AnswerRecord) -> float:
    try:
        return YES_NO[answer.value] if answer.value in YES_NO else float(answer.value)
    except ValueError:
        expected = "Yes, No, Unsure or a number"
        found = Problem(path.name, answer.line, answer.field, repr(answer.value), expected)
        raise SystemExit(str(found)) from None


def print_table(
    title: str,
    groups: Sequence[str],
    coefficients: Sequence[str],
    rows: Sequence[tuple[str, Sequence[float], str]],
) -> None:
    """Print recomputed values above published ones and the difference.

    `rows` are (name, a value for each group and coefficient, the published ones separated by spaces). A value
    that does not exist is nan, a published one `-`; a row without any value has its published ones alone.
    """
    span = CELL * len(coefficients)
    print(f"\n{title}")
    for heads in (
        [f"{group:{span}}" for group in groups],
        [f"{name:{CELL}}" for _ in groups for name in coefficients],
    ):
        print((" " * (NAME + SOURCE) + "".join(heads)).rstrip())
    for name, values, published in rows:
        printed = published.split()
        lines = [("published", printed)]
        if not np.isnan(values).all():
            pairs = list(zip(values, printed, strict=True))
            lines = [
                ("Touchstone", ["-" if math.isnan(value) else f"{value:.4f}" for value in values]),
                ("published", printed),
                ("difference", [_difference(value, other) for value, other in pairs]),
            ]
        for place, (source, cells) in enumerate(lines):
            shown = "" if place else name
            print(f"{shown:{NAME}}{source:{SOURCE}}{''.join(f'{cell:{CELL}}' for cell in cells)}".rstrip())


def _difference(value: float, published: str) -> str:
    return "-" if math.isnan(value) or published == "-" else f"{value - float(published):+.4f}"
