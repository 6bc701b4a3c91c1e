"""Two texts as one input of bounded length."""

from collections.abc import Sequence
from dataclasses import dataclass

from scoring.contract.scores import share_of
from scoring.neural.tokens import TextTokenizer, chunks


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


class TextPairs:
    """Premises and hypotheses as inputs of at most `limit` ids, special ones included."""

    def __init__(self, tokens: TextTokenizer, limit: int) -> None:
        self._tokens = tokens
        self._single_room = limit - len(tokens.opening) - len(tokens.closing)
        self.room = self._single_room - len(tokens.between_texts)
        """The number of ids of the two texts together that fit into one input."""

    def grid(self, premises: Sequence[str], hypotheses: Sequence[str], *, in_parts: bool) -> PairGrid:
        """Return all pairs of texts. A premise that is too long is cut, or split with `in_parts`.

        An empty hypothesis is left out, as in the library: the premise is then a sequence of its own.
        """
        befores, afters = self._tokens.pieces(premises), self._tokens.pieces(hypotheses)
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
        opening, closing = self._tokens.opening, self._tokens.closing
        parts = chunks(premise, self._single_room) if in_parts else [premise[: self._single_room]]
        found = [((*opening, *part, *closing), len(part)) for part in parts]
        return [EncodedPair(ids, len(ids), read, 0) for ids, read in found]

    def _pair(self, premise: Sequence[int], hypothesis: Sequence[int]) -> EncodedPair:
        before = (*self._tokens.opening, *premise, *self._tokens.between_texts)
        ids = (*before, *hypothesis, *self._tokens.closing)
        return EncodedPair(ids, len(before), len(premise), len(hypothesis))


def pair_in(prompt: str, article: str, summary: str) -> tuple[str, str]:
    """Return a filled prompt as two texts: to the end of the article, and the rest.

    `prompt` has {article} and, behind it, {summary} once each.
    """
    before, behind = prompt.split("{article}")
    return (before + article).strip(), behind.replace("{summary}", summary).strip()
