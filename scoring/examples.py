"""Examples and scores as JSONL files."""

import difflib
import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from annotation.protocol import LARGEST_NUMBER
from scoring.contract import Item, Scored

SPLITS = ("train", "validation", "test")


@dataclass(frozen=True)
class Example:
    """One line of an examples file. `labels` are on the file's own scale."""

    item: Item
    system: str | None = None
    dataset: str | None = None
    split: str | None = None
    labels: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Fault:
    """Something wrong in a file: where, what was found and what is expected."""

    path: str
    line: int
    field: str
    found: str
    expected: str

    def __str__(self) -> str:
        return f"{self.path}, line {self.line}, {self.field}: found {self.found}, expected {self.expected}"


class FaultyFile(ValueError):
    """The file was refused whole; `faults` has all that is wrong with it."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("\n".join(map(str, faults)))
        self.faults = tuple(faults)


def read_examples(path: Path | str) -> list[Example]:
    """All examples of a JSONL file; the fields are in the design contract, section 4.

    An example without article_id is given a digest of its article, so that summaries of one article are known
    to belong together. Fields that are not known are ignored, unless they look like a misspelt one.
    Raises FaultyFile with every fault found; OSError where the file cannot be read.
    """
    faults: list[Fault] = []
    examples: list[Example] = []
    lines_by_id: dict[str, int] = {}
    for number, line in enumerate(Path(path).read_bytes().splitlines(), start=1):
        if not line.strip():
            continue
        row = _Row(str(path), number, faults)
        example = row.read(line)
        if example is None:
            continue
        first = lines_by_id.setdefault(example.item.id, number)
        if first != number:
            row.fault("id", example.item.id, f"an id of its own: line {first} has this one")
        examples.append(example)
    if not examples and not faults:
        faults.append(Fault(str(path), 1, "file", "no line", "one JSON object a line"))
    if faults:
        raise FaultyFile(faults)
    return examples


def write_scores(path: Path | str, rows: Iterable[tuple[str, Scored]]) -> None:
    """A scores file: (id, scored) in the order given. It appears whole or not at all."""
    target = Path(path)
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.unfinished")
    try:
        with unfinished.open("w", encoding="utf-8") as file:
            for identifier, scored in rows:
                file.write(json.dumps(scores_as_json(identifier, scored), ensure_ascii=False) + "\n")
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def scores_as_json(identifier: str, scored: Scored) -> dict[str, Any]:
    """One line of a scores file: null where there is no score, and the reason beside."""
    row: dict[str, Any] = {
        "id": identifier,
        "scores": {name: None if math.isnan(value) else value for name, value in scored.values.items()},
    }
    if scored.reasons:
        row["reasons"] = dict(scored.reasons)
    if scored.shares_read:
        row["shares_read"] = dict(scored.shares_read)
    return row


class _Row:
    """One line while it is read; what is wrong with it goes to the list of faults."""

    TEXTS = ("id", "article", "summary", "system", "article_id", "language", "dataset", "split")
    SENTENCES = ("article_sentences", "summary_sentences", "reference_sentences")
    LISTS = ("references", *SENTENCES, "questions", "answers")
    FIELDS = (*TEXTS, *LISTS, "labels", "scores")

    def __init__(self, path: str, line: int, faults: list[Fault]) -> None:
        self._path, self._line, self._faults = path, line, faults
        self._found: dict[str, Any] = {}

    def fault(self, name: str, found: Any, expected: str) -> None:
        shown = found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
        shown = shown if len(shown) <= 60 else shown[:57] + "..."
        self._faults.append(Fault(self._path, self._line, name, shown, expected))

    def read(self, line: bytes) -> Example | None:
        """The example, or None where the line has a fault."""
        before = len(self._faults)
        if not self._parse(line):
            return None
        self._refuse_misspelt_fields()
        texts = {name: self._text(name) for name in self.TEXTS}
        lists = {name: self._list(name) for name in self.LISTS}
        labels = self._numbers("labels", self._found.get("labels"), "label")
        scores = self._scores()
        if len(lists["questions"] or ()) != len(lists["answers"] or ()):
            found = f"{len(lists['answers'] or ())} answers for {len(lists['questions'] or ())} questions"
            self.fault("answers", found, "one answer for each question")
        if texts["split"] not in (None, *SPLITS):
            self.fault("split", texts["split"], "one of " + ", ".join(SPLITS))
        if len(self._faults) > before:
            return None
        article = texts["article"]
        item = Item(
            id=texts["id"] or "",
            summary=texts["summary"] or "",
            language=texts["language"],
            article=article,
            references=lists["references"] or (),
            article_id=texts["article_id"] or (_digest(article) if article else None),
            article_sentences=lists["article_sentences"],
            summary_sentences=lists["summary_sentences"],
            reference_sentences=lists["reference_sentences"],
            questions=lists["questions"],
            answers=lists["answers"],
            scores=scores,
        )
        return Example(item, texts["system"], texts["dataset"], texts["split"], labels)

    def _parse(self, line: bytes) -> bool:
        try:
            found = json.loads(line.decode("utf-8-sig"), parse_constant=_refuse_constant)
        except UnicodeDecodeError as error:
            self.fault("line", f"byte {error.object[error.start]:#04x}", "UTF-8")
            return False
        except ValueError as error:
            self.fault("line", str(error), "one JSON object")
            return False
        if not isinstance(found, dict):
            self.fault("line", found, "one JSON object")
            return False
        self._found = found
        return True

    def _refuse_misspelt_fields(self) -> None:
        absent = [name for name in self.FIELDS if name not in self._found]
        for name in self._found.keys() - set(self.FIELDS):
            for near in difflib.get_close_matches(name, absent, n=1, cutoff=0.85):
                self.fault(name, "a field of this name", f"the field {near}")

    def _text(self, name: str) -> str | None:
        found = self._found.get(name)
        if isinstance(found, str) and (found or name != "id"):
            return found
        if name in ("id", "summary"):
            self.fault(name, "nothing" if name not in self._found else found, "a text")
        elif found is not None:
            self.fault(name, found, "a text")
        return None

    def _list(self, name: str) -> tuple[str, ...] | None:
        found = self._found.get(name)
        if found is None:
            return None
        if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
            self.fault(name, found, "a list of texts")
            return None
        return tuple(found)

    def _scores(self) -> dict[str, dict[str, float]]:
        found = self._found.get("scores")
        if found is None:
            return {}
        if not isinstance(found, dict):
            self.fault("scores", found, "an object with the scores of each evaluator")
            return {}
        return {name: self._numbers(f"scores.{name}", scores, "score") for name, scores in found.items()}

    def _numbers(self, name: str, found: Any, kind: str) -> dict[str, float]:
        """Dimension -> number, which is a label or a score."""
        if found is None:
            return {}
        if not isinstance(found, dict):
            self.fault(name, found, "an object with a number for each dimension")
            return {}
        numbers = {}
        for dimension, number in found.items():
            is_number = isinstance(number, int | float) and not isinstance(number, bool)
            if not is_number or not abs(number) <= LARGEST_NUMBER:
                bounds = f"{-LARGEST_NUMBER:g} to {LARGEST_NUMBER:g}"
                expected = f"a number from {bounds}; leave out what has no {kind}"
                self.fault(f"{name}.{dimension}", number, expected)
            else:
                numbers[dimension] = float(number)
        return numbers


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _digest(article: str) -> str:
    return "sha256:" + sha256(" ".join(article.split()).encode()).hexdigest()
