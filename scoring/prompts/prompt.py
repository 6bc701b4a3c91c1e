"""Prompts with rated examples that ask for the score of one more summary.

Text that imitates parts of a prompt inside judged texts is made harmless.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from annotation.imports.reading.blank_texts import is_blank
from scoring.contract.items import Item, PoolExample
from scoring.prompts.dimensions import PROMPTS, SEES, Dimension, single_line
from scoring.prompts.marks import MarkMenu

ROLES = ("system", "developer", "user", "human", "assistant", "instruction", "instructions", "response")
"""Roles in conversations, as plain prompts write them before a colon."""

_LEFT_OUT = ("Cc", "Cf", "Mn", "Me")
"""Categories of characters that leave a word readable: invisible ones and accents."""


class PromptMarkers:
    """Finds marks by which a model could mistake a part of a text for a part of the prompt.

    These are labels with a colon (`Score:`), headings (`###`) and tokens of chat formats (`<|im_start|>`,
    `</s>`, `[INST]`), also in capitals, with wide letters, invisible characters, accents, or a few other
    characters before the colon.
    """

    def __init__(self, labels: Iterable[str]) -> None:
        """Compile the marks for the prompt's own `labels` and the roles of conversations."""
        names = {r"[\s_]*".join(map(re.escape, _plain(label).split())) for label in (*labels, *ROLES)}
        named = "|".join(sorted(names - {""}, key=len, reverse=True))
        self._marks = re.compile(
            rf"(?:{named})(?P<colons>(?:(?:[^\w:=∶]|[\d_]){{0,16}}[:=∶])+)"
            r"|\#{2,}"
            r"|<(?=\S)"
            r"|\[(?=/?(?:inst|sys|user|assistant|tool|available_tools)\w*\])"
        )

    def bracketed(self, text: str) -> str:
        """Return `text` with square brackets around the character that makes a mark: `Score[:] 1.00`."""
        plain, origins = _plain_with_origins(text)
        marks = set()
        for found in self._marks.finditer(plain):
            start, end = found.span("colons") if found["colons"] else found.span()
            marks |= {origins[place] for place in range(start, end) if plain[place] in ":=∶#<["}
        return "".join(f"[{each}]" if place in marks else each for place, each in enumerate(text))


def _plain(text: str) -> str:
    return "".join(map(_plain_character, text))


def _plain_with_origins(text: str) -> tuple[str, list[int] | range]:
    """Return the text as readers see it, and each character's position in `text`."""
    if text.isascii() and text.isprintable():
        return text.lower(), range(len(text))
    plain: list[str] = []
    origins: list[int] = []
    for place, character in enumerate(text):
        for each in _plain_character(character):
            plain.append(each)
            origins.append(place)
    return "".join(plain), origins


@cache
def _plain_character(character: str) -> str:
    decomposed = unicodedata.normalize("NFKD", character).casefold()
    return "".join(each for each in decomposed if unicodedata.category(each) not in _LEFT_OUT)


@dataclass(frozen=True)
class PromptForm:
    """The files of one form of prompt: the task (if any), one entry, and a chat's system message.

    `marks_texts`: parts of a text that imitate the prompt are put into square brackets.
    """

    task: str | None
    entry: str
    system: str
    marks_texts: bool


_SUFFIXES = {"decimals": "", "1-5": "_1_to_5", "yes_no": "_yes_no"}
"""Name of the marks, as in `MARKS` -> part of the names of its files."""


def form_of(prompt: str, marks: str, examples: int, *, structured: bool) -> PromptForm:
    """Return the form, "paper" or "described", for these marks.

    The described system message mentions no examples if there are none. Only that form supports JSON
    (`structured`).
    """
    suffix = _SUFFIXES[marks]
    if prompt == "paper":
        return PromptForm(None, "ice_v1.txt", f"ice_chat{suffix}_v1.txt", marks_texts=False)
    system = f"_json{suffix}" if structured else suffix
    if not examples and not system:
        system = "_no_examples"
    entry = f"described_entry{suffix if marks == 'yes_no' else ''}_v1.txt"
    return PromptForm(
        f"described_task{suffix}_v1.txt", entry, f"described_chat{system}_v1.txt", marks_texts=True
    )


class Prompting:
    """Writes prompts of one form with these marks; chats also have a system message."""

    def __init__(self, form: PromptForm, marks: MarkMenu, *, is_chat: bool) -> None:
        self._form = form
        self._marks = marks
        self._is_chat = is_chat

    @property
    def system(self) -> str:
        """The system message of a chat; empty for a completion."""
        return _file(self._form.system).strip() if self._is_chat else ""

    @property
    def files(self) -> dict[str, str]:
        """Name -> text of the files that make up prompts."""
        names = [self._form.task, self._form.entry, self._form.system if self._is_chat else None]
        return {name: _file(name) for name in names if name}

    def prompt(self, dimension: Dimension, examples: Sequence[PoolExample], item: Item | PoolExample) -> str:
        """Return the text sent: the task, the examples with their labels, then `item` up to its score."""
        return self.beginning(dimension, examples) + self.ending(dimension, item)

    def beginning(self, dimension: Dimension, examples: Sequence[PoolExample]) -> str:
        """Return the part that the prompts of all items share, for prompt caches."""
        entries = [self._entry(dimension, each, self._label(dimension, each)) for each in examples]
        return "".join(f"{part}\n\n" for part in [*self._task(dimension), *entries])

    def ending(self, dimension: Dimension, item: Item | PoolExample) -> str:
        """Return the entry of `item` up to its score, which follows the beginning."""
        return self._entry(dimension, item, "").rstrip()

    @property
    def wants_of_labels(self) -> str:
        """The condition on labels of examples, to append to a message."""
        return " and a label other than 0.5" if self._marks.has_no_middle else ""

    def serves(self, dimension: Dimension, example: PoolExample) -> bool:
        """Return whether the example can be shown: all its texts exist, and its label has a mark."""
        has_texts = not is_blank(example.summary) and dimension.beside(example) is not None
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
def _markers(entry: str, dimension: str) -> PromptMarkers:
    """Return markers for the entry's labels and for names of dimensions, with which other forms end."""
    labels = re.findall(r"^(\w+):", _file(entry), re.MULTILINE)
    names = [name.replace("_", " ") for name in (*SEES, dimension)]
    return PromptMarkers([*labels, *names, "article", "rating", "score"])


@cache
def _file(name: str) -> str:
    return (PROMPTS / name).read_text("utf-8")
