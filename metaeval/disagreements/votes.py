"""The raters' answers to a question about single summaries. Pure."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from metaeval.snapshot.arrays import HumanRatings, QuestionRatings


@dataclass(frozen=True)
class Votes:
    """Answers to one question about one summary, in the scale's order, with the number of raters."""

    answers: tuple[tuple[str, int], ...]

    @property
    def raters(self) -> int:
        return sum(times for _, times in self.answers)


def votes_on(
    human: HumanRatings, ratings: QuestionRatings, summaries: Collection[int], group: str = ""
) -> dict[int, Votes]:
    """Return the votes by index of the summary, by all raters or by those of `group`.

    Every answer counts, including Unsure. Summaries without an answer have no entry.
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
