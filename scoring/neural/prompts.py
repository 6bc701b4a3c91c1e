"""Inputs of bounded length from a template with article and summary."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from scoring.neural.tokens import TextTokenizer, chunks

_FIELD = re.compile(r"(\{article\}|\{summary\})")

Share = tuple[str, float]
"""Name of a text, and the share of its tokens that is read, in [0, 1]."""


@dataclass(frozen=True, slots=True)
class Prompted:
    """The input of one item, or several that each have a part of its article."""

    inputs: tuple[tuple[int, ...], ...]
    shares: tuple[Share, ...] = ()


class Prompts:
    """A template with `{article}` and `{summary}` once each, for one tokenizer.

    `limit` is the longest input in ids, special ones included. Longer inputs depend on `long_article`: "cut"
    cuts the article's end, and the summary's only if it does not fit without any article; "cut_end" cuts the
    end of the prompt; "parts" gives equal parts of the article a prompt each, if that leaves a part at least
    half of the input, and else works as "cut".
    """

    def __init__(self, tokens: TextTokenizer, template: str, limit: int, long_article: str) -> None:
        self._tokens = tokens
        self._template = _FIELD.split(template)
        self._room = limit - len(tokens.opening) - len(tokens.closing)
        self._long_article = long_article

    def of(self, pairs: Sequence[tuple[str, str]]) -> list[Prompted]:
        """Return the inputs for each article with its summary."""
        filled = [self._filled({"article": article, "summary": summary}) for article, summary in pairs]
        whole = self._tokens.pieces(["".join(text for _, text in each) for each in filled])
        return [
            self._whole(pieces) if len(pieces) <= self._room else self._shortened(each, pieces)
            for each, pieces in zip(filled, whole, strict=True)
        ]

    def _filled(self, texts: dict[str, str]) -> list[tuple[str, str]]:
        """Return (name, text) in the prompt's order; the template's own text has no name."""
        named = [(part.strip("{}") if _FIELD.fullmatch(part) else "", part) for part in self._template]
        return [(name, texts.get(name, part)) for name, part in named]

    def _whole(self, pieces: Sequence[int]) -> Prompted:
        return Prompted((self._closed(pieces),))

    def _closed(self, pieces: Sequence[int]) -> tuple[int, ...]:
        return (*self._tokens.opening, *pieces, *self._tokens.closing)

    def _shortened(self, filled: list[tuple[str, str]], pieces: Sequence[int]) -> Prompted:
        if self._long_article == "cut_end":
            return Prompted((self._closed(pieces[: self._room]),), tuple(self._shares(filled, self._room)))
        article = next(place for place, (name, _) in enumerate(filled) if name == "article")
        before, behind = filled[: article + 1], filled[article + 1 :]
        front, back = self._tokens.pieces([_text(before), _text(behind)])
        room = max(0, self._room - len(back))
        if self._long_article == "parts":
            start = self._start(before, article)
            if 2 * (room - start) >= self._room:
                parts = chunks(front[start:], room - start)
                return Prompted(tuple(self._closed((*front[:start], *part, *back)) for part in parts))
        shares = (*self._shares(before, room), *self._shares(behind, self._room - room))
        return Prompted((self._closed((*front[:room], *back)[: self._room]),), shares)

    def _shares(self, filled: list[tuple[str, str]], kept: int) -> list[Share]:
        """Return the share of each named part within the first `kept` pieces."""
        shares = []
        for place, (name, _) in enumerate(filled):
            if name:
                start, end = self._start(filled, place), self._start(filled, place + 1)
                shares.append((name, min(1.0, max(0, kept - start) / max(1, end - start))))
        return shares

    def _start(self, filled: list[tuple[str, str]], place: int) -> int:
        """Return how many pieces precede the part."""
        [pieces] = self._tokens.pieces([_text(filled[:place])])
        return len(pieces)


def _text(filled: list[tuple[str, str]]) -> str:
    return "".join(text for _, text in filled).strip()
