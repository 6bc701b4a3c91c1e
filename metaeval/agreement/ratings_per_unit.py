"""The ratings that agreement is computed from: those of summaries with two ratings or more."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from metaeval.snapshot.arrays import ALL, HumanRatings, QuestionRatings, Summaries
from metaeval.stats.agreement.rated_units import RatedUnits
from metaeval.stats.agreement.unit_patterns import Patterns, single_units, unit_patterns
from metaeval.stats.arrays import Ints
from metaeval.stats.labels.label_mean import clusters
from metaeval.stats.uncertainty.intervals import JACKKNIFE_GROUPS


@dataclass(frozen=True, eq=False)
class RatingsPerUnit:
    """The answers to one question, in one language or in all."""

    units: RatedUnits
    """Patterns of answers, weighted by the number of summaries that have them."""
    raters: int
    rated_once: int
    """Summaries with a single rating."""
    long: tuple[Ints, Ints, Ints]
    """Units, raters and answers as codes, each (ratings,)."""
    patterns_of: Ints
    """The pattern of each summary, (summaries,)."""
    articles_of: Ints
    """The article of each summary as a code, (summaries,)."""

    @cached_property
    def n_units(self) -> int:
        return int(self.units.times.sum())

    @cached_property
    def articles(self) -> RatedUnits:
        """The articles as units, whose answers are the patterns of their summaries."""
        codes = self._article_codes
        return unit_patterns(
            codes, self.patterns_of, n_units=int(codes.max(initial=-1)) + 1, n_answers=len(self.units)
        ).units

    @cached_property
    def left_out(self) -> RatedUnits:
        """The `articles` to leave out in turn, or groups of articles if they have too many patterns.

        Of yes/no answers by two or three raters, articles have few patterns, each of which takes one
        computation. Beyond JACKKNIFE_GROUPS patterns, articles are dealt to as many groups in their order.
        """
        if len(self.articles) <= JACKKNIFE_GROUPS:
            return self.articles
        return single_units(
            self._article_codes % JACKKNIFE_GROUPS,
            self.patterns_of,
            n_units=JACKKNIFE_GROUPS,
            n_answers=len(self.units),
        )

    @cached_property
    def _article_codes(self) -> Ints:
        """The article of each summary, (summaries,), from 0 without gaps."""
        codes: Ints = np.unique(self.articles_of, return_inverse=True)[1]
        return codes

    @property
    def n_articles(self) -> int:
        return int(self.articles.times.sum())

    @property
    def n_ratings(self) -> int:
        return len(self.long[0])

    @property
    def n_answers(self) -> int:
        return self.units.cells.n_answers

    @cached_property
    def totals(self) -> Ints:
        """Return (answers,) how often each answer was given."""
        return np.bincount(self.long[2], minlength=self.n_answers)

    @cached_property
    def pairs(self) -> Ints:
        """Return (answers, answers) the ordered pairs of different ratings of the same summary."""
        counts = np.zeros((len(self.units), self.n_answers), dtype=np.int64)
        counts[self.units.cells.units, self.units.cells.answers] = self.units.counts[:, 0]
        times = self.units.times.astype(np.int64)
        return counts.T @ (times * counts) - np.diag((times * counts).sum(axis=0))


@dataclass(frozen=True, eq=False)
class RatingsPerUnitByLanguage:
    """The answers to one question, prepared once for every language."""

    language_names: tuple[str, ...]
    languages: Ints
    """(units,) codes, -1 for unknown."""
    articles: Ints
    """(units,) codes."""
    patterns: Patterns
    units: Ints
    """(ratings,) codes from 0, of summaries with two ratings or more."""
    raters: Ints
    """(ratings,)"""
    answers: Ints
    """(ratings,)"""
    rated_once: Ints
    """(languages + 1,) summaries with a single rating; the first entry is for an unknown language."""

    def in_language(self, language: str) -> RatingsPerUnit:
        """Return the ratings in one language, or in all for `ALL`."""
        if language == ALL:
            long = (self.units, self.raters, self.answers)
            return RatingsPerUnit(
                self.patterns.units,
                _different(self.raters),
                int(self.rated_once.sum()),
                long,
                self.patterns.of_unit,
                self.articles,
            )
        code = self.language_names.index(language)
        chosen = self.languages == code
        times = self.patterns.times(np.flatnonzero(chosen))
        units, patterns = self.patterns.units.with_times(times), self.patterns.of_unit[chosen]
        present = times[:, 0] > 0
        # Sharing the arrays of all languages is faster, unless this language needs far fewer patterns.
        if 2 * np.count_nonzero(present) <= len(present):
            units, patterns = units.only(present), (np.cumsum(present) - 1)[patterns]
        ratings = np.flatnonzero(chosen[self.units])
        raters = self.raters[ratings]
        return RatingsPerUnit(
            units=units,
            raters=_different(raters),
            rated_once=int(self.rated_once[code + 1]),
            long=((np.cumsum(chosen) - 1)[self.units[ratings]], raters, self.answers[ratings]),
            patterns_of=patterns,
            articles_of=self.articles[chosen],
        )


def ratings_per_unit(
    summaries: Summaries, human: HumanRatings, ratings: QuestionRatings, group: str = ""
) -> RatingsPerUnitByLanguage:
    """Return the ratings that answer one question, by all raters or by those of `group`."""
    units, raters, answers = ratings.summaries, ratings.raters, ratings.answers
    if group not in ("", ALL):
        chosen = human.of_group(ratings, group)
        units, raters, answers = units[chosen], raters[chosen], answers[chosen]
    times = np.bincount(units, minlength=len(summaries))
    is_compared = times >= 2
    again = np.flatnonzero(is_compared[units])
    unit_codes, given = (np.cumsum(is_compared) - 1)[units[again]], answers[again]
    n_units = int(np.count_nonzero(is_compared))
    return RatingsPerUnitByLanguage(
        language_names=summaries.language_names,
        languages=summaries.languages[is_compared],
        articles=clusters(summaries.articles)[is_compared],
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
    """Return (answers,) how often each answer was given, including summaries with a single rating."""
    chosen = human.of_group(ratings, group) & summaries.in_language(language)[ratings.summaries]
    return np.bincount(ratings.answers[chosen], minlength=len(ratings.values))


def _different(raters: Ints) -> int:
    return int(np.count_nonzero(np.bincount(raters)))
