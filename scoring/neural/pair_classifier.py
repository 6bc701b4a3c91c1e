"""Probabilities of the labels of a classifier of text pairs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import transformers

from scoring.neural.batching import distinct_in_batches, padded, second_text
from scoring.neural.encoder import input_limit
from scoring.neural.encoder_pass import EncoderPass
from scoring.neural.finiteness import ModelWatch, whole
from scoring.neural.loading import load_model
from scoring.neural.text_pairs import EncodedPair, TextPairs
from scoring.neural.tokens import TextTokenizer
from scoring.weights.model_files import MissingWeights


class PairClassifier:
    """A folder's encoder with a head that classifies pairs of texts.

    `labels` are the names of the labels to read, in any case, since models order their labels differently.
    Raises MissingWeights if the model lacks one.
    """

    def __init__(self, folder: Path, precision: str, max_length: int, labels: Sequence[str]) -> None:
        self._tokens = TextTokenizer(folder)
        self._model: Any = load_model(folder, transformers.AutoModelForSequenceClassification, precision)
        self._pass = EncoderPass.of(self._model)
        self._watched = ModelWatch(self._model)
        named = self._model.config.id2label or {}
        numbers = {str(name).strip().lower(): int(index) for index, name in named.items()}
        for label in labels:
            if label not in numbers:
                raise MissingWeights(
                    f"The model in {folder} has the labels {', '.join(numbers)}, and none is named {label}."
                )
        self._wanted = [numbers[label] for label in labels]
        self._has_types = has_token_types(self._model.config, self._tokens)
        self.pairs = TextPairs(self._tokens, min(max_length, input_limit(self._model.config, self._tokens)))

    @torch.inference_mode()
    def probabilities(self, pairs: Sequence[EncodedPair]) -> list[tuple[float, ...] | None]:
        """Return the probability of each of `labels` for each pair; None if out of memory.

        Each distinct input is computed once.
        """
        inputs = [(pair.ids, pair.start) for pair in pairs]
        return distinct_in_batches(inputs, self._probabilities, length=lambda each: len(each[0]))

    def _probabilities(self, inputs: Sequence[tuple[tuple[int, ...], int]]) -> list[tuple[float, ...]]:
        return [
            tuple(row[number] for number in self._wanted)
            for row in whole(self._logits(inputs)).double().softmax(dim=-1).tolist()
        ]

    def _logits(self, inputs: Sequence[tuple[tuple[int, ...], int]]) -> torch.Tensor:
        """Return logits [inputs, labels]."""
        sequences = [ids for ids, _ in inputs]
        types = [second_text(len(ids), start) for ids, start in inputs] if self._has_types else None
        if self._pass is None:
            ids, mask = padded(sequences, self._tokens.padding)
            given = {} if types is None else {"token_type_ids": padded(types, 0)[0]}
            output, marks = self._watched.run(
                mask, lambda: self._model(input_ids=ids, attention_mask=mask, **given)
            )
            found: torch.Tensor = output.logits + marks[:, None].to(output.logits.dtype)
            return found
        first = self._pass.last_states(sequences, [(0,)] * len(sequences), types)[:, None]
        # BERT's head takes the pooled first vector, RoBERTa's the vectors of all tokens.
        pooler = self._model.base_model.pooler
        logits, marks = self._watched.run(
            torch.ones(len(first), 1, device=first.device),
            lambda: self._model.classifier(first if pooler is None else pooler(first)),
        )
        headed: torch.Tensor = logits + marks[:, None].to(logits.dtype)
        return headed


def has_token_types(config: transformers.PreTrainedConfig, tokens: TextTokenizer) -> bool:
    """Return whether the model is told which of two texts a token belongs to."""
    named = "token_type_ids" in tokens.tokenizer.model_input_names
    return named and getattr(config, "type_vocab_size", 0) > 1
