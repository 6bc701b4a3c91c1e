"""Examples and scores as JSONL files."""

import difflib
import json
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from annotation.exports.gzipped import open_for_writing
from annotation.imports.reading.fields import SPLITS, Fields
from annotation.imports.reading.json_rows import json_lines
from annotation.imports.reading.lines import TextFile, half_a_pair
from annotation.imports.reading.records import FileRefused, Problem, Rejected, Row
from annotation.imports.reading.wrong_rows import MOST_PROBLEMS
from annotation.texts.text_digests import article_digest
from scoring.contract.items import Item
from scoring.contract.scores import Scored


@dataclass(frozen=True)
class Example:
    """One line of an examples file, with `labels` on the file's own scale."""

    item: Item
    system: str | None = None
    dataset: str | None = None
    split: str | None = None
    labels: Mapping[str, float] = field(default_factory=dict)


def read_examples(path: Path | str) -> list[Example]:
    """Return all examples of a JSONL file; the fields are in the design contract, section 4.

    An example without article_id gets a digest of its article, so that summaries of one article belong
    together. Unknown fields are ignored unless they look like a misspelt one. Raises FileRefused with every
    fault, up to MOST_PROBLEMS.
    """
    faults: list[Problem] = []
    examples: list[Example] = []
    lines_by_id: dict[str, int] = {}
    for row in json_lines(TextFile(Path(path), str(path))):
        if len(faults) > MOST_PROBLEMS:
            found = f"more than {MOST_PROBLEMS:,} problems"
            faults[MOST_PROBLEMS:] = [Problem(row.file, row.line, "file", found, "fewer; reading stopped")]
            break
        if isinstance(row, Rejected):
            faults += row.problems
            continue
        fields = _ExampleFields(row)
        example = fields.example()
        if not fields.problems:
            first = lines_by_id.setdefault(example.item.id, row.line)
            if first != row.line:
                fields.problem("id", example.item.id, f"an id of its own: line {first} has this one")
        faults += fields.problems
        examples.append(example)
    if faults:
        raise FileRefused(faults)
    return examples


def unit_labels(example: Example, label_scale: tuple[float, float]) -> dict[str, float]:
    """Return the example's labels, scaled from `label_scale` (lowest, highest) to [0, 1].

    Raises ValueError for a label outside of the scale, and for a scale without extent.
    """
    low, high = label_scale
    if not low < high:
        raise ValueError(f"label scale: found {low} to {high}, expected the lowest label before the highest")
    for dimension, label in example.labels.items():
        if not low <= label <= high:
            raise ValueError(
                f"example {example.item.id!r}, label {dimension!r}: found {label:g}, expected a number on "
                f"the label scale, {low:g} to {high:g}; or set another label scale"
            )
    return {dimension: (label - low) / (high - low) for dimension, label in example.labels.items()}


def write_scores(path: Path | str, rows: Iterable[tuple[str, Scored]]) -> None:
    """Write (id, scored) rows to a scores file, which appears complete or not at all; gzip if .gz."""
    target = Path(path)
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.unfinished")
    try:
        with open_for_writing(unfinished, target.name) as file:
            for identifier, scored in rows:
                line = json.dumps(scores_as_json(identifier, scored), ensure_ascii=False)
                file.write(f"{line}\n".encode())
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def scores_as_json(identifier: str, scored: Scored) -> dict[str, Any]:
    """Return one line of a scores file: null for missing scores, with their reasons."""
    row: dict[str, Any] = {
        "id": identifier,
        "scores": {name: None if math.isnan(value) else value for name, value in scored.values.items()},
    }
    if scored.reasons:
        row["reasons"] = dict(scored.reasons)
    if scored.shares_read:
        row["shares_read"] = dict(scored.shares_read)
    return row


class _ExampleFields(Fields):
    """The fields of one example."""

    TEXTS = ("id", "article", "summary", "system", "article_id", "language", "dataset", "split")
    SENTENCES = ("article_sentences", "summary_sentences", "reference_sentences")
    LISTS = ("references", *SENTENCES, "questions", "answers")
    FIELDS = (*TEXTS, *LISTS, "labels", "scores")

    def __init__(self, row: Row) -> None:
        super().__init__(replace(row, storable=True))  # no database has to hold the texts

    def example(self) -> Example:
        """Return the example, and note the problems of the row."""
        self._refuse_misspelt_fields()
        self._refuse_half_pairs()
        texts = {name: self._text(name) for name in self.TEXTS}
        lists = {name: self._list(name) for name in self.LISTS}
        if not texts["id"] and not self.is_wrong("id"):
            self.problem("id", texts["id"], "a text")
        if len(lists["questions"] or ()) != len(lists["answers"] or ()):
            found = f"{len(lists['answers'] or ())} answers for {len(lists['questions'] or ())} questions"
            self._note("answers", found, "one answer for each question")
        if texts["split"] not in (None, *SPLITS):
            self.problem("split", texts["split"], "one of " + ", ".join(SPLITS))
        article = texts["article"]
        item = Item(
            id=texts["id"] or "",
            summary=texts["summary"] or "",
            language=texts["language"],
            article=article,
            references=lists["references"] or (),
            article_id=texts["article_id"]
            or (article_digest(article) if article and not self.is_wrong("article") else None),
            article_sentences=lists["article_sentences"],
            summary_sentences=lists["summary_sentences"],
            reference_sentences=lists["reference_sentences"],
            questions=lists["questions"],
            answers=lists["answers"],
            scores={
                name: self._numbers(f"scores.{name}", scores, "score")
                for name, scores in self.members("scores").items()
            },
        )
        labels = self._numbers("labels", self.row.values.get("labels"), "label")
        return Example(item, texts["system"], texts["dataset"], texts["split"], labels)

    def _refuse_misspelt_fields(self) -> None:
        absent = [name for name in self.FIELDS if name not in self.row.values]
        for name in self.row.values.keys() - set(self.FIELDS):
            for near in difflib.get_close_matches(name, absent, n=1, cutoff=0.85):
                self._note(name, "a field of this name", f"the field {near}")

    def _refuse_half_pairs(self) -> None:
        """Note halves of surrogate pairs in texts and names, which no tokenizer and no file takes."""
        for name in self.FIELDS:
            if found := half_a_pair(json.dumps(self.row.values.get(name), ensure_ascii=False)):
                self._note(name, found, "whole characters")

    def _note(self, name: str, found: str, expected: str) -> None:
        self.problems.append(Problem(self.row.file, self.row.line, name, found, expected))

    def _text(self, name: str) -> str | None:
        text = self.text(name, needed=name in ("id", "summary"))
        return None if self.row.values.get(name) is None else text

    def _list(self, name: str) -> tuple[str, ...] | None:
        found = self.row.values.get(name)
        if found is None:
            return None
        if not isinstance(found, list):
            self.problem(name, found, "a list of texts")
            return None
        return tuple(self.check_text(f"{name}.{place}", each) for place, each in enumerate(found, start=1))

    def _numbers(self, name: str, found: object, kind: str) -> dict[str, float]:
        """Return dimension -> number, a label or a score."""
        numbers = {}
        for dimension, value in self.check_members(name, found).items():
            number = self.number(f"{name}.{dimension}", value)
            if number is not None:
                numbers[dimension] = number
            elif value is None:
                self.problem(f"{name}.{dimension}", None, f"a number; leave out what has no {kind}")
        return numbers
