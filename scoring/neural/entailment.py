"""What a classifier of text pairs says of premises and hypotheses."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path

import torch
import transformers

from scoring.neural.batching import in_batches, padded
from scoring.neural.encoder import input_limit
from scoring.neural.loading import load_model
from scoring.neural.tokens import TextTokenizer, chunks
from scoring.weights import MissingWeights

ENTAILMENT = "entailment"
CONTRADICTION = "contradiction"


@dataclass(frozen=True, slots=True)
class Pair:
    """The ids and token types of one input, and how many ids of each text are among them."""

    ids: tuple[int, ...]
    types: tuple[int, ...]
    premise_read: int
    hypothesis_read: int


@dataclass(frozen=True, slots=True)
class Grid:
    """Every hypothesis with every premise, a row of pairs for each hypothesis; what share of both is read."""

    rows: tuple[tuple[Pair, ...], ...]
    premises_share: float
    hypotheses_share: float


class PairClassifier:
    """A folder's encoder with a head that tells premises that entail a hypothesis from others.

    Raises MissingWeights where none of the model's labels is named entailment, whatever the case of its
    letters (models differ in the order of labels), or none contradiction where that is asked for.
    """

    def __init__(self, folder: Path, precision: str, max_length: int, *, contradiction: bool) -> None:
        self.tokens = TextTokenizer(folder)
        self._model = load_model(folder, transformers.AutoModelForSequenceClassification, precision)
        labels = self._model.config.id2label or {}
        names = {str(name).strip().lower(): int(index) for index, name in labels.items()}
        for needed in (ENTAILMENT, CONTRADICTION) if contradiction else (ENTAILMENT,):
            if needed not in names:
                raise MissingWeights(
                    f"The model in {folder} has the labels {', '.join(names)}, and none is named {needed}."
                )
        self._entailment = names[ENTAILMENT]
        self._contradiction = names.get(CONTRADICTION)
        self._read_template()
        limit = min(max_length, input_limit(self._model.config, self.tokens))
        self._limit = limit
        self.room = limit - len(self._opening) - len(self._middle) - len(self._closing)
        """How many ids of the two texts together fit into one input."""

    def grid(self, premises: Sequence[str], hypotheses: Sequence[str], *, in_parts: bool) -> Grid:
        """All pairs of texts; a premise that does not fit is cut or, with `in_parts`, in several pairs.

        An empty hypothesis is none, as with the library: the premise is then a sequence of its own.
        """
        befores, afters = self.tokens.pieces(premises), self.tokens.pieces(hypotheses)
        paired = self._parts if in_parts else self._cut
        rows = tuple(
            tuple(
                pair
                for before in befores
                for pair in (paired(before, after) if text else self._alone(before, in_parts))
            )
            for text, after in zip(hypotheses, afters, strict=True)
        )
        return Grid(
            rows,
            min(_share((pair.premise_read for pair in row), befores) for row in rows),
            _share((min(pair.hypothesis_read for pair in row) for row in rows), afters),
        )

    @torch.inference_mode()
    def probabilities(self, pairs: Sequence[Pair]) -> list[tuple[float, float] | None]:
        """For each pair the probabilities of entailment and of contradiction, the latter 0 where the model
        has no such label; None for a pair that ran out of memory. Each distinct input is computed once.
        """
        inputs = [(pair.ids, pair.types) for pair in pairs]
        distinct = list(dict.fromkeys(inputs))
        found = in_batches(
            [len(ids) for ids, _ in distinct],
            lambda batch: self._probabilities([distinct[index] for index in batch]),
        )
        by_input = dict(zip(distinct, found, strict=True))
        return [by_input[each] for each in inputs]

    def _probabilities(
        self, inputs: Sequence[tuple[tuple[int, ...], tuple[int, ...]]]
    ) -> list[tuple[float, float]]:
        ids, mask = padded([each for each, _ in inputs], self.tokens.padding)
        types = {"token_type_ids": padded([each for _, each in inputs], 0)[0]} if self._has_types else {}
        logits = self._model(input_ids=ids, attention_mask=mask, **types).logits
        return [
            (row[self._entailment], 0.0 if self._contradiction is None else row[self._contradiction])
            for row in logits.double().softmax(dim=-1).tolist()
        ]

    def _cut(self, premise: Sequence[int], hypothesis: Sequence[int]) -> list[Pair]:
        """What is too much is cut from the premise's end, as long as something of it stays; a hypothesis that
        would leave nothing of it is cut to what the premise does not need, but at least half of the room.
        """
        if premise and len(hypothesis) >= self.room:
            hypothesis = hypothesis[: max(self.room // 2, self.room - len(premise))]
        hypothesis = hypothesis[: self.room]
        return [self._pair(premise[: self.room - len(hypothesis)], hypothesis)]

    def _parts(self, premise: Sequence[int], hypothesis: Sequence[int]) -> list[Pair]:
        """Equal parts of the premise, each with the hypothesis, which gets at most half of the room or what
        the premise does not need.
        """
        hypothesis = hypothesis[: max(self.room // 2, self.room - len(premise))]
        return [self._pair(part, hypothesis) for part in chunks(premise, max(1, self.room - len(hypothesis)))]

    def _alone(self, premise: Sequence[int], in_parts: bool) -> list[Pair]:
        opening, closing = self.tokens.opening, self.tokens.closing
        room = self._limit - len(opening) - len(closing)
        parts = chunks(premise, room) if in_parts else [premise[:room]]
        found = [((*opening, *part, *closing), len(part)) for part in parts]
        return [Pair(ids, (self._premise_type,) * len(ids), read, 0) for ids, read in found]

    def _pair(self, premise: Sequence[int], hypothesis: Sequence[int]) -> Pair:
        return Pair(
            (*self._opening, *premise, *self._middle, *hypothesis, *self._closing),
            (
                *self._opening_types,
                *repeat(self._premise_type, len(premise)),
                *self._middle_types,
                *repeat(self._hypothesis_type, len(hypothesis)),
                *self._closing_types,
            ),
            len(premise),
            len(hypothesis),
        )

    def _read_template(self) -> None:
        """The special ids around two texts, and all token types, from what the tokenizer makes of a pair."""
        encoded = self.tokens.tokenizer("a", "a")
        ids: list[int] = encoded["input_ids"]
        inner: list[int] = self.tokens.tokenizer("a", add_special_tokens=False)["input_ids"]
        starts = [index for index in range(len(ids)) if ids[index : index + len(inner)] == inner]
        first, second = starts[0], starts[-1]
        ends = first + len(inner), second + len(inner)
        self._has_types = (
            "token_type_ids" in encoded and getattr(self._model.config, "type_vocab_size", 0) > 1
        )
        types: list[int] = encoded["token_type_ids"] if self._has_types else [0] * len(ids)
        self._opening, self._opening_types = tuple(ids[:first]), tuple(types[:first])
        self._middle, self._middle_types = tuple(ids[ends[0] : second]), tuple(types[ends[0] : second])
        self._closing, self._closing_types = tuple(ids[ends[1] :]), tuple(types[ends[1] :])
        self._premise_type, self._hypothesis_type = types[first], types[second]


def _share(read: Iterable[int], texts: Sequence[Sequence[int]]) -> float:
    total = sum(map(len, texts))
    return sum(read) / total if total else 1.0
