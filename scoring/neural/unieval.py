"""The probability that a T5 model answers Yes to a question about texts, in UniEval's form."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import tanh
from pathlib import Path

from scoring.neural.t5 import Answers
from scoring.neural.tokens import chunks
from scoring.weights.model_files import MissingWeights

Labelled = tuple[str, str]
"""A text's label in an input, and the text."""


@dataclass(frozen=True, slots=True)
class Input:
    """The ids of one question with its texts, and the share of each text's ids that they hold."""

    ids: tuple[int, ...]
    shares: tuple[float, ...]


class YesOrNo:
    """A folder's T5 that answers questions about texts: `question </s> label text </s> label text </s>`.

    Question and texts are tokenised separately, without white space at their ends, and joined by the id of
    </s>. Tokenised together, some tokenizer.json files (Metaspace without a split at white space) would put a
    space before </s>, unlike the tokenizer that the model was trained with.

    Raises MissingWeights if Yes and No begin with the same token.
    """

    def __init__(self, folder: Path, precision: str, max_length: int) -> None:
        self._model = Answers(folder, precision)
        self._tokens = self._model.tokens
        self._yes, self._no = (pieces[0] for pieces in self._tokens.pieces(["Yes", "No"]))
        end = self._tokens.tokenizer.eos_token_id
        if end is None or self._yes == self._no:
            raise MissingWeights(
                f"The tokenizer in {folder} has no end of sequence, or begins Yes and No with the same "
                "token. Is it the right model?"
            )
        self._end: int = end
        self._room = max_length - len(self._tokens.closing)
        """The most ids of an input before the closing ones."""

    def whole(self, question: str, texts: Sequence[Labelled]) -> Input:
        """Return one input, cut from its end."""
        [ids] = self._tokens.pieces([question])
        shares = []
        for each in texts:
            label, pieces = self._pieces(each)
            ids = (*ids, self._end, *label, *pieces)
            shares.append(_share(len(pieces), len(ids) - self._room))
        return Input((*ids[: self._room], *self._tokens.closing), tuple(shares))

    def parts(self, question: str, judged: Labelled, by: Labelled) -> list[Input]:
        """Return what `whole` returns, or one input per equal part of the text `by` if it would be cut.

        The judged text then gets at most half of an input, or what the other does not need.
        """
        whole = self.whole(question, [judged, by])
        if min(whole.shares) == 1:
            return [whole]
        judged_label, judged_pieces = self._pieces(judged)
        label, pieces = self._pieces(by)
        head = (*self._tokens.pieces([question])[0], self._end, *judged_label, *judged_pieces)
        room = self._room - 1 - len(label)
        kept = head[: max(room // 2, room - len(pieces))]
        shares = (_share(len(judged_pieces), len(head) - len(kept)), 1.0)
        return [
            Input((*kept, self._end, *label, *part, *self._tokens.closing), shares)
            for part in chunks(pieces, max(1, room - len(kept)))
        ]

    def probabilities(self, inputs: Sequence[Input]) -> list[float | None]:
        """Return p(Yes) / (p(Yes) + p(No)) of each input's first token; None if out of memory.

        Each distinct input is computed once.
        """
        found = self._model.logits([each.ids for each in inputs], (self._yes, self._no))
        return [None if logits is None else _sigmoid(float(logits[0] - logits[1])) for logits in found]

    def _pieces(self, labelled: Labelled) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the ids of the label and those of the text after it."""
        label, both = self._tokens.pieces([labelled[0], " ".join(labelled).rstrip()])
        return both[: len(label)], both[len(label) :]


def _share(length: int, beyond: int) -> float:
    """Return the share read of a text of `length` ids that ends `beyond` ids after the last one read."""
    return 1 - min(max(beyond, 0), length) / length if length else 1.0


def _sigmoid(difference: float) -> float:
    return (1 + tanh(difference / 2)) / 2
