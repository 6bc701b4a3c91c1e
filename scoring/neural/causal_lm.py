"""A causal language model on this machine, with the interface of a hosted one."""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from weakref import WeakValueDictionary

import torch

from scoring.contract.evaluator import EvaluatorError
from scoring.contract.requests import TOO_LONG, Address, Reply, Request, Usage, Wanted
from scoring.contract.scores import NOT_FINITE, OUT_OF_MEMORY, isolate_not_finite
from scoring.neural.causal_pass import CausalPass, Ids, Read
from scoring.neural.causal_prompts import CausalPrompts, PromptIds
from scoring.neural.likeliest import likeliest
from scoring.prompts.marks import Unread
from scoring.weights.model_files import digest

_Compute = Callable[[list[Request], Read], Iterable[Reply]]
_HERE = Address("", "", "", "")
_loaded: WeakValueDictionary[tuple[Path, str, str], CausalPass] = WeakValueDictionary()
"""Loaded models by folder, hash and precision, so that runs of one experiment share one."""


class LocalModel:
    """A folder's causal language model; a chat uses the template of its tokenizer.

    Equal requests have equal replies, to rounding, whatever else is sent: samples depend on the request
    alone. A completion ends with its line. A beginning that requests share is read once, and kept. Raises
    MissingWeights on first use.
    """

    def __init__(self, folder: Path, precision: str = "float32", *, is_chat: bool) -> None:
        self._folder = folder
        self._precision = precision
        self._is_chat = is_chat

    @cached_property
    def _model(self) -> CausalPass:
        key = (self._folder, digest(self._folder), self._precision)
        model = _loaded.get(key)
        if model is None:
            model = _loaded[key] = CausalPass(self._folder, self._precision)
        return model

    @cached_property
    def _prompts(self) -> CausalPrompts:
        return CausalPrompts(self._folder, is_chat=self._is_chat)

    def replies(self, requests: Sequence[Request]) -> list[Reply]:
        """Return one reply per request, in order.

        A reply's `problem` is TOO_LONG if prompt and reply exceed the model's limit, OUT_OF_MEMORY, or
        NOT_FINITE. With FIRST_TOKEN and LIKELIHOOD its text is the likeliest first token or mark. Raises
        EvaluatorError, permanent, for what no local model does or this one's vocabulary lacks.
        """
        found: dict[Request, Reply] = {}
        groups: dict[tuple[object, ...], list[tuple[Request, PromptIds]]] = {}
        for request in dict.fromkeys(requests):
            if request.schema:
                raise EvaluatorError("Local models do not support JSON schemas.", permanent=True)
            prompt = self._prompts.of(request)
            if self._model.limit and len(prompt.ids) + self._further(request) > self._model.limit:
                found[request] = Reply("", TOO_LONG)
                continue
            kind = (request.wanted, request.marks, self._marks(request), prompt.beginning)
            groups.setdefault(kind, []).append((request, prompt))
        for group in groups.values():
            replies = isolate_not_finite(group, self._of_group, Reply("", NOT_FINITE))
            found |= zip((request for request, _ in group), replies, strict=True)
        return [found[request] for request in requests]

    def _of_group(self, group: Sequence[tuple[Request, PromptIds]]) -> list[Reply]:
        """Return replies to requests that may be read together. Raises NotFinite."""
        asked = [request for request, _ in group]
        compute: _Compute = {
            Wanted.TEXT: self._written,
            Wanted.FIRST_TOKEN: self._first_tokens,
            Wanted.LIKELIHOOD: self._likelihoods,
        }[asked[0].wanted]
        replies = self._model.each(
            group[0][1].beginning,
            [prompt.ids for _, prompt in group],
            max(map(self._further, asked)),
            lambda batch, read: compute([asked[index] for index in batch], read),
        )
        return [Reply("", OUT_OF_MEMORY) if reply is None else reply for reply in replies]

    def _written(self, requests: Sequence[Request], read: Read) -> list[Reply]:
        prompts = [len(row) for row in read.rows]
        draws = [_Draws(request) for request in requests]
        written: list[list[int]] = [[] for _ in requests]
        problems: dict[int, str | None] = {}
        while True:
            greedy = likeliest(read.logits[:, -1])[1].tolist()
            chosen = [
                draw.of(read.logits[row, -1]) if draw.request.temperature else greedy[row]
                for row, draw in enumerate(draws)
            ]
            for row, request in enumerate(requests):
                if row in problems:
                    continue
                written[row].append(chosen[row])
                if self._ends_with(chosen[row]):
                    problems[row] = None
                elif len(written[row]) == request.max_tokens:
                    problems[row] = Unread.TRUNCATED
            if len(problems) == len(requests):
                break
            self._model.go_on(read, chosen)
        return [
            Reply(self._text(ids), problems[row], usage=Usage(prompts[row], len(ids)))
            for row, ids in enumerate(written)
        ]

    def _first_tokens(self, requests: Sequence[Request], read: Read) -> list[Reply]:
        variants = self._variants(requests[0].marks)
        probabilities = read.logits[:, -1].softmax(dim=-1)
        _, tokens = likeliest(probabilities)
        return [
            Reply(
                self._prompts.piece(token),
                probabilities={mark: row[ids].sum().item() for mark, ids in variants.items()},
                usage=Usage(len(ids), 1),
            )
            for token, row, ids in zip(tokens.tolist(), probabilities, read.rows, strict=True)
        ]

    def _likelihoods(self, requests: Sequence[Request], read: Read) -> list[Reply]:
        marks = requests[0].marks
        logs = self._model.log_probabilities(read, self._marks(requests[0]), self._ends)
        found = logs.double().exp()
        return [
            Reply(
                marks[place],
                probabilities=dict(zip(marks, row, strict=True)),
                usage=Usage(len(ids), 0),
            )
            for place, row, ids in zip(likeliest(found)[1].tolist(), found.tolist(), read.rows, strict=True)
        ]

    def _marks(self, request: Request) -> tuple[Ids, ...]:
        """Return the ids of the request's marks as replies."""
        found = tuple(self._prompts.reply(request, mark) for mark in request.marks)
        if request.wanted == Wanted.FIRST_TOKEN:
            lengths = {mark: len(ids) for mark, ids in zip(request.marks, found, strict=True)}
            # Of "Yes", "yes" and "YES" the first is the mark, and a model may lack the others.
            first = {mark.casefold(): mark for mark in reversed(request.marks)}
            several = [mark for mark in first.values() if lengths[mark] != 1]
            if several:
                raise EvaluatorError(
                    f"{several[0]!r} is not a single token for the model in {self._folder}, so its "
                    "probability as the first token is unknown; use the mode candidates.",
                    permanent=True,
                )
        return found

    def _further(self, request: Request) -> int:
        """Return how many tokens may be read after the prompt."""
        if request.wanted == Wanted.TEXT:
            return request.max_tokens
        return sum(map(len, self._marks(request))) if request.wanted == Wanted.LIKELIHOOD else 1

    def _variants(self, marks: Sequence[str]) -> dict[str, list[int]]:
        """Return mark -> all tokens that mean it, with and without a space."""
        found: dict[str, list[int]] = {mark: [] for mark in marks}
        for token, piece in enumerate(self._prompts.pieces):
            if piece.strip() in found:
                found[piece.strip()].append(token)
        return found

    def _text(self, ids: Sequence[int]) -> str:
        text = self._prompts.text([each for each in ids if each not in self._stops])
        return text if self._is_chat else text.partition("\n")[0]

    def _ends_with(self, token: int) -> bool:
        return token in self._stops or (not self._is_chat and "\n" in self._prompts.piece(token))

    @cached_property
    def _stops(self) -> frozenset[int]:
        """Return the tokens that end a reply."""
        return self._model.ends | ({self._prompts.tokenizer.eos_token_id} - {None})

    @cached_property
    def _ends(self) -> list[int]:
        """Return the tokens that end a reply without adding to it."""
        lines = [] if self._is_chat else [i for i, p in enumerate(self._prompts.pieces) if p.startswith("\n")]
        return sorted(self._stops.union(lines))


class _Draws:
    """Samples tokens for one request, from the whole distribution at its temperature."""

    def __init__(self, request: Request) -> None:
        self.request = request
        seed = int(request.digest(_HERE)[:15], 16)
        self._generator = torch.Generator().manual_seed(seed)

    def of(self, logits: torch.Tensor) -> int:
        """Return a token by inverse transform sampling, so that rounding changes hardly any sample."""
        shares = (logits.double().cpu() / self.request.temperature).softmax(dim=-1).cumsum(dim=-1)
        drawn = torch.rand(1, dtype=torch.float64, generator=self._generator)
        return int(torch.searchsorted(shares, drawn * shares[-1], right=True).clamp(max=len(shares) - 1))
