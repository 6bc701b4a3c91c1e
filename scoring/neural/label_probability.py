"""The probability of one label by a T5 or mT5 that was tuned to answer with labels."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import torch

from scoring.contract.evaluator import EvaluatorError
from scoring.neural.t5 import Answers
from scoring.neural.tokens import TextTokenizer

LONGEST_ANSWER = 10
"""The most tokens of an answer that is compared with a label."""

Judged = tuple[float, str]
"""The value in [0, 1], and the written answer, if any."""
Inputs = Sequence[tuple[int, ...]]


class LabelProbability:
    """The model of a folder, the `labels` it answers with, and which of them is `positive`."""

    def __init__(self, folder: Path, precision: str, labels: Sequence[str], positive: str) -> None:
        self._model = Answers(folder, precision)
        self._labels = labels
        self._positive = labels.index(positive)
        self._pieces = self._model.tokens.pieces(labels)

    @property
    def tokens(self) -> TextTokenizer:
        return self._model.tokens

    def of(self, inputs: Inputs, measure: str) -> list[Judged | None]:
        """Return the value of `measure` for each input; None if out of memory.

        "labels": softmax over the logits of the labels' first pieces; "vocabulary": over those of all pieces;
        "sequences": over the log-probabilities of the whole labels; "decision": 1 if the model writes the
        positive label, else 0. Raises EvaluatorError if labels share their first piece.
        """
        if measure == "decision":
            positive = self._labels[self._positive]
            return [
                None if each is None else (float(each == positive), each) for each in self._written(inputs)
            ]
        if measure == "vocabulary":
            found = self._model.log_probabilities(inputs, [self._first_pieces()[self._positive]])
            return [None if each is None else (each[0].exp().item(), "") for each in found]
        if measure == "sequences":
            answers = [(*pieces, *self.tokens.closing) for pieces in self._pieces]
            found = self._model.answer_log_probabilities(inputs, answers)
        else:
            found = self._model.logits(inputs, self._first_pieces())
        return [None if each is None else (self._share(each), "") for each in found]

    def _share(self, logits: torch.Tensor) -> float:
        return logits.double().softmax(dim=0)[self._positive].item()

    def _written(self, inputs: Inputs) -> list[str | None]:
        found = self._model.written(inputs, LONGEST_ANSWER)
        decode = partial(self.tokens.tokenizer.decode, skip_special_tokens=True)
        return [None if ids is None else str(decode(list(ids))).strip() for ids in found]

    def _first_pieces(self) -> list[int]:
        first = [pieces[0] for pieces in self._pieces]
        unknown = self.tokens.tokenizer.unk_token_id
        if len(set(first)) < len(first) or unknown in first:
            raise EvaluatorError(
                f"The first pieces of the labels {', '.join(self._labels)} do not tell them apart in this "
                "model's vocabulary; are they its labels? If so, use measure=sequences.",
                permanent=True,
            )
        return first
