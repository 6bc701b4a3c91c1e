"""What people and evaluators said of the same summaries, as arrays. Pure: `snapshot` and `files` fill them.

Every array is read-only. "(summaries,)" and "(ratings,)" give shapes; codes count from 0, -1 is 'not known'.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from annotation import protocol
from metaeval.stats.arrays import Bools, Floats, Ints
from metaeval.stats.ranks import places_among_distinct
from scoring.contract import GENERAL

Kind = TypeVar("Kind", bound=np.generic)

ALL = "all"
"""In place of a language: all languages together."""


def read_only(array: npt.NDArray[Kind]) -> npt.NDArray[Kind]:
    """`array`, which nobody can change any more."""
    array.setflags(write=False)
    return array


def codes(values: Sequence[object], names: Sequence[object]) -> Ints:
    """The place of each value among `names`; raises KeyError for one that is not there."""
    places = {name: place for place, name in enumerate(names)}
    return read_only(np.fromiter((places[value] for value in values), np.int64, len(values)))


def answer_codes(scale: protocol.Scale, answers: Sequence[str]) -> tuple[tuple[str, ...], Ints]:
    """The answers there are, in the scale's order, and the place of each given answer among them.

    On an interval scale 3 and 3.0 are the same answer. Raises KeyError for an answer that is off the scale.
    """
    if scale.kind != protocol.ScaleKind.INTERVAL:
        return scale.choices, codes(answers, scale.choices)
    numbers = [float(answer) for answer in answers]
    found = sorted(set(numbers))
    return tuple(repr(number) for number in found), codes(numbers, found)


def in_order(values: Floats) -> Floats:
    """Whole numbers from 0 in the order of `values`, equal for equal ones; nan where `values` is."""
    known = ~np.isnan(values)
    places = np.full(len(values), np.nan)
    places[known] = places_among_distinct(values[known])
    return read_only(places)


@dataclass(frozen=True, eq=False)
class Summaries:
    """Which article and system each summary is of; all arrays are (summaries,)."""

    articles: Ints
    """Codes into a list of articles that is kept by nobody: only whether two are the same matters."""
    systems: Ints
    languages: Ints
    datasets: Ints
    """-1 where the article names none."""
    system_names: tuple[str, ...]
    language_names: tuple[str, ...]
    dataset_names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.articles)

    def in_language(self, language: str) -> Bools:
        """(summaries,) those of articles in `language`; with `ALL` every one."""
        if language == ALL:
            return np.ones(len(self), dtype=bool)
        return self.languages == self.language_names.index(language)

    def of_dataset(self, dataset: str) -> Bools:
        """(summaries,) those of articles of `dataset`; with `ALL` every one."""
        if dataset == ALL:
            return np.ones(len(self), dtype=bool)
        return self.datasets == self.dataset_names.index(dataset)

    def by_systems(self, names: Collection[str]) -> Bools:
        """(summaries,) those by the systems `names`; with none named every one."""
        if not names:
            return np.ones(len(self), dtype=bool)
        return np.isin(self.systems, [self.system_names.index(name) for name in names])


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
        """(values,) what each answer contributes to a label; nan for one that is left out, such as Unsure."""
        numbers = (self.question.scale.number(value) for value in self.values)
        return np.array([np.nan if number is None else number for number in numbers])


@dataclass(frozen=True, eq=False)
class HumanRatings:
    """All ratings that count, by question."""

    questions: tuple[QuestionRatings, ...]
    rater_groups: tuple[str, ...]
    """(raters,) the group each rater is in; empty for none."""
    described: str
    """Which ratings these are, to follow 'Counted are'."""
    guideline: str
    """Which questions in which wording the raters were shown, as far as it is known: a full sentence."""

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups that raters are in, if they are in more than one."""
        names = sorted({group for group in self.rater_groups if group})
        return tuple(names) if len(names) > 1 else ()

    def of_group(self, ratings: QuestionRatings, group: str) -> Bools:
        """(ratings,) those by raters of `group`; with an empty one all."""
        if not group:
            return np.ones(len(ratings.raters), dtype=bool)
        return np.array([name == group for name in self.rater_groups], dtype=bool)[ratings.raters]


@dataclass(frozen=True, eq=False)
class Labels:
    """Human labels on one dimension: what scores are compared with."""

    key: str
    dimension: str
    title: str
    scale: protocol.Scale
    values: Floats
    """(summaries,) nan where there is no label."""
    definition: str

    @cached_property
    def order(self) -> Floats:
        """(summaries,) `in_order`, once for all that is computed from them."""
        return in_order(self.values)

    @property
    def is_yes_no(self) -> bool:
        """Whether they are means of Yes = 1 and No = 0, so that ROC AUC makes sense."""
        is_nominal = self.scale.kind == protocol.ScaleKind.NOMINAL
        return is_nominal and set((self.scale.numbers or {}).values()) == {0.0, 1.0}


@dataclass(frozen=True, eq=False)
class Scores:
    """One evaluator's scores on one dimension."""

    values: Floats
    """(summaries,) nan where there is no score."""
    reasons: tuple[str, ...]
    """Why there may be none."""
    why: Ints
    """(summaries,) place of the reason among `reasons`; -1 where there is a score."""

    @cached_property
    def order(self) -> Floats:
        """(summaries,) `in_order`, once as long as the scores stay the same."""
        return in_order(self.values)

    def reasons_among(self, chosen: Bools) -> dict[str, int]:
        """Reason -> how many of the `chosen` (summaries,) have no score because of it."""
        counts = np.bincount(self.why[chosen & (self.why >= 0)], minlength=len(self.reasons))
        return {reason: int(count) for reason, count in zip(self.reasons, counts, strict=True) if count}


@dataclass(frozen=True, eq=False)
class Evaluator:
    """One evaluator with one set of parameters, and all it said."""

    key: str
    """Names it in addresses: short, unique, and the same from one revision to the next."""
    label: str
    signature: str
    fingerprint: str | None
    higher_is_better: bool
    seen: frozenset[int]
    """Codes of articles whose labels or text shaped it."""
    scores: Mapping[str, Scores]
    """By dimension."""

    def on(self, dimension: str) -> Scores | None:
        """Its scores to be compared with labels on `dimension`: those on it, else its general ones."""
        return self.scores.get(dimension, self.scores.get(GENERAL))
