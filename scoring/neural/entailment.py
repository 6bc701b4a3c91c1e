"""Probabilities of entailment and contradiction by a classifier of text pairs."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers

from scoring.contract.scores import share_of
from scoring.neural.batching import distinct_in_batches, padded, second_text
from scoring.neural.encoder import input_limit
from scoring.neural.encoder_pass import EncoderPass
from scoring.neural.loading import load_model
from scoring.neural.tokens import TextTokenizer, chunks
from scoring.weights.model_files import MissingWeights

ENTAILMENT = "entailment"
CONTRADICTION = "contradiction"


@dataclass(frozen=True, slots=True)
class EncodedPair:
    """The ids of one input, where its hypothesis begins, and how many ids of each text it has."""

    ids: tuple[int, ...]
    start: int
    premise_read: int
    hypothesis_read: int


@dataclass(frozen=True, slots=True)
class PairGrid:
    """Every hypothesis with every premise, one row per hypothesis, and the shares of both that are read."""

    rows: tuple[tuple[EncodedPair, ...], ...]
    premises_share: float
    hypotheses_share: float


class PairClassifier:
    """A folder's encoder with a head that classifies whether a premise entails a hypothesis.

    Raises MissingWeights if no label of the model is named entailment (in any case; models order their labels
    differently), or none contradiction with `contradiction`.
    """

    def __init__(self, folder: Path, precision: str, max_length: int, *, contradiction: bool) -> None:
        self.tokens = TextTokenizer(folder)
        self._model: Any = load_model(folder, transformers.AutoModelForSequenceClassification, precision)
        self._pass = EncoderPass.of(self._model)
        labels = self._model.config.id2label or {}
        names = {str(name).strip().lower(): int(index) for index, name in labels.items()}
        for needed in (ENTAILMENT, CONTRADICTION) if contradiction else (ENTAILMENT,):
            if needed not in names:
                raise MissingWeights(
                    f"The model in {folder} has the labels {', '.join(names)}, and none is named {needed}."
                )
        self._entailment = names[ENTAILMENT]
        self._contradiction = names.get(CONTRADICTION)
        self._has_types = (
            "token_type_ids" in self.tokens.tokenizer.model_input_names
            and getattr(self._model.config, "type_vocab_size", 0) > 1
        )
        around = len(self.tokens.opening) + len(self.tokens.closing)
        self._single_room = min(max_length, input_limit(self._model.config, self.tokens)) - around
        self.room = self._single_room - len(self.tokens.between_texts)
        """How many ids of the two texts together fit into one input."""

    def grid(self, premises: Sequence[str], hypotheses: Sequence[str], *, in_parts: bool) -> PairGrid:
        """Return all pairs of texts. A premise that is too long is cut, or split with `in_parts`.

        An empty hypothesis is left out, as in the library: the premise is then a sequence of its own.
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
        return PairGrid(
            rows,
            min(share_of(sum(pair.premise_read for pair in row), sum(map(len, befores))) for row in rows),
            share_of(sum(min(pair.hypothesis_read for pair in row) for row in rows), sum(map(len, afters))),
        )

    @torch.inference_mode()
    def probabilities(self, pairs: Sequence[EncodedPair]) -> list[tuple[float, float] | None]:
        """Return the probabilities of entailment and of contradiction; None if out of memory.

        The latter is 0 if the model has no such label. Each distinct input is computed once.
        """
        inputs = [(pair.ids, pair.start) for pair in pairs]
        return distinct_in_batches(inputs, self._probabilities, length=lambda each: len(each[0]))

    def _probabilities(self, inputs: Sequence[tuple[tuple[int, ...], int]]) -> list[tuple[float, float]]:
        return [
            (row[self._entailment], 0.0 if self._contradiction is None else row[self._contradiction])
            for row in self._logits(inputs).double().softmax(dim=-1).tolist()
        ]

    def _logits(self, inputs: Sequence[tuple[tuple[int, ...], int]]) -> torch.Tensor:
        """Return logits [inputs, labels]."""
        sequences = [ids for ids, _ in inputs]
        types = [second_text(len(ids), start) for ids, start in inputs] if self._has_types else None
        if self._pass is None:
            ids, mask = padded(sequences, self.tokens.padding)
            given = {} if types is None else {"token_type_ids": padded(types, 0)[0]}
            found: torch.Tensor = self._model(input_ids=ids, attention_mask=mask, **given).logits
            return found
        first = self._pass.last_states(sequences, [(0,)] * len(sequences), types)[:, None]
        # BERT's head takes the pooled first vector, RoBERTa's the vectors of all tokens.
        pooler = self._model.base_model.pooler
        logits: torch.Tensor = self._model.classifier(first if pooler is None else pooler(first))
        return logits

    def _cut(self, premise: Sequence[int], hypothesis: Sequence[int]) -> list[EncodedPair]:
        """Return the pair, cut to the limit.

        The premise is cut from its end as long as something of it stays. A hypothesis that would leave
        nothing of it is cut to what the premise does not need, but at least to half of the room.
        """
        if premise and len(hypothesis) >= self.room:
            hypothesis = hypothesis[: max(self.room // 2, self.room - len(premise))]
        hypothesis = hypothesis[: self.room]
        return [self._pair(premise[: self.room - len(hypothesis)], hypothesis)]

    def _parts(self, premise: Sequence[int], hypothesis: Sequence[int]) -> list[EncodedPair]:
        """Return equal parts of the premise, each with the hypothesis.

        The hypothesis gets at most half of the room, or what the premise does not need.
        """
        hypothesis = hypothesis[: max(self.room // 2, self.room - len(premise))]
        return [self._pair(part, hypothesis) for part in chunks(premise, max(1, self.room - len(hypothesis)))]

    def _alone(self, premise: Sequence[int], in_parts: bool) -> list[EncodedPair]:
        opening, closing = self.tokens.opening, self.tokens.closing
        parts = chunks(premise, self._single_room) if in_parts else [premise[: self._single_room]]
        found = [((*opening, *part, *closing), len(part)) for part in parts]
        return [EncodedPair(ids, len(ids), read, 0) for ids, read in found]

    def _pair(self, premise: Sequence[int], hypothesis: Sequence[int]) -> EncodedPair:
        before = (*self.tokens.opening, *premise, *self.tokens.between_texts)
        ids = (*before, *hypothesis, *self.tokens.closing)
        return EncodedPair(ids, len(before), len(premise), len(hypothesis))
