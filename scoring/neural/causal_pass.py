"""Causal language models that read a common beginning once, and its continuations in batches."""

import copy
import inspect
import math
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import torch
from transformers import AutoModelForCausalLM, DynamicCache
from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

from scoring.neural.batching import in_batches
from scoring.neural.device import device, tokens_per_batch
from scoring.neural.finiteness import ModelWatch
from scoring.neural.likeliest import likeliest
from scoring.neural.loading import load_model
from scoring.neural.prefix_tree import PrefixTrees
from scoring.weights.model_files import MissingWeights

Ids = tuple[int, ...]
Result = TypeVar("Result")

KEPT_BEGINNINGS = 8
"""Beginnings whose keys and values are kept; an evaluator has one per dimension."""
CACHE_BYTES = 2**32
"""The most bytes of keys and values in a batch, and of all kept beginnings."""
OWN_WINDOWS = ("gpt_neo",)
"""Kinds whose attention window counts padding, although their caches do not say so."""


@dataclass
class Read:
    """Rows that a model has read: a common beginning, then each its own continuation."""

    rows: list[Ids]
    """All ids of each row, the beginning included."""
    mask: torch.Tensor
    """[rows, slots]: 1 where a token stands, 0 where padding does."""
    logits: torch.Tensor
    """[rows, last tokens asked for, vocabulary], float32."""
    cache: Any


class CausalPass:
    """A folder's causal language model. Raises MissingWeights where there is none.

    If its keys and values cannot be split into tokens (as in state space models), or it takes no positions,
    results are the same but nothing is shared: everything is read again for each written token.
    """

    def __init__(self, folder: Path, precision: str = "float32") -> None:
        self._model = load_model(folder, AutoModelForCausalLM, precision)
        self._watched = ModelWatch(self._model)
        self._options = inspect.signature(self._model.forward).parameters.keys()
        self._refuse_reading_ahead(folder)
        config = self._model.config.get_text_config()
        self.limit: int | None = getattr(config, "max_position_embeddings", None)
        """The longest input in tokens, reply included, if the configuration states one."""
        ends = self._model.generation_config.eos_token_id
        self.ends: frozenset[int] = frozenset([ends] if isinstance(ends, int) else ends or ())
        """Ids that end a reply."""
        layers = self._trial()
        self.shares = bool(layers) and all(
            type(each) in (DynamicLayer, DynamicSlidingWindowLayer) for each in layers
        )
        """True if the keys and values of a beginning serve every row that has it."""
        held = [each for each in layers if self.shares and each.is_initialized]
        self._bytes_per_token = sum(each.keys.nbytes + each.values.nbytes for each in held)
        self._window = min(
            (each.sliding_window for each in held if isinstance(each, DynamicSlidingWindowLayer)),
            default=math.inf,
        )
        self._beginnings: OrderedDict[Ids, Any] = OrderedDict()

    @torch.inference_mode()
    def each(
        self,
        beginning: Ids,
        rows: Sequence[Ids],
        further: int,
        compute: Callable[[list[int], Read], Iterable[Result]],
    ) -> list[Result | None]:
        """Return what `compute` makes of rows that all begin with `beginning`; in order.

        It is given indices and what was read of these rows, and returns one result for each; up to `further`
        tokens a row may follow. None for what exceeds the memory even alone.
        """
        kept = beginning if self.shares else ()
        longest = max(map(len, rows), default=0) + further
        results: list[Result | None] = [None] * len(rows)
        for part in self._alike(rows, longest):
            for index, result in zip(part, self._part(kept, rows, part, further, compute), strict=True):
                results[index] = result
        return results

    def _part(
        self,
        kept: Ids,
        rows: Sequence[Ids],
        part: Sequence[int],
        further: int,
        compute: Callable[[list[int], Read], Iterable[Result]],
    ) -> list[Result | None]:
        """Return the same for those rows of which some may share a batch."""

        def of_batch(places: list[int]) -> Iterable[Result]:
            batch = [part[place] for place in places]
            return compute(batch, self.read(kept, [rows[index] for index in batch]))

        lengths = [len(rows[index]) + further for index in part]
        return in_batches([self._cost(length - len(kept), length) for length in lengths], of_batch)

    def read(self, beginning: Ids, rows: Sequence[Ids], last: int = 1) -> Read:
        """Read the rows and return the logits after their last tokens; equal rows are computed once."""
        past = len(beginning)
        distinct = {row: place for place, row in enumerate(dict.fromkeys(rows))}
        own = [row[past:] for row in distinct]
        width = max(map(len, own))
        ids = torch.tensor([(0,) * (width - len(each)) + each for each in own], device=device())
        starts = torch.tensor([width - len(each) for each in own], device=device())[:, None]
        places = torch.arange(width, device=device())[None] - starts
        mask = torch.cat([places.new_ones(len(own), past), (places >= 0).long()], dim=1)
        cache = self._spread(self._beginning(beginning), len(own)) if beginning else None
        logits, cache = self._forward(ids, mask, places.clamp(min=0) + past, cache, last)
        if len(distinct) < len(rows):
            chosen = torch.tensor([distinct[row] for row in rows], device=device())
            mask, logits = mask[chosen], logits[chosen]
            if self.shares:
                cache.batch_select_indices(chosen)
        return Read(list(rows), mask, logits, cache)

    def go_on(self, read: Read, tokens: Sequence[int]) -> None:
        """Read one more token of each row."""
        read.rows = [(*row, token) for row, token in zip(read.rows, tokens, strict=True)]
        read.mask = torch.cat([read.mask, read.mask.new_ones(len(tokens), 1)], dim=1)
        if not self.shares:
            read.logits = self.read((), read.rows).logits
            return
        ids = torch.tensor(tokens, device=device())[:, None]
        places = read.mask.sum(dim=1, keepdim=True) - 1
        read.logits, read.cache = self._forward(ids, read.mask, places, read.cache)

    def log_probabilities(self, read: Read, replies: Sequence[Ids], ends: Sequence[int]) -> torch.Tensor:
        """Return the natural log-probability [rows, replies] of each reply followed by any of `ends`.

        What replies have in common at their beginnings is computed once, all in one pass behind the rows.
        """
        tree = PrefixTrees([replies])
        if not self._may_pad(read.mask.shape[1] + len(tree.tokens)):
            return self._one_by_one(read, replies, ends)
        depths = torch.tensor(tree.positions, device=device())
        ids = torch.tensor(tree.tokens, device=device()).expand(len(read.rows), -1)
        places = read.mask.sum(dim=1, keepdim=True) + depths
        hidden = self._hidden(read.mask, tree)
        behind, _ = self._forward(ids, hidden, places, self._spread(read.cache), len(depths))
        logs = torch.cat([read.logits[:, -1:], behind], dim=1)
        logs = logs - logs.logsumexp(dim=-1, keepdim=True)
        found = []
        for path, reply in zip(tree.paths, replies, strict=True):
            steps = [0, *(node + 1 for node in path)]
            written = logs[:, steps[:-1], list(reply)].sum(dim=1)
            found.append(written + logs[:, steps[-1], list(ends)].logsumexp(dim=-1))
        return torch.stack(found, dim=1)

    def _hidden(self, mask: torch.Tensor, tree: PrefixTrees) -> torch.Tensor:
        """Return a mask added to attention: each node sees its row and its own path.

        Its shape is [rows, 1, nodes, slots + nodes].
        """
        count, slots = mask.shape
        nodes = len(tree.tokens)
        seen = torch.zeros(count, 1, nodes, slots + nodes, dtype=torch.bool, device=device())
        seen[..., :slots] = mask.bool()[:, None, None]
        for path in tree.paths:
            for step, node in enumerate(path):
                seen[..., node, [slots + each for each in path[: step + 1]]] = True
        dtype = self._model.dtype
        nothing = torch.zeros((), dtype=dtype, device=device())
        return torch.where(seen, nothing, torch.finfo(dtype).min)

    def _one_by_one(self, read: Read, replies: Sequence[Ids], ends: Sequence[int]) -> torch.Tensor:
        """Return the same for models without custom masks: each reply behind whole rows."""
        found = []
        for reply in replies:
            whole = self.read((), [(*row, *reply) for row in read.rows], last=len(reply) + 1)
            logs = whole.logits - whole.logits.logsumexp(dim=-1, keepdim=True)
            written = logs[:, range(len(reply)), list(reply)].sum(dim=1)
            found.append(written + logs[:, -1, list(ends)].logsumexp(dim=-1))
        return torch.stack(found, dim=1)

    def _forward(
        self, ids: torch.Tensor, mask: torch.Tensor, places: torch.Tensor, cache: Any, last: int = 1
    ) -> tuple[torch.Tensor, Any]:
        """Return logits [rows, last, vocabulary] in float32, and the keys and values so far."""
        options = {
            "position_ids": places,
            "past_key_values": cache,
            "use_cache": self.shares,
            "logits_to_keep": last,
        }
        known = {name: value for name, value in options.items() if name in self._options}
        own = mask[:, -ids.shape[1] :] if mask.ndim == 2 else torch.ones_like(ids)
        out, marks = self._watched.run(own, lambda: self._model(input_ids=ids, attention_mask=mask, **known))
        return out.logits[:, -last:].float() + marks[:, None, None], out.get("past_key_values")

    @torch.inference_mode()
    def _refuse_reading_ahead(self, folder: Path) -> None:
        """Raise MissingWeights for an encoder, such as BERT, whose logits depend on later tokens, or NaN."""
        ids = torch.tensor([[1, 2], [1, 3]], device=device())
        out, marks = self._watched.run(torch.ones_like(ids), lambda: self._model(input_ids=ids))
        first, other = out.logits[:, 0]
        if not first.isfinite().all() or not marks.isfinite().all():
            raise MissingWeights(f"The model in {folder} gives no finite numbers. Are its files damaged?")
        if not torch.allclose(first, other, atol=1e-2):
            raise MissingWeights(
                f"The model in {folder} reads ahead, so it is no causal language model and cannot reply."
            )

    @torch.inference_mode()
    def _trial(self) -> Sequence[Any]:
        """Return the layers of the model's cache of one token; none if it keeps no keys and values."""
        takes_positions = {"position_ids", "past_key_values"} <= self._options
        if not takes_positions or self._model.config.model_type in OWN_WINDOWS:
            return ()
        out = self._model(input_ids=torch.zeros(1, 1, dtype=torch.long, device=device()), use_cache=True)
        cache = out.get("past_key_values")
        return cache.layers if isinstance(cache, DynamicCache) else ()

    def _beginning(self, ids: Ids) -> Any:
        """Return the keys and values of a beginning. Raises NotFinite."""
        if ids not in self._beginnings:
            whole = torch.tensor([ids], device=device())
            places = torch.arange(len(ids), device=device())[None]
            logits, cache = self._forward(whole, torch.ones_like(whole), places, None)
            likeliest(logits)  # an overflow in the beginning concerns whatever follows it
            self._beginnings[ids] = cache
            while len(self._beginnings) > 1 and self._keeps_too_much():
                self._beginnings.popitem(last=False)
        self._beginnings.move_to_end(ids)
        return self._beginnings[ids]

    def _keeps_too_much(self) -> bool:
        size = sum(map(len, self._beginnings)) * self._bytes_per_token
        return len(self._beginnings) > KEPT_BEGINNINGS or size > CACHE_BYTES

    @staticmethod
    def _spread(cache: Any, rows: int = -1) -> Any:
        """Return a copy of the cache, expanded to `rows` rows; additions do not change the original."""
        spread = copy.copy(cache)
        spread.layers = [copy.copy(each) for each in cache.layers]
        for each in spread.layers:
            if each.is_initialized:
                each.keys = each.keys.expand(rows, -1, -1, -1)
                each.values = each.values.expand(rows, -1, -1, -1)
        return spread

    def _may_pad(self, slots: int) -> bool:
        """Return whether padding has no effect: a sliding window counts padding, too."""
        return self.shares and slots < self._window

    def _alike(self, rows: Sequence[Ids], longest: int) -> list[list[int]]:
        """Return groups of indices of rows that may share a batch."""
        lengths = [0 if self._may_pad(longest) else len(row) for row in rows]
        return [
            [index for index, each in enumerate(lengths) if each == length] for length in sorted(set(lengths))
        ]

    def _cost(self, computed: int, held: int) -> int:
        """Return the cost of a row in tokens; keys and values count by their share of CACHE_BYTES."""
        share = held * self._bytes_per_token / CACHE_BYTES
        return max(computed, math.ceil(share * tokens_per_batch()))
