"""The figures of one rater: agreement with the others, what the others' agreement is without them, and speed.

Pure. Ratings count as elsewhere: finished ones by raters in good standing. Raters are known by their place in
the snapshot. Marks for speed and for one answer to every question are reasons to look closer, not verdicts:
RULES says when a rater gets one.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

import numpy as np

from metaeval.agreement.method import AgreementMethod
from metaeval.agreement.ratings_per_unit import ratings_per_unit
from metaeval.agreement.statistics import agreements
from metaeval.snapshot.arrays import ALL, HumanRatings, QuestionRatings, Summaries
from metaeval.stats.arrays import Bools, Floats, Ints
from metaeval.stats.labels.label_mean import MeanEstimate, label_mean, within_ends
from metaeval.stats.method import NONE
from metaeval.stats.result import Agreement

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


ALPHA = "krippendorff_alpha"
SHARE = (0.0, 1.0)
AGREEMENT = (
    "Agreement with the others: on each summary that others rated too, the share of their answers that equal"
    " the rater's; the mean over these summaries. Interval: 95% t-interval over articles, cut at 0 and 1."
    " Where raters are in several groups, the others are those of the rater's own group."
)


@dataclass(frozen=True)
class RaterOnQuestion:
    """One rater on one question."""

    question: str
    title: str
    among: str
    """The raters that are compared: 'raters of the group expert'; empty if there is only one group."""
    agreement: MeanEstimate
    """Agreement with the other raters of the same summaries, 0 to 1; `labelled` counts summaries."""
    others: MeanEstimate
    """The same of the other raters among each other."""
    alpha: Agreement
    without: Agreement
    """Alpha without the rater's ratings."""
    answers: Sequence[tuple[str, float, float]]
    """Answer, its share of the rater's answers, and of the others' to the same summaries (nan if there are
    none); empty if the rater gave none."""

    @property
    def change(self) -> float:
        """Return the rise of alpha without the rater; nan if either alpha is undefined."""
        return self.without.value - self.alpha.value

    @property
    def has_change(self) -> bool:
        return not math.isnan(self.change)


@dataclass(frozen=True)
class RaterPair:
    """One rater and another one, over all questions together."""

    other: int
    agreement: MeanEstimate
    """The share of equal answers, 0 to 1; `labelled` counts answers."""
    summaries: int
    """Rated by both."""


def question_figures(summaries: Summaries, human: HumanRatings, rater: int) -> list[RaterOnQuestion]:
    """Return the rater's figures on each question, among the raters of the same group."""
    group = human.rater_groups[rater] if human.groups else None
    among = "" if group is None else f"raters of the group {group}" if group else "raters without a group"
    return [_on_question(summaries, human, each, rater, among) for each in _questions_of(human, group)]


def pair_figures(summaries: Summaries, human: HumanRatings, rater: int) -> list[RaterPair]:
    """Return the rater's figures with each other rater of the same summaries, the lowest agreement first."""
    equal, others, units = [], [], []
    for ratings in human.questions:
        own = ratings.raters == rater
        answer = np.full(len(summaries), -1)
        answer[ratings.summaries[own]] = ratings.answers[own]
        shared = ~own & (answer[ratings.summaries] >= 0)
        units.append(ratings.summaries[shared])
        others.append(ratings.raters[shared])
        equal.append((ratings.answers[shared] == answer[units[-1]]).astype(float))
    all_equal, all_others, all_units = (np.concatenate(each) for each in (equal, others, units))
    found = []
    for other in np.unique(all_others).tolist():
        chosen = all_others == other
        found.append(
            RaterPair(
                other,
                _share(all_equal[chosen], summaries.articles[all_units[chosen]]),
                len(np.unique(all_units[chosen])),
            )
        )
    return sorted(found, key=lambda each: each.agreement.value)


def agreements_with_others(summaries: Summaries, human: HumanRatings) -> dict[int, MeanEstimate]:
    """Return, by rater, the agreement with the others of the same group over all questions together."""
    found: dict[int, MeanEstimate] = {}
    groups: Sequence[str | None] = sorted(set(human.rater_groups)) if human.groups else [None]
    for group in groups:
        questions = _questions_of(human, group)
        raters = np.concatenate([each.raters for each in questions])
        units = np.concatenate([each.summaries for each in questions])
        shares = np.concatenate([equal_shares(each, len(summaries)) for each in questions])
        found |= {
            rater: _share(shares[raters == rater], summaries.articles[units[raters == rater]])
            for rater in np.unique(raters).tolist()
        }
    return found


def _questions_of(human: HumanRatings, group: str | None) -> Sequence[QuestionRatings]:
    """Return the ratings of raters whose group has this name, which may be empty; of all raters for None."""
    if group is None:
        return human.questions
    in_group = np.array([name == group for name in human.rater_groups], dtype=bool)
    return [each.only(in_group[each.raters]) for each in human.questions]


def equal_shares(ratings: QuestionRatings, n_summaries: int) -> Floats:
    """Return the share of the summary's other answers that equal each answer, (ratings,); nan for none."""
    n_answers = len(ratings.values)
    keys = ratings.summaries * n_answers + ratings.answers
    alike = np.bincount(keys, minlength=n_summaries * n_answers)[keys] - 1
    others = np.bincount(ratings.summaries, minlength=n_summaries)[ratings.summaries] - 1
    with np.errstate(invalid="ignore"):
        return np.where(others > 0, alike / others, np.nan)


def _on_question(
    summaries: Summaries, human: HumanRatings, ratings: QuestionRatings, rater: int, among: str
) -> RaterOnQuestion:
    own = ratings.raters == rater
    rest = ratings.only(~own)
    return RaterOnQuestion(
        ratings.question.key,
        ratings.question.title,
        among,
        agreement=_share(
            equal_shares(ratings, len(summaries))[own], summaries.articles[ratings.summaries[own]]
        ),
        others=_share(equal_shares(rest, len(summaries)), summaries.articles[rest.summaries]),
        alpha=_alpha(summaries, human, ratings),
        without=_alpha(summaries, human, rest),
        answers=_answer_shares(ratings, own),
    )


def _alpha(summaries: Summaries, human: HumanRatings, ratings: QuestionRatings) -> Agreement:
    twice = ratings_per_unit(summaries, human, ratings).in_language(ALL)
    return agreements(twice, ratings, (ALPHA,), AgreementMethod(interval=NONE))[ALPHA]


def _answer_shares(ratings: QuestionRatings, own: Bools) -> list[tuple[str, float, float]]:
    if not own.any():
        return []
    shared = ~own & np.isin(ratings.summaries, ratings.summaries[own])
    mine, theirs = (_shares(ratings.answers[chosen], len(ratings.values)) for chosen in (own, shared))
    return list(zip(ratings.values, mine.tolist(), theirs.tolist(), strict=True))


def _shares(answers: Ints, n_answers: int) -> Floats:
    counts = np.bincount(answers, minlength=n_answers)
    return counts / counts.sum() if counts.sum() else np.full(n_answers, np.nan)


def _share(shares: Floats, articles: Ints) -> MeanEstimate:
    estimate = within_ends(label_mean(shares, articles), SHARE)
    return replace(estimate, definition=AGREEMENT, reason=estimate.reason and "no summary has two ratings")
