"""Requests as token ids for a causal language model."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from jinja2 import TemplateError

from scoring.contract.evaluator import EvaluatorError
from scoring.contract.requests import Request
from scoring.neural.loading import load_tokenizer
from scoring.neural.tokens import TextTokenizer

Ids = tuple[int, ...]

SYSTEM, PROMPT = "\ue000", "\ue001"
"""Placeholders for the texts while the template is determined."""
A_DAY = "26 Jul 2024"
"""The date given to templates of Llama 3. Today's date would change replies from day to day."""
TAIL = 32
"""Characters before a reply that can affect how its beginning is tokenised."""


@dataclass(frozen=True, slots=True)
class PromptIds:
    """A prompt's ids, and how many of them it shares with other prompts."""

    ids: Ids
    shared: int

    @property
    def beginning(self) -> Ids:
        return self.ids[: self.shared]


@dataclass(frozen=True, slots=True)
class _Frame:
    """The ids that a chat template puts before, between and after the texts."""

    before: str
    between: str
    behind: str
    trims: bool


class CausalPrompts:
    """A folder's tokenizer, with its chat template where `is_chat`.

    Special tokens in a text are read as text. Raises MissingWeights, and EvaluatorError, permanent, for a
    chat without a template.
    """

    def __init__(self, folder: Path, *, is_chat: bool) -> None:
        self._texts = TextTokenizer(folder)
        self._is_chat = is_chat
        self._templates = load_tokenizer(folder, reads_specials=True) if is_chat else None
        if self._templates and not self._templates.chat_template:
            raise EvaluatorError(
                f"The tokenizer in {folder} has no chat template; use this model for completions.",
                permanent=True,
            )
        self._frames: dict[bool, _Frame] = {}
        self._replies: dict[tuple[str, str], Ids] = {}

    @property
    def tokenizer(self) -> Any:
        return self._texts.tokenizer

    def of(self, request: Request) -> PromptIds:
        """Return the ids of the request, of which at least the last is not shared.

        They are those of the whole text; the shared part ends where its own ids would differ. Raises
        EvaluatorError, permanent, for an empty prompt.
        """
        ids = self._ids(request.system, request.prompt, whole=True)
        if not ids:
            raise EvaluatorError("The prompt is empty.", permanent=True)
        part = (
            self._ids(request.system, request.prompt[: request.shared], whole=False) if request.shared else ()
        )
        return PromptIds(ids, min(_common(ids, part), len(ids) - 1))

    def reply(self, request: Request, mark: str) -> Ids:
        """Return the ids of `mark` as a reply, after a space in a completion that has none yet."""
        text, own = request.prompt, mark
        if self._is_chat:
            text = self._frame(request.system).behind
        elif not text[-1:].isspace():
            own = f" {mark}"
        tail = text[-TAIL:]
        if (tail, own) not in self._replies:
            tokenizer = self._templates or self.tokenizer
            before, both = (_plain(tokenizer, each) for each in (tail, tail + own))
            # Where the reply would join the prompt's last token, it is cut into tokens by itself.
            fits = both[: len(before)] == before
            self._replies[tail, own] = both[len(before) :] if fits else _plain(tokenizer, own)
        return self._replies[tail, own]

    def text(self, ids: Sequence[int]) -> str:
        """Return the text of the ids without special ones."""
        return str(
            self.tokenizer.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False)
        )

    def piece(self, token: int) -> str:
        """Return a token's text; empty for ids beyond the tokenizer's vocabulary."""
        return self.pieces[token] if token < len(self.pieces) else ""

    @cached_property
    def pieces(self) -> tuple[str, ...]:
        """Return each id's text; special ones have none."""
        vocabulary = max(self.tokenizer.get_vocab().values()) + 1
        return tuple(
            self.tokenizer.batch_decode(
                [[each] for each in range(vocabulary)],
                skip_special_tokens=True,
                clean_up_tokenization_spaces=False,
            )
        )

    def _ids(self, system: str, prompt: str, *, whole: bool) -> Ids:
        if not self._is_chat:
            return (*self._texts.opening, *self._texts.as_text(_plain(self.tokenizer, prompt)))
        frame = self._frame(system)
        texts = [text.strip() if frame.trims else text for text in (system, prompt)]
        behind = frame.behind if whole else ""
        if self._specials.search("".join(texts)):
            return self._apart([frame.before, frame.between, behind], texts)
        return _plain(self._templates, frame.before + texts[0] + frame.between + texts[1] + behind)

    def _apart(self, frames: Sequence[str], texts: Sequence[str]) -> Ids:
        """Return ids in which special tokens of the template count as such, those in the texts as text."""
        pieces = [""]
        for frame, text in zip(frames, (*texts, ""), strict=True):
            first, *others = self._specials.split(frame)
            pieces[-1] += first
            pieces += others
            pieces[-1] += text
        ids: list[int] = []
        for index, piece in enumerate(pieces):
            special = index % 2
            ids += [self.tokenizer.convert_tokens_to_ids(piece)] if special else _plain(self.tokenizer, piece)
        return tuple(ids)

    @cached_property
    def _specials(self) -> re.Pattern[str]:
        added = [each.content for each in self.tokenizer.added_tokens_decoder.values() if each.special]
        return re.compile("(" + "|".join(map(re.escape, sorted(added, key=len, reverse=True))) + ")")

    def _frame(self, system: str) -> _Frame:
        key = bool(system)
        if key not in self._frames:
            self._frames[key] = self._found_out(key)
        return self._frames[key]

    def _found_out(self, has_system: bool) -> _Frame:
        rendered = self._filled(SYSTEM if has_system else "", PROMPT)
        between, _, behind = rendered.partition(PROMPT)
        before = ""
        if has_system:
            before, _, between = between.partition(SYSTEM)
        if rendered != before + (SYSTEM if has_system else "") + between + PROMPT + behind:
            raise EvaluatorError(
                "This model's chat template changes the texts; use the model for completions.", permanent=True
            )
        trims = f" {PROMPT} " not in self._filled("", f" {PROMPT} ")
        return _Frame(before, between, behind, trims)

    def _filled(self, system: str, prompt: str) -> str:
        said = [{"role": "system", "content": system}] if system else []
        try:
            return self._rendered([*said, {"role": "user", "content": prompt}])
        except TemplateError:  # some know no system: what it would say stands before the prompt then
            return self._rendered([{"role": "user", "content": f"{system}\n\n{prompt}"}])

    def _rendered(self, messages: list[dict[str, str]]) -> str:
        assert self._templates is not None
        return str(
            self._templates.apply_chat_template(
                messages, tokenize=False, add_generation_prompt=True, date_string=A_DAY
            )
        )


def _plain(tokenizer: Any, text: str) -> Ids:
    return tuple(tokenizer(text, add_special_tokens=False)["input_ids"])


def _common(first: Ids, second: Ids) -> int:
    """Return how many ids both begin with."""
    return next(
        (place for place, (one, other) in enumerate(zip(first, second, strict=False)) if one != other),
        min(len(first), len(second)),
    )
