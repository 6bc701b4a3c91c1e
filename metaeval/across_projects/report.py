"""Evaluators by data set, with their means over data sets. Pure."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from metaeval.across_projects.data_set_figures import (
    DataSetFigure,
    DataSetFigures,
    EvaluatorAcross,
    scale_in_words,
    scale_of,
)
from metaeval.comparison.comparison import GUARD, units_of
from metaeval.comparison.uncertainty import SIGNIFICANT
from metaeval.stats.arrays import Floats, Ints
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.method import Method
from metaeval.stats.result import Interval, Result, or_none, reasons, value_and_ends
from metaeval.stats.significance.corrections import corrected_pairs
from metaeval.stats.significance.rank_clusters import rank_clusters, tested_with_each_other
from metaeval.stats.uncertainty.jackknife_interval import OpenScale
from metaeval.stats.uncertainty.random_effects import FEWEST_TO_PREDICT, RandomEffects, random_effects

MEAN = "mean"
"""The data set that rows of means name."""
FEWER_THAN_TWO = "fewer than two data sets"
NO_SCORES = "not scored by this evaluator"
NOT_SCORED = "data sets without its scores"
UNDEFINED = "data sets in which it is undefined"
OF_MEAN = (
    "Mean: that of random effects, {scale}. It weighs each data set by its own variance and the variance τ²"
    " between data sets (Paule & Mandel); its 95% interval is that of Student's t with one degree less than"
    " data sets (Hartung & Knapp). Prediction: the 95% interval for the true value in one more data set of"
    " the kind. I²: the share of a typical value's variance that is due to differences between data sets"
    " (Higgins & Thompson). A mean needs the standard error of every data set with a value: leaving out"
    " those without one would favour some values."
)
OF_LETTERS = (
    "Letters: evaluators that share one do not differ significantly. The differences of each two, on the"
    " summaries that both have scored, have a random-effects mean of their own over data sets. Its p-values"
    " are corrected for all pairs by Holm; below .05 the difference is significant."
)
OF_SYSTEMS = (
    "Each data set's systems are taken as given: intervals are for other articles by the same systems, and"
    " differing systems count towards τ²."
)


@dataclass(frozen=True)
class DataSet:
    """A project, or one dataset of it, with the question that counts there."""

    name: str
    slug: str
    """The project's."""
    question: str
    """The question's key."""
    labels: str
    """The definition of its labels, in full sentences."""
    label_warning: str = ""
    """Warning that its labels mix groups of raters that differ; else empty."""


@dataclass(frozen=True, kw_only=True)
class MeanFigure(Result):
    """One evaluator's mean over data sets."""

    data_sets: int
    """Data sets with a value."""
    effects: RandomEffects | None
    """The mean and its spread on the scale on which data sets are combined; None without a mean."""
    predicted: Interval | None
    """The 95% prediction interval; None without a mean."""


@dataclass(frozen=True)
class PairOfMeans:
    """The mean difference of one evaluator from another."""

    other: str
    """The other's label."""
    difference: float
    """The mean over data sets, above 0 if the first is better; nan if undefined."""
    p_value: float
    """Corrected; nan if there is none."""
    data_sets: int
    reason: str
    """The reason why there is no p-value; else empty."""

    def as_json(self) -> dict[str, object]:
        """Return the fields of a row."""
        return {
            "other": self.other,
            "difference": or_none(self.difference),
            "p_value": or_none(self.p_value),
            "significant": self.p_value < SIGNIFICANT,
            "units": self.data_sets,
            "reason": self.reason,
        }


@dataclass(frozen=True)
class AcrossRow:
    """One evaluator in every data set."""

    evaluator: EvaluatorAcross
    figures: Sequence[DataSetFigure | None]
    """(data sets,) None where it has no scores, or where they are still being computed."""
    mean: MeanFigure
    cluster: str = ""
    """Letters. Evaluators that share one do not differ significantly."""
    pairs: Sequence[PairOfMeans] = ()


@dataclass(frozen=True)
class AcrossTable:
    """Evaluators by data set, with a mean over data sets."""

    dimension: str
    data_sets: Sequence[DataSet]
    rows: Sequence[AcrossRow]
    method: Method
    why_no_letters: str
    """The reason why there are no letters; else empty."""

    @property
    def definitions(self) -> list[str]:
        """Return the definitions of the mean and of the letters, in full sentences."""
        of_systems = [OF_SYSTEMS] if self.method.level == "system" else []
        return [OF_MEAN.format(scale=scale_in_words(self.method.coefficient)), *of_systems, OF_LETTERS]

    def as_json(self) -> list[dict[str, object]]:
        """Return a row for each figure, then one for the mean, evaluator by evaluator."""
        return [
            row
            for each in self.rows
            for row in (
                *(
                    self._figure_as_json(each.evaluator, data_set, figure)
                    for data_set, figure in zip(self.data_sets, each.figures, strict=True)
                ),
                self._mean_as_json(each),
            )
        ]

    def _named(self, evaluator: EvaluatorAcross, data_set: str) -> dict[str, object]:
        return {
            "evaluator": evaluator.label,
            "fingerprint": evaluator.fingerprint,
            "dimension": self.dimension,
            "data_set": data_set,
            "level": self.method.level,
            "coefficient": self.method.coefficient,
        }

    def _figure_as_json(
        self, evaluator: EvaluatorAcross, data_set: DataSet, figure: DataSetFigure | None
    ) -> dict[str, object]:
        row = self._named(evaluator, data_set.name) | {
            "project": data_set.slug,
            "question": data_set.question,
        }
        if figure is None:
            none = dict.fromkeys(("n", "articles", "systems", "units"), 0)
            unit = {"unit": LEVELS[self.method.level].units, "left_out": {}, "definition": GUARD}
            return row | value_and_ends(math.nan, None) | none | unit | {"reason": NO_SCORES}
        estimate = figure.estimate
        interval = estimate.interval
        of_interval = [interval.definition] if interval else []
        definitions = (estimate.definition, *of_interval, data_set.labels, GUARD)
        return {
            **row,
            **value_and_ends(estimate.value, interval),
            "n": estimate.n,
            "articles": estimate.articles,
            "systems": estimate.systems,
            "units": units_of(self.method.level, estimate),
            "unit": LEVELS[self.method.level].units,
            "left_out": dict(estimate.left_out),
            "definition": " ".join(definitions),
            **({"counted_as_zero": dict(estimate.counted_as_zero)} if estimate.counted_as_zero else {}),
            **({"warning": data_set.label_warning} if data_set.label_warning else {}),
            **reasons(estimate.reason, interval),
        }

    def _mean_as_json(self, row: AcrossRow) -> dict[str, object]:
        mean, effects = row.mean, row.mean.effects
        predicted = mean.predicted
        spread = {
            "predicted_low": or_none(predicted.low) if predicted else None,
            "predicted_high": or_none(predicted.high) if predicted else None,
            "tau_squared": effects.tau_squared if effects else None,
            "i_squared": effects.i_squared if effects else None,
            "q": effects.q if effects else None,
            "heterogeneity_p": effects.heterogeneity_p if effects else None,
        }
        return {
            **self._named(row.evaluator, MEAN),
            **value_and_ends(mean.value, mean.interval),
            "n": mean.data_sets,
            "units": mean.data_sets,
            "unit": "data sets",
            **spread,
            "left_out": dict(mean.left_out),
            "definition": " ".join(self.definitions),
            **({"cluster": row.cluster} if row.cluster else {}),
            **({"why_no_letters": self.why_no_letters} if self.why_no_letters else {}),
            **({"differences": [pair.as_json() for pair in row.pairs]} if row.pairs else {}),
            **reasons(mean.reason, mean.interval),
        }


def across_table(
    dimension: str, data_sets: Sequence[DataSet], found: Sequence[DataSetFigures | None], method: Method
) -> AcrossTable:
    """Return the table of the data sets' figures; None stands for those still being computed.

    Means and letters wait until all are there.
    """
    named = {each.identity: each for figures in found if figures for each in reversed(figures.evaluators)}
    evaluators = sorted(named.values(), key=lambda each: (each.label, each.identity))
    complete = [figures for figures in found if figures]
    rows = [
        AcrossRow(
            evaluator,
            [figures.figures.get(evaluator.identity) if figures else None for figures in found],
            _mean(evaluator.identity, data_sets, found, method),
        )
        for evaluator in evaluators
    ]
    if len(complete) < len(found) or len(evaluators) < 2:
        return AcrossTable(dimension, data_sets, rows, method, "")
    tests = _tests([each.identity for each in evaluators], complete)
    ranked = np.array([place for place, row in enumerate(rows) if not row.mean.reason], dtype=np.int64)
    tested = tested_with_each_other(tests.p_values, ranked)
    ranks = np.nan_to_num(tests.differences[:, tested]).sum(axis=1)
    letters = rank_clusters(ranks[tested], tests.p_values[np.ix_(tested, tested)] < SIGNIFICANT)
    clusters = dict(zip(tested.tolist(), letters, strict=True))
    return AcrossTable(
        dimension,
        data_sets,
        [
            replace(row, cluster=clusters.get(place, ""), pairs=_pairs(evaluators, tests, place))
            for place, row in enumerate(rows)
        ],
        method,
        _why_no_letters(tests, ranked, tested),
    )


def _mean(
    identity: str, data_sets: Sequence[DataSet], found: Sequence[DataSetFigures | None], method: Method
) -> MeanFigure:
    scale, definition = scale_of(method.coefficient), OF_MEAN.format(scale=scale_in_words(method.coefficient))
    given = [
        (each, figures.figures.get(identity))
        for each, figures in zip(data_sets, found, strict=True)
        if figures
    ]
    valued = [(each, figure) for each, figure in given if figure and not figure.estimate.reason]
    left_out = {
        NOT_SCORED: sum(figure is None for _, figure in given),
        UNDEFINED: sum(bool(figure and figure.estimate.reason) for _, figure in given),
    }
    told: dict[str, Any] = {
        "definition": definition,
        "left_out": {why: count for why, count in left_out.items() if count},
        "data_sets": len(valued),
    }
    without = [
        f"{each.name}: {figure.estimate.interval.reason}"
        for each, figure in valued
        if figure.estimate.interval and math.isnan(figure.error)
    ]
    reason = ""
    if len(given) < len(found):
        reason = "some data sets are still being computed"
    elif len(valued) < 2:
        reason = FEWER_THAN_TWO
    elif without:
        reason = f"no standard error in {'; '.join(without)}"
    if reason:
        return MeanFigure(value=math.nan, reason=reason, effects=None, predicted=None, **told)
    effects = random_effects([each.effect for _, each in valued], [each.error for _, each in valued])
    return MeanFigure(
        value=scale.value(effects.mean),
        interval=Interval(scale.value(effects.low), scale.value(effects.high), definition),
        effects=effects,
        predicted=_predicted(effects, scale, definition),
        **told,
    )


def _predicted(effects: RandomEffects, scale: OpenScale, definition: str) -> Interval:
    if math.isnan(effects.lowest):
        why_not = f"fewer than {FEWEST_TO_PREDICT} data sets"
        return Interval(math.nan, math.nan, definition, why_not)
    return Interval(scale.value(effects.lowest), scale.value(effects.highest), definition)


class _Tests(NamedTuple):
    """Mean differences of all pairs; arrays are (evaluators, evaluators)."""

    differences: Floats
    p_values: Floats
    """Corrected; nan where there is none."""
    data_sets: Ints
    reasons: Mapping[tuple[int, int], str]


def _tests(identities: Sequence[str], found: Sequence[DataSetFigures]) -> _Tests:
    shape = (len(identities), len(identities))
    differences, p_values = np.full(shape, np.nan), np.full(shape, np.nan)
    data_sets, why_not = np.zeros(shape, dtype=np.int64), {}
    for first, second in combinations(range(len(identities)), 2):
        both = [each.difference(identities[first], identities[second]) for each in found]
        there = [each for each in both if each]
        data_sets[first, second] = data_sets[second, first] = len(there)
        reason = next((each.reason for each in there if each.reason), "")
        if len(there) < 2:
            reason = FEWER_THAN_TWO
        if reason:
            why_not[first, second] = why_not[second, first] = reason
            continue
        effects = random_effects([each.value for each in there], [each.error for each in there])
        differences[first, second], differences[second, first] = effects.mean, -effects.mean
        p_values[first, second] = p_values[second, first] = effects.p_value
    return _Tests(differences, corrected_pairs(p_values, "holm"), data_sets, why_not)


def _pairs(evaluators: Sequence[EvaluatorAcross], tests: _Tests, place: int) -> list[PairOfMeans]:
    return [
        PairOfMeans(
            other.label,
            float(tests.differences[place, at]),
            float(tests.p_values[place, at]),
            int(tests.data_sets[place, at]),
            tests.reasons.get((place, at), ""),
        )
        for at, other in enumerate(evaluators)
        if at != place
    ]


def _why_no_letters(tests: _Tests, ranked: Ints, tested: Ints) -> str:
    """Say why some of the `ranked` evaluators have no letters; empty if all have."""
    if len(tested) == len(ranked):
        return ""
    among = set(ranked.tolist())
    found = (reason for pair, reason in tests.reasons.items() if among.issuperset(pair))
    return "; ".join(dict.fromkeys(found))
