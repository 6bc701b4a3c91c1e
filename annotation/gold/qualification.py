"""Qualification: a rater's answers in a gold round compared with the gold answers. Pure.

A question's agreement is the share of the round's gold answers that the rater matched. A question that the
rater did not reach, because an earlier answer ended the rating, counts as a disagreement.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotation.protocol import Sheet


@dataclass(frozen=True)
class Thresholds:
    """The required agreement with gold, from 0 to 1: a default, and others by question key."""

    default: float
    by_question: Mapping[str, float]

    def __post_init__(self) -> None:
        for name, value in {"default": self.default, **self.by_question}.items():
            if not 0 <= value <= 1:
                raise ValueError(f"threshold of {name}: found {value}, expected a number from 0 to 1")

    def of(self, question: str) -> float:
        return self.by_question.get(question, self.default)


@dataclass(frozen=True)
class QuestionResult:
    question: str
    matched: int
    asked: int
    threshold: float

    @property
    def agreement(self) -> float:
        """Return the share of answers that match the gold answers, 0 to 1."""
        return self.matched / self.asked

    @property
    def passed(self) -> bool:
        return self.agreement >= self.threshold


@dataclass(frozen=True)
class Decision:
    """The result of a round, passed if every question reached its threshold."""

    results: tuple[QuestionResult, ...]

    @property
    def passed(self) -> bool:
        return bool(self.results) and all(result.passed for result in self.results)


def decide(rounds: Sequence[tuple[Sheet, Sheet]], thresholds: Thresholds) -> Decision:
    """Decide one gold round.

    `rounds` holds, for each gold summary, the pair (gold answers, the rater's answers), both by question key.
    A question without any gold answer in the round has no result. Raises ValueError for an empty round.
    """
    if not rounds:
        raise ValueError("a gold round without summaries cannot be decided")
    matched: dict[str, int] = {}
    asked: dict[str, int] = {}
    for gold, given in rounds:
        for question, value in gold.items():
            asked[question] = asked.get(question, 0) + 1
            matched[question] = matched.get(question, 0) + (given.get(question) == value)
    return Decision(
        tuple(
            QuestionResult(question, matched[question], asked[question], thresholds.of(question))
            for question in asked
        )
    )
