"""Each token of a text matched with the nearest token of another, as BERTScore does."""

from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from math import log, nan
from pathlib import Path

import torch
from torch.nn.functional import normalize

from scoring.neural.device import device
from scoring.neural.encoder import Encoder
from scoring.neural.tokens import chunks

Pair = tuple[str, tuple[str, ...]]
"""A summary and the texts it is matched with."""

ROUND = 32_768
"""Tokens whose vectors are held together, unless one group of texts alone has more."""
PRODUCT = 2**23
"""Similarities computed together, unless one summary alone has more."""
REMEMBERED_BYTES = 2**28
"""Of vectors of the texts that summaries were matched with last: they come again with other summaries."""


@dataclass(frozen=True, slots=True)
class Matched:
    """Precision and recall of a summary with each text, nan where no token counts, and the shares read."""

    precisions: tuple[float, ...]
    recalls: tuple[float, ...]
    summary_read: float
    texts_read: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class _Read:
    """A text as the encoder reads it: one or more sequences of ids, special ones included."""

    sequences: tuple[tuple[int, ...], ...]
    share: float
    is_empty: bool
    """Whether special ids are all there is."""

    def __len__(self) -> int:
        return sum(map(len, self.sequences))


@dataclass(frozen=True, slots=True)
class _Vectors:
    """A text's token vectors [tokens, dimensions] of length 1, and weights [tokens] of sum 1 or all nan."""

    directions: torch.Tensor
    weights: torch.Tensor


class GreedyMatching:
    """Matches tokens of summaries with tokens of other texts by the cosine of their vectors in one layer.

    All tokens can be matched, special ones too. Until `weigh_by_rarity` is called each weighs 1, but the
    special ones 0.
    """

    def __init__(
        self,
        folder: Path,
        layer: int,
        precision: str = "float32",
        *,
        spaced: bool = True,
        parts: bool = False,
    ) -> None:
        """`spaced`: where a space before a word belongs to it, the first word gets one like all others.

        `parts`: other texts that exceed the encoder's limit are read in equal parts and not cut, as
        summaries always are.
        """
        self._encoder = Encoder(folder, precision, depth=layer)
        self._layer = layer
        self._before = " " if spaced and self._encoder.tokens.heeds_spaces else ""
        self._parts = parts
        self._weight_by_id = torch.ones(self._encoder.model.config.vocab_size)
        tokenizer = self._encoder.tokens.tokenizer
        for special in {tokenizer.cls_token_id, tokenizer.sep_token_id} - {None}:
            self._weight_by_id[special] = 0
        self._remembered: OrderedDict[_Read, _Vectors] = OrderedDict()
        self._remembered_bytes = 0

    def weigh_by_rarity(self, texts: Iterable[str]) -> None:
        """Let a token weigh ln((N + 1) / (n + 1)), where n of these N texts have it. Call before `of`."""
        counts: Counter[int] = Counter()
        total = 0
        remaining = iter(texts)
        while some := list(islice(remaining, 1024)):
            total += len(some)
            for read in self._read(some, parts=self._parts):
                counts.update({each for ids in read.sequences for each in ids})
        self._weight_by_id.fill_(log(total + 1))
        for each, count in counts.items():
            self._weight_by_id[each] = log((total + 1) / (count + 1))

    @torch.inference_mode()
    def of(self, pairs: Sequence[Pair]) -> list[Matched | None]:
        """What each pair has in common; None where one of its texts ran out of memory."""
        summaries = self._read([summary for summary, _ in pairs], parts=False)
        others = iter(self._read([text for _, texts in pairs for text in texts], parts=self._parts))
        groups: dict[tuple[_Read, ...], list[int]] = {}
        for index, (_, texts) in enumerate(pairs):
            groups.setdefault(tuple(next(others) for _ in texts), []).append(index)
        results: list[Matched | None] = [None] * len(pairs)
        for some in _rounds(groups, summaries):
            targets = {read for group in some for read in group}
            known = self._vectors(targets | {summaries[index] for group in some for index in groups[group]})
            for group in some:
                found = _matched([summaries[index] for index in groups[group]], group, known)
                for index, matched in zip(groups[group], found, strict=True):
                    results[index] = matched
            self._remember({read: known[read] for read in targets})
        return results

    def _read(self, texts: Sequence[str], *, parts: bool) -> list[_Read]:
        tokens, limit = self._encoder.tokens, self._encoder.limit
        room = limit - len(tokens.opening) - len(tokens.closing)
        found = []
        for pieces in tokens.pieces([self._before + text.strip() for text in texts]):
            inner = chunks(pieces, room) if parts else [pieces]
            whole = [tokens.between(tokens.opening, each, tokens.closing, limit) for each in inner]
            share = 1.0 if parts else whole[0].share_read
            found.append(_Read(tuple(each.ids for each in whole), share, not pieces))
        return found

    def _vectors(self, reads: Iterable[_Read]) -> dict[_Read, _Vectors | None]:
        found: dict[_Read, _Vectors | None] = {read: self._remembered.get(read) for read in reads}
        new = [read for read, vectors in found.items() if vectors is None]
        states = iter(self._encoder.states([ids for read in new for ids in read.sequences], [self._layer]))
        for read in new:
            whole = [each[0].float() for _ in read.sequences if (each := next(states)) is not None]
            if len(whole) == len(read.sequences):
                weights = torch.cat([self._weight_by_id[list(ids)] for ids in read.sequences]).to(device())
                # Nothing is near to a text without tokens: nan makes precision and recall undefined.
                directions = normalize(torch.cat(whole), dim=-1) * (nan if read.is_empty else 1)
                found[read] = _Vectors(directions, weights / weights.sum())
        return found

    def _remember(self, found: dict[_Read, _Vectors | None]) -> None:
        for read, vectors in found.items():
            if vectors is None:
                continue
            if read not in self._remembered:
                self._remembered_bytes += vectors.directions.nbytes
            self._remembered[read] = vectors
            self._remembered.move_to_end(read)
        while self._remembered_bytes > REMEMBERED_BYTES:
            self._remembered_bytes -= self._remembered.popitem(last=False)[1].directions.nbytes


def _rounds(
    groups: dict[tuple[_Read, ...], list[int]], summaries: Sequence[_Read]
) -> Iterator[list[tuple[_Read, ...]]]:
    """The groups, as many at a time as `ROUND` allows."""
    some: list[tuple[_Read, ...]] = []
    tokens = 0
    for texts, indices in groups.items():
        size = sum(map(len, texts)) + sum(len(summaries[index]) for index in indices)
        if some and tokens + size > ROUND:
            yield some
            some, tokens = [], 0
        some.append(texts)
        tokens += size
    if some:
        yield some


def _matched(
    summaries: Sequence[_Read], texts: Sequence[_Read], known: dict[_Read, _Vectors | None]
) -> list[Matched | None]:
    """Each summary with each of the texts: one product of all their tokens, then maxima of its parts."""
    if any(known[text] is None for text in texts):
        return [None] * len(summaries)
    if len(summaries) > 1 and sum(map(len, summaries)) * sum(map(len, texts)) > PRODUCT:
        half = len(summaries) // 2
        return _matched(summaries[:half], texts, known) + _matched(summaries[half:], texts, known)
    rows = [vectors for summary in summaries if (vectors := known[summary]) is not None]
    columns = [vectors for text in texts if (vectors := known[text]) is not None]
    precisions, recalls = map(iter, _precisions_and_recalls(rows, columns) if rows else ([], []))
    shares = tuple(text.share for text in texts)
    return [
        None
        if known[summary] is None
        else Matched(tuple(next(precisions)), tuple(next(recalls)), summary.share, shares)
        for summary in summaries
    ]


def _precisions_and_recalls(
    rows: Sequence[_Vectors], columns: Sequence[_Vectors]
) -> tuple[list[list[float]], list[list[float]]]:
    """Both [rows, columns]."""
    row_lengths = [len(each.weights) for each in rows]
    column_lengths = [len(each.weights) for each in columns]
    similarity = (
        torch.cat([each.directions for each in rows]) @ torch.cat([each.directions for each in columns]).T
    )
    nearest_column = torch.stack(
        [part.amax(dim=1) for part in similarity.split(column_lengths, dim=1)], dim=1
    )
    nearest_row = torch.stack([part.amax(dim=0) for part in similarity.split(row_lengths)])
    weighted_rows = nearest_column * torch.cat([each.weights for each in rows])[:, None]
    weighted_columns = nearest_row * torch.cat([each.weights for each in columns])
    precisions = torch.stack([part.sum(dim=0) for part in weighted_rows.split(row_lengths)])
    recalls = torch.stack([part.sum(dim=1) for part in weighted_columns.split(column_lengths, dim=1)], dim=1)
    return precisions.tolist(), recalls.tolist()
