"""The coefficients of all evaluators in one data set, with standard errors, and their differences. Pure."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from scipy.special import stdtrit

from metaeval.comparison.comparison import compare
from metaeval.comparison.uncertainty import Column
from metaeval.snapshot.arrays import Labels, SetupScores, Summaries
from metaeval.stats.arrays import Floats
from metaeval.stats.correlation.constant_scores import coefficient_at
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.method import Method
from metaeval.stats.result import Estimate, Interval, NoIntervalError
from metaeval.stats.rows import Rows
from metaeval.stats.uncertainty.bootstrap import JACKKNIFE_GROUPS, Bootstrap
from metaeval.stats.uncertainty.intervals import SHARES
from metaeval.stats.uncertainty.jackknife_interval import OpenScale, jackknife_spread
from metaeval.stats.uncertainty.percentile_interval import TAILS

INTERVAL = (
    "95% jackknife: articles left out in turn, each with all its summaries, in {groups} groups if there are"
    " more, {scale}; Student's t."
)


@dataclass(frozen=True)
class DataSetFigure:
    """One evaluator's coefficient in one data set."""

    key: str
    """The evaluator's key in its project."""
    estimate: Estimate
    effect: float
    """The value on the scale on which data sets are combined; nan without a standard error."""
    error: float
    """Its standard error; nan if there is none."""


@dataclass(frozen=True)
class DataSetDifference:
    """The difference of two evaluators in one data set, above 0 if the first is better."""

    value: float
    error: float
    """The jackknife's standard error; nan if there is none."""
    reason: str
    """The reason why there is none; else empty."""


@dataclass(frozen=True)
class EvaluatorAcross:
    """An evaluator that several projects may have."""

    identity: str
    """The fingerprint, or the label where scores come without one."""
    label: str
    signature: str
    fingerprint: str | None


@dataclass(frozen=True)
class DataSetFigures:
    """All evaluators in one data set."""

    evaluators: Sequence[EvaluatorAcross]
    figures: Mapping[str, DataSetFigure]
    """Figures by the evaluator's identity."""
    differences: Mapping[tuple[str, str], DataSetDifference]
    """Differences by the identities of both, in one of the two orders."""

    def difference(self, first: str, second: str) -> DataSetDifference | None:
        """Return that of the first from the second, or None if one has no value."""
        if (first, second) in self.differences:
            return self.differences[first, second]
        turned = self.differences.get((second, first))
        return turned and DataSetDifference(-turned.value, turned.error, turned.reason)


def measured(
    summaries: Summaries, evaluators: Sequence[SetupScores], labels: Labels, dataset: str, method: Method
) -> DataSetFigures:
    """Return the figures of all evaluators with the labels, of the articles of `dataset`, and differences.

    Of `method` counts what a coefficient depends on. With many evaluators and summaries it takes seconds.
    """
    column = compare(summaries, evaluators, dataset=dataset).column(labels)
    estimates = column.estimates(
        method.level, method.coefficient, range(len(column.evaluators)), constant=method.constant
    )
    resampled = _resampled(method, column.rows)
    return DataSetFigures(
        evaluators=[
            EvaluatorAcross(identity_of(each), each.label, each.signature, each.fingerprint)
            for each in column.evaluators
        ],
        figures={
            identity_of(evaluator): _figure(evaluator, estimate, why_not, without, method.coefficient)
            for evaluator, estimate, why_not, without in zip(
                column.evaluators, estimates, resampled.why_not, resampled.jackknife, strict=True
            )
        },
        differences=_differences(column, method, resampled),
    )


def identity_of(evaluator: SetupScores) -> str:
    """Return what an evaluator is recognised by in every project."""
    return evaluator.fingerprint or evaluator.label


def scale_of(coefficient: str) -> OpenScale:
    """Return the scale on which values of data sets are combined."""
    return OpenScale(0.0 if coefficient in SHARES else -1.0)


def scale_in_words(coefficient: str) -> str:
    """Return that scale, to follow a verb."""
    return "on the scale of log-odds" if coefficient in SHARES else "on Fisher's scale"


def _resampled(method: Method, rows: Rows) -> Bootstrap:
    return Bootstrap("articles", method.level, method.coefficient, rows, constant=method.constant)


def _figure(
    evaluator: SetupScores, estimate: Estimate, why_not: str, without: Floats, coefficient: str
) -> DataSetFigure:
    scale = scale_of(coefficient)
    definition = INTERVAL.format(groups=JACKKNIFE_GROUPS, scale=scale_in_words(coefficient))
    try:
        if estimate.reason or why_not:
            raise NoIntervalError(
                f"the value is undefined: {estimate.reason}" if estimate.reason else why_not
            )
        spread = scale.spread(estimate.value, without)
    except NoIntervalError as error:
        interval, effect, s = Interval(math.nan, math.nan, definition, str(error)), math.nan, math.nan
    else:
        effect, s = spread.middle, spread.error
        half = float(stdtrit(spread.degrees, TAILS[1])) * s
        interval = Interval(scale.value(effect - half), scale.value(effect + half), definition)
    return DataSetFigure(evaluator.key, replace(estimate, interval=interval), effect, s)


def _differences(
    column: Column, method: Method, resampled: Bootstrap
) -> dict[tuple[str, str], DataSetDifference]:
    """Return the difference of every two evaluators; `resampled` are the rows of the column."""
    is_turned = [not each.higher_is_better for each in column.evaluators]
    rows = column.rows
    if any(is_turned):
        rows = rows.with_scores(np.where(np.array(is_turned)[:, None], -rows.scores, rows.scores))
        resampled = _resampled(method, rows)
    values = _values(method, rows)
    is_there = ~np.isnan(rows.scores) & ~np.isnan(rows.labels)
    found = {}
    for pair in combinations(range(len(column.evaluators)), 2):
        first, second = pair
        in_both = is_there[first] & is_there[second]
        if np.array_equal(is_there[first], is_there[second]):
            difference = _difference(values, resampled, first, second)
        elif in_both.any():
            own = rows.with_scores(rows.scores[list(pair)]).at(in_both)
            difference = _difference(_values(method, own), _resampled(method, own), 0, 1)
        else:
            difference = None
        if difference:
            identities = (identity_of(column.evaluators[place]) for place in pair)
            found[next(identities), next(identities)] = difference
    return found


def _values(method: Method, rows: Rows) -> list[float]:
    coefficient = coefficient_at(method.level, method.coefficient, method.constant)
    return [each.value for each in LEVELS[method.level].estimates(coefficient, rows)]


def _difference(
    values: Sequence[float], resampled: Bootstrap, first: int, second: int
) -> DataSetDifference | None:
    """Return the difference of the values at two places; None if one is undefined."""
    value = values[first] - values[second]
    if math.isnan(value):
        return None
    try:
        if why_not := resampled.why_not[first] or resampled.why_not[second]:
            raise NoIntervalError(why_not)
        without = resampled.jackknife[first] - resampled.jackknife[second]
        return DataSetDifference(value, jackknife_spread(value, without, on_fishers_scale=False).error, "")
    except NoIntervalError as error:
        return DataSetDifference(value, math.nan, str(error))
