"""The ratings that agreement is computed from: those of summaries that have two or more."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from metaeval.judgements import ALL, HumanRatings, QuestionRatings, Summaries
from metaeval.stats.agreement.rated_units import RatedUnits
from metaeval.stats.agreement.unit_patterns import Patterns, unit_patterns
from metaeval.stats.arrays import Ints


@dataclass(frozen=True, eq=False)
class RatedTwice:
    """In one language, or in all together, the ratings that answer one question."""

    units: RatedUnits
    """Patterns of answers; each counts as often as summaries have it."""
    raters: int
    rated_once: int
    """Summaries with one rating only."""
    long: tuple[Ints, Ints, Ints]
    """Units, raters and answers as codes, each (ratings,)."""

    @cached_property
    def n_units(self) -> int:
        return int(self.units.times.sum())

    @property
    def n_ratings(self) -> int:
        return len(self.long[0])

    @property
    def n_answers(self) -> int:
        return self.units.cells.n_answers

    @cached_property
    def totals(self) -> Ints:
        """(answers,) how often each answer was given."""
        return np.bincount(self.long[2], minlength=self.n_answers)

    @cached_property
    def pairs(self) -> Ints:
        """(answers, answers) ordered pairs of ratings of the same summary, a rating not with itself."""
        counts = np.zeros((len(self.units), self.n_answers), dtype=np.int64)
        counts[self.units.cells.units, self.units.cells.answers] = self.units.counts[:, 0]
        times = self.units.times.astype(np.int64)
        return counts.T @ (times * counts) - np.diag((times * counts).sum(axis=0))


@dataclass(frozen=True, eq=False)
class RatedTwiceByLanguage:
    """The same for every language: made once, and cut along the languages."""

    language_names: tuple[str, ...]
    languages: Ints
    """(units,) codes, -1 where it is not known."""
    patterns: Patterns
    units: Ints
    """(ratings,) codes from 0, of summaries with two ratings or more."""
    raters: Ints
    """(ratings,)"""
    answers: Ints
    """(ratings,)"""
    rated_once: Ints
    """(languages + 1,) summaries with one rating only; first those whose language is not known."""

    def in_language(self, language: str) -> RatedTwice:
        """With `ALL` all together."""
        if language == ALL:
            long = (self.units, self.raters, self.answers)
            return RatedTwice(self.patterns.units, _different(self.raters), int(self.rated_once.sum()), long)
        code = self.language_names.index(language)
        chosen = self.languages == code
        times = self.patterns.times(np.flatnonzero(chosen))
        units = self.patterns.units.with_times(times)
        present = times[:, 0] > 0
        ratings = np.flatnonzero(chosen[self.units])
        raters = self.raters[ratings]
        return RatedTwice(
            # What all languages share is kept, unless it is many times as much as this one needs.
            units=units if 2 * np.count_nonzero(present) > len(present) else units.only(present),
            raters=_different(raters),
            rated_once=int(self.rated_once[code + 1]),
            long=((np.cumsum(chosen) - 1)[self.units[ratings]], raters, self.answers[ratings]),
        )


def rated_twice(
    summaries: Summaries, human: HumanRatings, ratings: QuestionRatings, group: str = ""
) -> RatedTwiceByLanguage:
    """What agreement on one question is computed from; of the raters of `group` alone if it is given."""
    units, raters, answers = ratings.summaries, ratings.raters, ratings.answers
    if group:
        chosen = human.of_group(ratings, group)
        units, raters, answers = units[chosen], raters[chosen], answers[chosen]
    times = np.bincount(units, minlength=len(summaries))
    is_compared = times >= 2
    again = np.flatnonzero(is_compared[units])
    unit_codes, given = (np.cumsum(is_compared) - 1)[units[again]], answers[again]
    n_units = int(np.count_nonzero(is_compared))
    return RatedTwiceByLanguage(
        language_names=summaries.language_names,
        languages=summaries.languages[is_compared],
        patterns=unit_patterns(unit_codes, given, n_units=n_units, n_answers=len(ratings.values)),
        units=unit_codes,
        raters=raters[again],
        answers=given,
        rated_once=np.bincount(
            summaries.languages[times == 1] + 1, minlength=len(summaries.language_names) + 1
        ),
    )


def answer_totals(
    summaries: Summaries, human: HumanRatings, ratings: QuestionRatings, language: str, group: str = ""
) -> Ints:
    """(answers,) how often each answer was given, also to summaries that were rated once."""
    chosen = human.of_group(ratings, group) & summaries.in_language(language)[ratings.summaries]
    return np.bincount(ratings.answers[chosen], minlength=len(ratings.values))


def _different(raters: Ints) -> int:
    return int(np.count_nonzero(np.bincount(raters)))
