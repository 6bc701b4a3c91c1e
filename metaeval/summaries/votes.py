"""What raters answered to a question about single summaries. Pure."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from metaeval.judgements import HumanRatings, QuestionRatings


@dataclass(frozen=True)
class Votes:
    """Answers to one question about one summary, in the scale's order, with how many raters gave each."""

    answers: tuple[tuple[str, int], ...]

    @property
    def raters(self) -> int:
        return sum(times for _, times in self.answers)


def votes_on(
    human: HumanRatings, ratings: QuestionRatings, summaries: Collection[int], group: str = ""
) -> dict[int, Votes]:
    """Place of a summary -> its votes, from raters of `group` alone if it is given.

    Every answer counts, Unsure among them. A summary of `summaries` (places) without an answer has no entry.
    """
    wanted = np.isin(ratings.summaries, list(summaries)) & human.of_group(ratings, group)
    counts: dict[int, dict[int, int]] = {}
    for summary, answer in zip(
        ratings.summaries[wanted].tolist(), ratings.answers[wanted].tolist(), strict=True
    ):
        given = counts.setdefault(summary, {})
        given[answer] = given.get(answer, 0) + 1
    return {
        summary: Votes(tuple((ratings.values[answer], given[answer]) for answer in sorted(given)))
        for summary, given in counts.items()
    }
