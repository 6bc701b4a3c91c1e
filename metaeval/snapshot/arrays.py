"""Ratings, labels and scores of the same summaries as read-only arrays. Pure.

"(summaries,)" and "(ratings,)" are shapes. Codes count from 0; -1 means unknown.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from annotation import protocol
from metaeval.stats.arrays import Bools, Floats, Ints
from metaeval.stats.complete_articles import in_complete_articles
from metaeval.stats.ranks import places_among_distinct
from metaeval.stats.rows import Rows
from scoring.contract.evaluator import GENERAL
from scoring.contract.seen import EVERY_DIMENSION

Kind = TypeVar("Kind", bound=np.generic)

LARGEST_TABLE = 2**24
"""Cells of a table in memory."""

ALL = "all"
"""The choice of all languages together, in place of one language."""


def read_only(array: npt.NDArray[Kind]) -> npt.NDArray[Kind]:
    """Make `array` read-only and return it."""
    array.setflags(write=False)
    return array


def codes(values: Sequence[object], names: Sequence[object]) -> Ints:
    """Return the place of each value among `names`. Raises KeyError for an unknown value."""
    places = {name: place for place, name in enumerate(names)}
    return read_only(np.fromiter((places[value] for value in values), np.int64, len(values)))


def answers_as_numbers(scale: protocol.Scale, answers: Sequence[str]) -> Floats:
    """Return the place of each answer among the choices, or on an interval scale its number, (answers,).

    Raises KeyError for an answer that is off a scale of choices.
    """
    if scale.kind == protocol.ScaleKind.INTERVAL:
        return np.array([float(answer) for answer in answers]) + 0.0  # -0 is 0
    return codes(answers, scale.choices).astype(np.float64)


def answer_codes(scale: protocol.Scale, numbers: Floats) -> tuple[tuple[str, ...], Ints]:
    """Return the answers in the scale's order, and the place of each number among them.

    `numbers` come from `answers_as_numbers`.
    """
    if scale.kind != protocol.ScaleKind.INTERVAL:
        return scale.choices, read_only(numbers.astype(np.int64))
    found, places = np.unique(numbers, return_inverse=True)
    return tuple(repr(number) for number in found.tolist()), read_only(places.astype(np.int64))


def in_order(values: Floats) -> Floats:
    """Number the distinct values from 0 in ascending order; nan stays nan."""
    known = ~np.isnan(values)
    places = np.full(len(values), np.nan)
    places[known] = places_among_distinct(values[known])
    return read_only(places)


@dataclass(frozen=True, eq=False)
class Summaries:
    """The article, system, language and dataset of each summary; arrays are (summaries,)."""

    articles: Ints
    """Codes that are equal for summaries of the same article."""
    systems: Ints
    languages: Ints
    datasets: Ints
    """Indices among `dataset_names`; -1 where the article names none."""
    system_names: tuple[str, ...]
    language_names: tuple[str, ...]
    dataset_names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.articles)

    @cached_property
    def is_of_complete_article(self) -> Bools:
        """Return whether each article has a summary by every system of its language, (summaries,)."""
        return read_only(in_complete_articles(self.articles, self.systems, self.languages))

    def in_language(self, language: str) -> Bools:
        """Return the summaries of articles in `language`, or all for `ALL`, (summaries,)."""
        if language == ALL:
            return np.ones(len(self), dtype=bool)
        return self.languages == self.language_names.index(language)

    def of_dataset(self, dataset: str) -> Bools:
        """Return the summaries of articles of `dataset`, or all for `ALL`, (summaries,)."""
        if dataset == ALL:
            return np.ones(len(self), dtype=bool)
        return self.datasets == self.dataset_names.index(dataset)

    def by_systems(self, names: Collection[str]) -> Bools:
        """Return the summaries by the systems `names`, or all if there are none, (summaries,)."""
        if not names:
            return np.ones(len(self), dtype=bool)
        return np.isin(self.systems, [self.system_names.index(name) for name in names])

    def rows(self, chosen: Bools, labels: "Labels", scores: Floats) -> Rows:
        """Return the `chosen` (summaries,) with their labels; `scores` are of the chosen alone."""
        return Rows(
            labels.values[chosen], scores, self.articles[chosen], self.systems[chosen], labels.is_yes_no
        )


@dataclass(frozen=True, eq=False)
class QuestionRatings:
    """The ratings that answer one question, one entry each."""

    question: protocol.Question
    values: tuple[str, ...]
    """The answers there are, in the scale's order."""
    summaries: Ints
    """(ratings,) place of the summary that was rated."""
    raters: Ints
    """(ratings,) place of the rater."""
    answers: Ints
    """(ratings,) place of the answer among `values`."""

    @cached_property
    def numbers(self) -> Floats:
        """The number of each answer, (values,); nan for answers that do not count, such as Unsure."""
        numbers = (self.question.scale.number(value) for value in self.values)
        return np.array([np.nan if number is None else number for number in numbers])

    def only(self, chosen: Bools) -> "QuestionRatings":
        """Return the `chosen` ratings, (ratings,)."""
        return replace(
            self,
            summaries=self.summaries[chosen],
            raters=self.raters[chosen],
            answers=self.answers[chosen],
        )


class Counted(NamedTuple):
    """The counts of one kind of rows."""

    ratings: int
    summaries: int
    raters: int


@dataclass(frozen=True, eq=False)
class Decisions:
    """The adjudicated and gold answers to one question, one entry for each summary that has one."""

    summaries: Ints
    """(decisions,) place of the summary."""
    numbers: Floats
    """(decisions,) the number of the answer; nan for one that does not count, such as Unsure."""


NO_DECISIONS = Decisions(read_only(np.empty(0, np.int64)), read_only(np.empty(0)))


@dataclass(frozen=True, eq=False)
class HumanRatings:
    """All ratings that count, by question."""

    questions: tuple[QuestionRatings, ...]
    rater_groups: tuple[str, ...]
    """(raters,) the group each rater is in; empty for none."""
    described: str
    """A description of these ratings, after 'Counted are'."""
    guideline: str
    """The questionnaire and its wording, as far as known: a full sentence."""
    decisions: Mapping[str, Decisions] = field(default_factory=dict)
    """Decisions by question key. They are no ratings, and only labels use them."""

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups that raters are in, if they are in more than one."""
        names = sorted({group for group in self.rater_groups if group})
        return tuple(names) if len(names) > 1 else ()

    @property
    def group_choices(self) -> tuple[str, ...]:
        """Return the choices of a group: nothing, `ALL` together, or one of them."""
        return ("", ALL, *self.groups) if self.groups else ("",)

    def described_of(self, group: str) -> str:
        """Return which ratings count, after 'Counted are'."""
        if group in ("", ALL):
            return f"{self.described},{self._together}" if self.groups else self.described
        return f"{self.described}, of the group {group}"

    def raters_of(self, group: str) -> str:
        """Return whose ratings count, to follow 'over'."""
        if group in ("", ALL):
            return f"raters in good standing{self._together}"
        return f"raters of the group {group}"

    @property
    def _together(self) -> str:
        return f" of all groups together ({', '.join(self.groups)})" if self.groups else ""

    def on(self, key: str) -> QuestionRatings:
        """Return the ratings of the question with this key."""
        return next(each for each in self.questions if each.question.key == key)

    def decisions_on(self, key: str) -> Decisions:
        """Return the decisions on the question with this key."""
        return self.decisions.get(key, NO_DECISIONS)

    def counted(self, summaries: Bools, group: str, questions: Collection[str] = ()) -> "Counted":
        """Count the ratings of the chosen `summaries`, (summaries,), by raters of `group`.

        A rating counts if it answers any of the `questions` (keys; none for all).
        """
        asked = [each for each in self.questions if not questions or each.question.key in questions]
        is_rated = np.zeros(len(summaries), dtype=bool)
        n_ratings = n_raters = 0
        # A table of summaries by some raters at a time: far faster than sorting, and small with many raters.
        width = max(1, LARGEST_TABLE // max(len(summaries), 1))
        for first in range(0, len(self.rater_groups), width):
            table = np.zeros((len(summaries), min(width, len(self.rater_groups) - first)), dtype=bool)
            for ratings in asked:
                here = self.of_group(ratings, group)
                if width < len(self.rater_groups):
                    here &= (ratings.raters >= first) & (ratings.raters < first + width)
                table[ratings.summaries[here], ratings.raters[here] - first] = True
            table &= summaries[:, None]
            is_rated |= table.any(axis=1)
            n_ratings += int(np.count_nonzero(table))
            n_raters += int(np.count_nonzero(table.any(axis=0)))
        return Counted(n_ratings, int(np.count_nonzero(is_rated)), n_raters)

    def of_group(self, ratings: QuestionRatings, group: str) -> Bools:
        """Return the ratings by raters of `group`, or all for an empty one or `ALL`, (ratings,)."""
        if group in ("", ALL):
            return np.ones(len(ratings.raters), dtype=bool)
        return np.array([name == group for name in self.rater_groups], dtype=bool)[ratings.raters]


@dataclass(frozen=True, eq=False)
class Labels:
    """Human labels on one dimension, which scores are compared with."""

    key: str
    dimension: str
    title: str
    scale: protocol.Scale
    values: Floats
    """(summaries,) nan where there is no label."""
    definition: str
    rule: str = "mean"
    """The name of the rule by which they were made, of `LABEL_RULES`."""
    warning: str = ""
    """Full sentence on groups of raters that are mixed although they differ, also in the definition."""

    @cached_property
    def order(self) -> Floats:
        """The labels `in_order`, (summaries,), computed once."""
        return in_order(self.values)

    @property
    def is_yes_no(self) -> bool:
        """Return whether labels are means of Yes = 1 and No = 0, as ROC AUC needs."""
        return self.scale.is_yes_no


@dataclass(frozen=True, eq=False)
class Scores:
    """One evaluator's scores on one dimension."""

    values: Floats
    """(summaries,) nan where there is no score."""
    reasons: tuple[str, ...]
    """Reasons for missing scores."""
    why: Ints
    """(summaries,) place of the reason among `reasons`; -1 where there is a score."""

    @cached_property
    def order(self) -> Floats:
        """The scores `in_order`, (summaries,), computed once."""
        return in_order(self.values)

    def has_any(self, chosen: Bools) -> bool:
        """Return whether one of the summaries `chosen`, (summaries,), has a score."""
        return not np.isnan(self.values[chosen]).all()

    def without(self, chosen: Bools, reason: str) -> "Scores":
        """Return the same without the scores of the summaries `chosen`, (summaries,), for this reason."""
        return Scores(
            read_only(np.where(chosen, np.nan, self.values)),
            (*self.reasons, reason),
            read_only(np.where(chosen, len(self.reasons), self.why)),
        )

    def reasons_among(self, chosen: Bools) -> dict[str, int]:
        """Count the `chosen` (summaries,) without a score, by reason."""
        counts = np.bincount(self.why[chosen & (self.why >= 0)], minlength=len(self.reasons))
        return {reason: int(count) for reason, count in zip(self.reasons, counts, strict=True) if count}


@dataclass(frozen=True, eq=False)
class SetupScores:
    """All scores of one setup."""

    key: str
    """Identifies it in addresses: short, unique, the same in every revision."""
    label: str
    signature: str
    fingerprint: str | None
    higher_is_better: bool
    seen: Mapping[str, frozenset[int]]
    """Dimension or EVERY_DIMENSION -> codes of the articles whose labels or texts it has learnt from."""
    scores: Mapping[str, Scores]
    """Scores by dimension."""

    def on(self, dimension: str) -> Scores | None:
        """Return the scores on `dimension`, or else the general ones, or None."""
        return self.scores.get(dimension, self.scores.get(GENERAL))

    def seen_on(self, dimension: str) -> frozenset[int]:
        """Return the codes of the articles that comparisons with labels of `dimension` leave out."""
        return self.seen.get(EVERY_DIMENSION, frozenset()) | self.seen.get(dimension, frozenset())

    @property
    def has_scores(self) -> bool:
        """Return whether there is a score, not only reasons for none."""
        return any(bool((~np.isnan(scores.values)).any()) for scores in self.scores.values())

    def without(self, chosen: Mapping[str, Bools], reason: str) -> "SetupScores":
        """Return the same without scores of chosen summaries, for this reason.

        `chosen` gives them, (summaries,), by dimension or EVERY_DIMENSION, which is that of all dimensions
        not named.
        """
        named = {name: own for name in chosen if (own := self.on(name)) is not None}
        everywhere = chosen.get(EVERY_DIMENSION)
        changed = {
            name: kept.without(left_out, reason)
            for name, kept in {**self.scores, **named}.items()
            if (left_out := chosen.get(name, everywhere)) is not None and left_out.any()
        }
        return replace(self, scores={**self.scores, **changed}) if changed else self

    def scores_on(self, dimension: str) -> Scores:
        """Return the scores on `dimension` or the general ones. Raises KeyError if there are none."""
        scores = self.on(dimension)
        if scores is None:
            raise KeyError(f"{self.label} does not score {dimension}")
        return scores
