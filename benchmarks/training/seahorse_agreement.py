"""How trained SEAHORSE metrics and what they are compared with agree with people, with intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise

import numpy as np

from benchmarks.training.seahorse_models import FOLDS, fold_of
from benchmarks.training.seahorse_questions import Questions
from metaeval.learning_curves.statistics import CurveRows, CurveStatistics, curve_statistics
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.method import Method
from metaeval.stats.result import Estimate
from metaeval.stats.rows import Resampling, Rows
from metaeval.stats.uncertainty.intervals import intervals

LEVEL, INTERVAL = "pooled", "bootstrap_articles"
RESAMPLING = Resampling(1000)
COLUMNS = {"pearson": "Pearson's r", "roc_auc": "ROC AUC"}
HEADER = [*(cell for name in COLUMNS.values() for cell in (name, "seeds")), "ROC AUC within parts"]
"""The cells of `Agreement`: for each coefficient its value with interval, and the range over seeds."""
EXPLAINED = (
    "The coefficients are pooled over all summaries; with several networks, which differ in their seeds, "
    "each is the mean over them. Brackets show the 95% percentile interval of "
    f"{RESAMPLING.resamples:,} resamples of articles, in which networks are drawn too. Seeds: the lowest and "
    "the highest network. One rater: each rating of a summary compared with the yes or no by the mean of the "
    "summary's other ratings, the mean over raters. The labels of the other rows have one rating more."
)
WITHIN_PARTS = (
    "A model that has learnt only how many answers are yes scores a part of the articles the lower, the more "
    "yes it holds: they are missing where it learns. Pooled over the models, its values fall below chance. "
    f"So the last column has the ROC AUC within each of the {FOLDS} parts, the mean over parts."
)


@dataclass(frozen=True, eq=False)
class Agreement:
    """Agreement with the answers to one question; `groups` are trained networks, one or more each."""

    questions: Questions
    name: str
    groups: Sequence[Sequence[np.ndarray]]
    """Each network's scores (summaries,)."""
    others: Sequence[np.ndarray]

    @cached_property
    def found(self) -> dict[str, CurveStatistics]:
        """The estimates by coefficient."""
        return {each: curve_statistics(self._data, self.method(each)) for each in COLUMNS}

    @staticmethod
    def method(coefficient: str) -> Method:
        return Method(
            level=LEVEL,
            coefficient=coefficient,
            resamples=RESAMPLING.resamples,
            seed=RESAMPLING.seed,
        )

    @property
    def rows(self) -> Rows:
        return self._data.rows

    def of_group(self, place: int) -> list[str]:
        """Return the cells of a group, one for each of HEADER."""
        own = self._data.shares[place]
        cells = []
        for each in self.found.values():
            values = [each.models[network].value for network in own]
            cells += [in_cell(each.shares[place]), f"{min(values):.3f} to {max(values):.3f}"]
        return [*cells, shown(float(np.mean([self._within_parts(network) for network in own])))]

    def of_other(self, place: int) -> list[str]:
        """Return the same of an evaluator without training."""
        cells = [cell for each in self.found.values() for cell in (in_cell(each.others[place]), "")]
        return [*cells, shown(self._within_parts(self._data.others[place]))]

    def of_rater(self) -> list[str]:
        """Return the same of one rater."""
        return [*(cell for each in self.found.values() for cell in (in_cell(each.rater), "")), ""]

    def _within_parts(self, evaluator: int) -> float:
        coefficient, rows = COEFFICIENTS["roc_auc"], self.rows.with_scores(self.rows.scores[evaluator])
        parts = [rows.at(self._folds == fold) for fold in range(FOLDS)]
        return float(np.mean([LEVELS[LEVEL].estimate(coefficient, part).value for part in parts]))

    @cached_property
    def _common(self) -> np.ndarray:
        """The summaries that all have scored, (summaries,)."""
        return ~np.isnan([*chain(*self.groups), *self.others]).any(axis=0)

    @property
    def _folds(self) -> np.ndarray:
        return np.array([fold_of(each) for each in self.questions.items])[self._common]

    @cached_property
    def _data(self) -> CurveRows:
        scores = np.array([*chain(*self.groups), *self.others])
        ends = np.cumsum([0, *map(len, self.groups)])
        return CurveRows(
            rows_of(self.questions, self.name, scores).at(self._common),
            [np.arange(*ends_of) for ends_of in pairwise(ends.tolist())],
            list(range(int(ends[-1]), len(scores))),
            rater_turns(self.questions, self.name, scores, self._common),
        )


def rows_of(questions: Questions, name: str, scores: np.ndarray) -> Rows:
    """Return the rows of evaluators whose `scores` [evaluators, summaries] answer the question."""
    unknown = np.full(len(questions.items), -1)
    return Rows(questions.labels(name), scores, questions.articles, unknown, yes_no=True)


def rater_turns(questions: Questions, name: str, scores: np.ndarray, counted: np.ndarray) -> list[Rows]:
    """Return for each turn a rating of each summary, and `scores` [evaluators, summaries], as scores.

    Labels are yes where the mean of the summary's other ratings counts as yes; only `counted` summaries.
    """
    ratings, articles = questions.ratings.get(name, ()), questions.articles
    found = []
    for turn in range(max(map(len, ratings), default=0)):
        places = [place for place, each in enumerate(ratings) if counted[place] and len(each) > max(turn, 1)]
        others = [np.mean(np.delete(ratings[place], turn)) for place in places]
        own = [ratings[place][turn] for place in places]
        found.append(
            Rows(
                (np.array(others) >= questions.yes_from[name]).astype(float),
                np.vstack([own, scores[:, places]]),
                articles[places],
                np.full(len(places), -1),
                yes_no=True,
            )
        )
    return found


def cells(rows: Rows) -> list[list[str]]:
    """Return the cells of each evaluator, one for each of COLUMNS: its value and interval."""
    columns = []
    for coefficient in COLUMNS:
        ranges = intervals(INTERVAL, LEVEL, coefficient, rows, RESAMPLING)
        values = [LEVELS[LEVEL].estimate(COEFFICIENTS[coefficient], own).value for own in rows.each]
        columns.append(
            [shown(value, each.low, each.high) for value, each in zip(values, ranges, strict=True)]
        )
    return [list(each) for each in zip(*columns, strict=True)]


def in_cell(estimate: Estimate) -> str:
    interval = estimate.interval
    return shown(estimate.value, *((interval.low, interval.high) if interval else ()))


def shown(value: float, low: float = np.nan, high: float = np.nan) -> str:
    if np.isnan(value):
        return "undefined"
    return f"{value:.3f}" + ("" if np.isnan(low) else f" [{low:.3f}, {high:.3f}]")


def table(first: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table with these first columns before HEADER's."""
    header = [*first, *HEADER]
    return [
        f"| {' | '.join(header)} |",
        "|" + " --- |" * len(header),
        *(f"| {' | '.join(row)} |" for row in rows),
    ]
