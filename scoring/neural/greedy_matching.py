"""Greedy matching of each token with the nearest token of another text, as in BERTScore."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from math import nan
from pathlib import Path

import torch
from torch.nn.functional import normalize

from scoring.neural.batching import cut
from scoring.neural.device import device
from scoring.neural.encoder import Encoder
from scoring.neural.rarity import weights_by_rarity

TextGroup = tuple[str, tuple[str, ...]]
"""A summary and the texts it is compared with."""

ROUND = 32_768
"""The most tokens whose vectors are held together, unless one group alone has more."""
PRODUCT = 2**23
"""The most similarities computed together, unless one summary alone has more."""
REMEMBERED_BYTES = 2**28
"""Bytes of vectors kept of recently compared texts, which return with other summaries."""


@dataclass(frozen=True, slots=True)
class Matched:
    """Precision and recall with each text, nan where no token counts, and the shares read."""

    precisions: tuple[float, ...]
    recalls: tuple[float, ...]
    summary_read: float
    texts_read: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class _ReadText:
    """A text as the encoder reads it: sequences of ids with special ones."""

    sequences: tuple[tuple[int, ...], ...]
    share: float
    is_empty: bool
    """True if the text has no ids of its own."""

    def __len__(self) -> int:
        return sum(map(len, self.sequences))


@dataclass(frozen=True, slots=True)
class _Vectors:
    """A text's unit vectors [tokens, dimensions], and weights [tokens] of sum 1 or all nan."""

    directions: torch.Tensor
    weights: torch.Tensor


class GreedyMatching:
    """Matches tokens of summaries with tokens of other texts by the cosine of their vectors in one layer.

    Special tokens can be matched, but weigh 0. Until `weigh_by_rarity` is called, all others weigh 1.
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
        """Load the encoder up to `layer`.

        With `spaced`, if the tokenizer includes spaces in words, the first word gets a space like all others.
        With `parts`, other texts beyond the encoder's limit are read in equal parts instead of being cut;
        summaries are always cut.
        """
        self._encoder = Encoder(folder, precision, depth=layer)
        self._layer = layer
        self._before = " " if spaced and self._encoder.tokens.heeds_spaces else ""
        self._parts = parts
        self._weight_by_id = torch.ones(self._encoder.model.config.vocab_size)
        tokenizer = self._encoder.tokens.tokenizer
        for special in {tokenizer.cls_token_id, tokenizer.sep_token_id} - {None}:
            self._weight_by_id[special] = 0
        self._remembered: OrderedDict[_ReadText, _Vectors] = OrderedDict()
        self._remembered_bytes = 0

    def weigh_by_rarity(self, texts: Iterable[str]) -> None:
        """Weigh a token ln((N + 1) / (n + 1)), where n of these N texts have it. Call before `of`."""

        def ids_of(some: list[str]) -> Iterator[Iterable[int]]:
            return (chain.from_iterable(read.sequences) for read in self._read(some, parts=self._parts))

        weights = weights_by_rarity(texts, ids_of, len(self._weight_by_id))
        self._weight_by_id = torch.from_numpy(weights).float()

    @torch.inference_mode()
    def of(self, pairs: Sequence[TextGroup]) -> list[Matched | None]:
        """Return how each pair matches; None if one of its texts ran out of memory."""
        summaries = self._read([summary for summary, _ in pairs], parts=False)
        others = iter(self._read([text for _, texts in pairs for text in texts], parts=self._parts))
        groups: dict[tuple[_ReadText, ...], list[int]] = {}
        for index, (_, texts) in enumerate(pairs):
            groups.setdefault(tuple(next(others) for _ in texts), []).append(index)
        results: list[Matched | None] = [None] * len(pairs)

        def size(group: tuple[_ReadText, ...]) -> int:
            return sum(map(len, group)) + sum(len(summaries[index]) for index in groups[group])

        for some in cut(groups, lambda some, group: sum(map(size, (*some, group))) <= ROUND):
            targets = {read for group in some for read in group}
            known = self._vectors(targets | {summaries[index] for group in some for index in groups[group]})
            for group in some:
                found = _matched([summaries[index] for index in groups[group]], group, known)
                for index, matched in zip(groups[group], found, strict=True):
                    results[index] = matched
            self._remember({read: known[read] for read in targets})
        return results

    def _read(self, texts: Sequence[str], *, parts: bool) -> list[_ReadText]:
        spaced = [self._before + text.strip() for text in texts]
        tokens = self._encoder.tokens
        return [
            _ReadText(tuple(each.ids for each in whole), whole[0].share_read, not pieces)
            for whole, pieces in zip(
                tokens.read(spaced, self._encoder.limit, in_parts=parts), tokens.pieces(spaced), strict=True
            )
        ]

    def _vectors(self, reads: Iterable[_ReadText]) -> dict[_ReadText, _Vectors | None]:
        found: dict[_ReadText, _Vectors | None] = {read: self._remembered.get(read) for read in reads}
        new = [read for read, vectors in found.items() if vectors is None]
        states = iter(self._encoder.states([ids for read in new for ids in read.sequences], [self._layer]))
        for read in new:
            whole = [each[0].float() for _ in read.sequences if (each := next(states)) is not None]
            if len(whole) == len(read.sequences):
                weights = torch.cat([self._weight_by_id[list(ids)] for ids in read.sequences]).to(device())
                # For a text without tokens, precision and recall are undefined: nan.
                directions = normalize(torch.cat(whole), dim=-1) * (nan if read.is_empty else 1)
                found[read] = _Vectors(directions, weights / weights.sum())
        return found

    def _remember(self, found: dict[_ReadText, _Vectors | None]) -> None:
        for read, vectors in found.items():
            if vectors is None:
                continue
            if read not in self._remembered:
                self._remembered_bytes += vectors.directions.nbytes
            self._remembered[read] = vectors
            self._remembered.move_to_end(read)
        while self._remembered_bytes > REMEMBERED_BYTES:
            self._remembered_bytes -= self._remembered.popitem(last=False)[1].directions.nbytes


def _matched(
    summaries: Sequence[_ReadText], texts: Sequence[_ReadText], known: dict[_ReadText, _Vectors | None]
) -> list[Matched | None]:
    """Return how each summary matches the texts: one product of all tokens, then maxima of its parts."""
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
    """Return precisions and recalls, each [rows, columns]."""
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
