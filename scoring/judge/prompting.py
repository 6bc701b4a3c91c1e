"""Prompts that show a model rated examples and ask for the score of one more summary."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from scoring.contract import Item, PoolExample
from scoring.judge.asked_marks import AskedMarks
from scoring.judge.dimensions import PROMPTS, SEES, Dimension, single_line
from scoring.judge.markers import Markers


@dataclass(frozen=True)
class Form:
    """One way to ask, by the names of its files: what is asked (if said), one entry, a chat's system line.

    `marks_texts`: what in a text could pass for a part of the prompt is put into square brackets.
    """

    task: str | None
    entry: str
    system: str
    marks_texts: bool


FORMS: Mapping[str, Mapping[str, Form]] = {
    "paper": {
        "decimals": Form(None, "ice_v1.txt", "ice_chat_v1.txt", marks_texts=False),
        "1-5": Form(None, "ice_v1.txt", "ice_chat_1_to_5_v1.txt", marks_texts=False),
        "yes_no": Form(None, "ice_v1.txt", "ice_chat_yes_no_v1.txt", marks_texts=False),
    },
    "described": {
        "decimals": Form(
            "described_task_v1.txt", "described_entry_v1.txt", "described_chat_v1.txt", marks_texts=True
        ),
        "1-5": Form(
            "described_task_1_to_5_v1.txt",
            "described_entry_v1.txt",
            "described_chat_1_to_5_v1.txt",
            marks_texts=True,
        ),
        "yes_no": Form(
            "described_task_yes_no_v1.txt",
            "described_entry_yes_no_v1.txt",
            "described_chat_yes_no_v1.txt",
            marks_texts=True,
        ),
    },
}
"""Name of the form -> name of the marks, as in `asked_marks.MARKS` -> its files."""


_SYSTEM_FOR_JSON = {
    "decimals": "described_chat_json_v1.txt",
    "1-5": "described_chat_json_1_to_5_v1.txt",
    "yes_no": "described_chat_json_yes_no_v1.txt",
}


def form_of(prompt: str, marks: str, examples: int, *, structured: bool) -> Form:
    """The form for these marks; its system line names no examples where there are none, and JSON if wanted.

    Only the form described speaks of JSON.
    """
    form = FORMS[prompt][marks]
    if structured:
        return replace(form, system=_SYSTEM_FOR_JSON[marks])
    if not examples and form.system == "described_chat_v1.txt":
        return replace(form, system="described_chat_no_examples_v1.txt")
    return form


class Prompting:
    """Writes prompts of one form, in these marks; `is_chat` says whether a system line goes before."""

    def __init__(self, form: Form, marks: AskedMarks, *, is_chat: bool) -> None:
        self._form = form
        self._marks = marks
        self._is_chat = is_chat

    @property
    def system(self) -> str:
        """What a chat is told before the prompt; empty for a completion."""
        return _file(self._form.system).strip() if self._is_chat else ""

    @property
    def files(self) -> dict[str, str]:
        """Name -> text of the files of which prompts are made."""
        names = [self._form.task, self._form.entry, self._form.system if self._is_chat else None]
        return {name: _file(name) for name in names if name}

    def prompt(self, dimension: Dimension, examples: Sequence[PoolExample], item: Item | PoolExample) -> str:
        """The text sent: what is asked, the examples with their labels, then `item` up to its score."""
        return self.beginning(dimension, examples) + self.ending(dimension, item)

    def beginning(self, dimension: Dimension, examples: Sequence[PoolExample]) -> str:
        """What is the same in the prompts of all items, so that caches of it serve."""
        entries = [self._entry(dimension, each, self._label(dimension, each)) for each in examples]
        return "".join(f"{part}\n\n" for part in [*self._task(dimension), *entries])

    def ending(self, dimension: Dimension, item: Item | PoolExample) -> str:
        """The entry of `item` up to its score, which follows on the beginning."""
        return self._entry(dimension, item, "").rstrip()

    @property
    def wants_of_labels(self) -> str:
        """What a label must be for its example to be shown, to be added to what an example needs."""
        return " and a label other than 0.5" if self._marks.has_no_middle else ""

    def serves(self, dimension: Dimension, example: PoolExample) -> bool:
        """Whether the example can be shown: with all its texts, and a label that has a mark."""
        has_texts = bool(example.summary.strip()) and dimension.beside(example) is not None
        label = example.labels.get(dimension.name)
        return has_texts and label is not None and self._marks.written(label) is not None

    def _label(self, dimension: Dimension, example: PoolExample) -> str:
        return self._marks.written(example.labels[dimension.name]) or ""

    def _task(self, dimension: Dimension) -> list[str]:
        if self._form.task is None:
            return []
        fields = {"quality": dimension.title.lower(), "description": dimension.description}
        return [_file(self._form.task).strip().format_map(fields)]

    def _entry(self, dimension: Dimension, example: PoolExample | Item, score: str) -> str:
        fields = {
            dimension.sees: self._text(dimension, dimension.beside(example) or ""),
            "summary": self._text(dimension, example.summary),
            "dimension": dimension.title,
            "score": score,
        }
        lines = [
            line
            for line in _file(self._form.entry).splitlines()
            if set(re.findall(r"{(\w+)}", line)) <= fields.keys()
        ]
        return "\n".join(lines).format_map(fields)

    def _text(self, dimension: Dimension, text: str) -> str:
        line = single_line(text)
        return _markers(self._form.entry, dimension.name).bracketed(line) if self._form.marks_texts else line


@cache
def _markers(entry: str, dimension: str) -> Markers:
    """Labels of an entry's lines, and names of dimensions, since prompts of other forms end with these."""
    labels = re.findall(r"^(\w+):", _file(entry), re.MULTILINE)
    names = [name.replace("_", " ") for name in (*SEES, dimension)]
    return Markers([*labels, *names, "article", "rating", "score"])


@cache
def _file(name: str) -> str:
    return (PROMPTS / name).read_text("utf-8")
