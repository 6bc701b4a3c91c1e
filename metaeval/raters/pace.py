"""The speed of raters, and raters who give one answer to every question. Pure.

Marks are reasons to look closer, not verdicts: RULES says when a rater gets one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

import numpy as np

from metaeval.snapshot.arrays import HumanRatings

IDLE_SECONDS = 900.0
FEWEST_RATINGS = 10
FAST = 1 / 3
SAME = 0.9
USUAL = 0.5
FEWEST_QUESTIONS = 3
RULES = (
    f"fast: the median time of a rating is under a third of the other raters' median, over at least"
    f" {FEWEST_RATINGS} ratings; one with a stage that was open for more than {IDLE_SECONDS / 60:.0f} minutes"
    " is left out, because the rater was probably away",
    f"same answer: at least {SAME:.0%} of {FEWEST_RATINGS} ratings or more give one answer to every question,"
    f" and under {USUAL:.0%} of the other raters' do; ratings with fewer than {FEWEST_QUESTIONS} answers are"
    " left out",
)


@dataclass(frozen=True)
class RaterPace:
    """One rater's pace and habits."""

    timed: int = 0
    """Ratings with times."""
    seconds: float | None = None
    """The median time of a rating; None without times."""
    by_stage: Mapping[int, float] | None = None
    """Stage -> median seconds."""
    compared: int = 0
    """Ratings with enough answers to compare."""
    same: int = 0
    """Compared ratings with one answer to every question."""
    is_fast: bool = False
    is_same: bool = False


def paces(
    seconds: Mapping[int, Sequence[Mapping[int, float]]], same: Mapping[int, tuple[int, int]]
) -> dict[int, RaterPace]:
    """Return the pace of each rater.

    `seconds` has, by rater, the seconds of each stage of each timed rating; `same` is that of `same_answers`.
    """
    found = {
        rater: replace(_timed(seconds.get(rater, ())), compared=compared, same=alike)
        for rater, (compared, alike) in same.items()
    }
    return {rater: _marked(rater, pace, found) for rater, pace in found.items()}


def same_answers(human: HumanRatings, n_summaries: int) -> dict[int, tuple[int, int]]:
    """Return by rater the ratings with FEWEST_QUESTIONS answers, and those of them with a single one."""
    words = {value: code for code, value in enumerate({v for each in human.questions for v in each.values})}
    keys = np.concatenate([each.raters * n_summaries + each.summaries for each in human.questions])
    answers = np.concatenate(
        [
            np.array([words[value] for value in each.values], dtype=np.int64)[each.answers]
            for each in human.questions
        ]
    )
    ratings, places, counts = np.unique(keys, return_inverse=True, return_counts=True)
    low, high = np.full(len(ratings), len(words)), np.full(len(ratings), -1)
    np.minimum.at(low, places, answers)
    np.maximum.at(high, places, answers)
    raters, enough = ratings // max(n_summaries, 1), counts >= FEWEST_QUESTIONS
    return {
        rater: (
            int(np.count_nonzero(enough & (raters == rater))),
            int(np.count_nonzero(enough & (low == high) & (raters == rater))),
        )
        for rater in np.unique(raters).tolist()
    }


def _timed(ratings: Sequence[Mapping[int, float]]) -> RaterPace:
    worked = [each for each in ratings if each and max(each.values()) <= IDLE_SECONDS]
    if not worked:
        return RaterPace()
    stages = sorted({stage for each in worked for stage in each})
    return RaterPace(
        timed=len(worked),
        seconds=median(sum(each.values()) for each in worked),
        by_stage={stage: median(each[stage] for each in worked if stage in each) for stage in stages},
    )


def _marked(rater: int, pace: RaterPace, found: Mapping[int, RaterPace]) -> RaterPace:
    others = [each for other, each in found.items() if other != rater]
    seconds = [each.seconds for each in others if each.seconds is not None]
    compared, same = sum(each.compared for each in others), sum(each.same for each in others)
    is_enough = pace.compared >= FEWEST_RATINGS and compared > 0
    return replace(
        pace,
        is_fast=pace.timed >= FEWEST_RATINGS
        and pace.seconds is not None
        and len(seconds) > 0
        and pace.seconds < FAST * median(seconds),
        is_same=is_enough and pace.same >= SAME * pace.compared and same < USUAL * compared,
    )
