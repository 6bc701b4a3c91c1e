"""Ways to make a score of replies: one reply, the mean of several, or probabilities of marks.

A mode is a parameter, so part of the fingerprint: one never replaces another.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import ClassVar

from scoring.contract.requests import Reply, Request, Wanted
from scoring.prompts.marks import MarkMenu, Unread
from scoring.prompts.replies import is_json_verdict, read_score

LEAST_SHARE = 0.5
"""Least probability of all marks together as a reply's first token."""

Verdict = tuple[float, str | None]
"""A score from 0 to 1, or nan and a reason."""

_NEXT_ENTRY = re.compile(r"\n\s*(?:Text|Reference|Summary):")
"""The place where a model continues the list after its mark."""


@dataclass(frozen=True)
class Greedy:
    """One reply at temperature 0, kept unchanged."""

    marks: MarkMenu
    structured: bool = False
    count: ClassVar[int] = 1
    """Requests per score."""

    def requests(self, question: Request) -> list[Request]:
        """Return the requests; `question` is one for a single greedy reply."""
        return [_formed(question, self)]

    def verdict(self, replies: Sequence[Reply], quality: str) -> Verdict:
        """Return the score from the replies to `requests`, in order; `quality` is what was judged."""
        [reply] = replies
        return _mark(reply, self, quality)

    def kept(self, replies: Sequence[Reply]) -> str:
        """Return the replies as a readable text, stored as the score's explanation."""
        [reply] = replies
        return reply.text


@dataclass(frozen=True)
class Samples:
    """The mean of `count` replies drawn at `temperature`.

    All must give a mark, since a mean of the readable ones would be biased by the texts. Otherwise the reason
    is that of the first without one. Kept as JSON.
    """

    marks: MarkMenu
    count: int
    temperature: float
    structured: bool = False

    def requests(self, question: Request) -> list[Request]:
        formed = replace(_formed(question, self), temperature=self.temperature)
        return [replace(formed, sample=number) for number in range(self.count)]

    def verdict(self, replies: Sequence[Reply], quality: str) -> Verdict:
        verdicts = [_mark(reply, self, quality) for reply in replies]
        problem = next((problem for _, problem in verdicts if problem), None)
        return (math.nan, problem) if problem else (fmean(number for number, _ in verdicts), None)

    def kept(self, replies: Sequence[Reply]) -> str:
        return _as_text({"replies": [{"text": each.text} | _problem_of(each) for each in replies]})


@dataclass(frozen=True)
class Probabilities:
    """The expected mark: the sum of p x worth over the sum of p, for all marks on the menu.

    FIRST_TOKEN takes a mark's probability as the first token of a reply (Liu et al. 2023, G-Eval, section
    2.1): for Yes and No this is P(Yes) / (P(Yes) + P(No)), with the spellings yes and YES added. Marks that
    an endpoint does not show count as 0, and with less than LEAST_SHARE on all marks together there is no
    score. LIKELIHOOD takes it as a whole reply of a local model, whatever the sum. The probabilities are kept
    as JSON.
    """

    marks: MarkMenu
    wanted: Wanted
    count: ClassVar[int] = 1

    def requests(self, question: Request) -> list[Request]:
        is_token = self.wanted == Wanted.FIRST_TOKEN
        marks = tuple(self.marks.spellings) if is_token else self.marks.menu
        return [replace(question, wanted=self.wanted, marks=marks)]

    def verdict(self, replies: Sequence[Reply], quality: str) -> Verdict:  # noqa: ARG002 - no words are read
        [reply] = replies
        if reply.problem not in (None, Unread.TRUNCATED):  # a reply that was cut has its first token
            return math.nan, reply.problem
        share = self._share_on_marks(reply)
        if not reply.probabilities:
            return math.nan, Unread.UNPARSABLE if reply.text.strip() else Unread.EMPTY
        if not share or (self.wanted == Wanted.FIRST_TOKEN and share < LEAST_SHARE):
            return math.nan, Unread.OFF_MARKS
        expected = math.fsum(
            reply.probabilities.get(spelt, 0.0) * self.marks.worth[mark]
            for spelt, mark in self.marks.spellings.items()
        )
        return min(expected / share, 1.0), None

    def _share_on_marks(self, reply: Reply) -> float:
        """Return the probability of all marks together, in any spelling."""
        return math.fsum(reply.probabilities.get(spelt, 0.0) for spelt in self.marks.spellings)

    def kept(self, replies: Sequence[Reply]) -> str:
        [reply] = replies
        share = self._share_on_marks(reply)
        told = {"probabilities": dict(reply.probabilities), "share_on_marks": round(share, 6)}
        return _as_text(told | {"text": reply.text} | _problem_of(reply))


ScoreMode = Greedy | Samples | Probabilities


def score_mode(
    name: str, marks: MarkMenu, *, structured: bool, samples: int, temperature: float
) -> ScoreMode:
    """Return the mode of this name: greedy, samples, expected or candidates."""
    if name == "samples":
        return Samples(marks, samples, temperature, structured)
    if name == "greedy":
        return Greedy(marks, structured)
    return Probabilities(marks, Wanted.FIRST_TOKEN if name == "expected" else Wanted.LIKELIHOOD)


def _formed(question: Request, mode: Greedy | Samples) -> Request:
    return replace(question, schema=mode.marks.schema) if mode.structured else question


def _mark(reply: Reply, mode: Greedy | Samples, quality: str) -> Verdict:
    """Return the mark that one reply gives; a structured reply must be a JSON object."""
    if reply.problem not in (None, Unread.TRUNCATED):
        return math.nan, reply.problem
    entry, *others = _NEXT_ENTRY.split(reply.text, maxsplit=1)
    cut = bool(reply.problem) and not others
    reading = read_score(entry, mode.marks.scale, quality=quality, cut=cut)
    if reading.value is None:
        return math.nan, reading.reason
    if mode.structured and not is_json_verdict(entry, quality):
        return math.nan, Unread.UNPARSABLE
    return mode.marks.value(reading.value), None


def _problem_of(reply: Reply) -> dict[str, str]:
    return {"problem": reply.problem} if reply.problem else {}


def _as_text(told: Mapping[str, object]) -> str:
    return json.dumps(told, ensure_ascii=False, indent=1)
