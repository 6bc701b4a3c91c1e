"""The number of ratings needed to reach a target interval or to detect a difference."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from metaeval.comparison.comparison import GUARD, Comparison
from metaeval.snapshot.arrays import HumanRatings, Labels, SetupScores
from metaeval.stats.labels.planning import BEYOND_REACH, Plan, plan_difference, plan_width
from metaeval.stats.method import Method
from metaeval.stats.result import or_none
from metaeval.stats.rows import Rows

REACHED, MORE, BEYOND, UNDEFINED = "reached", "more needed", "beyond reach", "undefined"
NEEDED, ADDITIONAL = "Summaries needed", "Additional ratings"
"""Titles of columns."""


@dataclass(frozen=True)
class PlanFigure:
    """The plan for one figure, or for the difference of two."""

    evaluator: SetupScores
    against: SetupScores | None
    """The other evaluator of a difference."""
    labels: Labels
    level: str
    coefficient: str
    target: float | None
    """Half the width of the target interval; None for a difference."""
    plan: Plan
    ratings: int
    """Current ratings behind the figure."""
    left_out: dict[str, int]
    """Reason -> articles left out because they were seen."""

    @property
    def status(self) -> str:
        if self.plan.reason:
            return UNDEFINED
        if self.plan.is_reached:
            return REACHED
        return BEYOND if math.isinf(self.plan.wanted) else MORE

    @property
    def summaries(self) -> tuple[float, float, float]:
        """The labelled summaries needed, and the range; inf beyond reach."""
        return self._of_articles(self.plan.summaries)

    @property
    def all_ratings(self) -> tuple[float, float, float]:
        """The ratings needed at the current number per summary, and the range; inf beyond reach."""
        return self._of_articles(self.ratings)

    @property
    def more_ratings(self) -> float:
        """The ratings still missing; inf beyond reach."""
        return self.all_ratings[0] - self.ratings

    @property
    def definitions(self) -> tuple[str, ...]:
        return (
            self.plan.definition,
            "Summaries and ratings are extrapolated from articles, at the current number of labelled"
            f" summaries per article and ratings per summary. No number is given beyond {BEYOND_REACH} times"
            " the current articles.",
            self.labels.definition,
            GUARD,
        )

    def as_json(self) -> dict[str, object]:
        """Return the row of a file, with `reason` if there is no plan."""
        plan = self.plan
        row: dict[str, object] = {
            "evaluator": self.evaluator.label,
            "fingerprint": self.evaluator.fingerprint,
            "against": self.against.label if self.against else "",
            "dimension": self.labels.dimension,
            "level": self.level,
            "coefficient": self.coefficient,
            "value": or_none(plan.value),
            "half_width": or_none(plan.half_width),
            "target": self.target,
            "status": self.status,
            "articles": plan.articles,
            "summaries": plan.summaries,
            "ratings": self.ratings,
        }
        for name, ends in (
            ("articles", (plan.wanted, plan.wanted_low, plan.wanted_high)),
            ("summaries", self.summaries),
            ("ratings", self.all_ratings),
        ):
            for end, number in zip(("", "_low", "_high"), ends, strict=True):
                row[f"{name}_wanted{end}"] = int(number) if math.isfinite(number) else None
        row["left_out"] = dict(self.left_out)
        row["definition"] = " ".join(self.definitions)
        if plan.reason:
            row["reason"] = plan.reason
        return row

    @property
    def heading(self) -> str:
        """The heading of the tables that the plan belongs to."""
        if self.against:
            return f"{self.evaluator.label} compared with {self.against.label}"
        return f"{self.evaluator.label}, interval of ± {self.target:g}"

    def cells(self) -> Iterator[dict[str, object]]:
        """Yield the row of each cell of a printed table: the value, half its interval, and the needs."""
        row = self.as_json()
        named = {**row, "table": self.heading}
        yield {**named, "what": "Value"}
        if self.status == UNDEFINED:
            return
        wanted, low, high = self.summaries
        yield {**named, "what": "±", "value": row["half_width"]}
        if self.status == MORE:
            yield {**named, "what": NEEDED, "value": int(wanted), "low": low, "high": high}
            yield {**named, "what": ADDITIONAL, "value": int(self.more_ratings)}
        else:
            yield {**named, "what": NEEDED, "value": None, "shown": self.status}

    def _of_articles(self, now: int) -> tuple[float, float, float]:
        plan = self.plan
        each = now / plan.articles if plan.articles else math.nan
        low, high = plan.wanted_low, plan.wanted_high
        return _whole(plan.wanted * each), _whole(low * each), _whole(high * each)


def plan_figures(
    comparison: Comparison,
    human: HumanRatings,
    labels: Sequence[Labels],
    evaluator: SetupScores,
    against: SetupScores | None = None,
    *,
    level: str,
    coefficient: str,
    constant: str = Method.constant,
    target: float | None = None,
    group: str = "",
    at_every_look: bool = False,
) -> list[PlanFigure]:
    """Return the plan for each dimension that the evaluator, and `against` if given, score.

    It is for a significant difference from `against`, or without that for an interval of ± `target`;
    `at_every_look` says which kind of interval.
    """
    found = []
    pair = [evaluator, against] if against else [evaluator]
    for each, rows, ratings in _scored(comparison, human, labels, pair, group):
        if target is None:
            plan = plan_difference(level, coefficient, rows, constant=constant, at_every_look=at_every_look)
        else:
            own = rows.each[0]
            plan = plan_width(
                level, coefficient, own, target=target, constant=constant, at_every_look=at_every_look
            )
        left_out = comparison.why_seen(pair, each.dimension)
        found.append(
            PlanFigure(evaluator, against, each, level, coefficient, target, plan, ratings, left_out)
        )
    return found


def _scored(
    comparison: Comparison,
    human: HumanRatings,
    labels: Sequence[Labels],
    evaluators: Sequence[SetupScores],
    group: str,
) -> Iterator[tuple[Labels, Rows, int]]:
    """Yield the summaries and the number of ratings on each dimension that all `evaluators` score."""
    counted = comparison.counted
    for each in labels:
        scores = [scored for own in evaluators if (scored := own.on(each.dimension)) is not None]
        if len(scores) < len(evaluators):
            continue
        values = np.array([scored.values for scored in scores])
        labelled = counted & ~np.isnan(each.values) & (comparison.summaries.articles >= 0)
        used = labelled & ~np.isnan(values).any(axis=0)
        given = human.on(each.key)
        rated = human.of_group(given, group) & ~np.isnan(given.numbers[given.answers])
        rows = comparison.summaries.rows(counted, each, values[:, counted])
        yield each, rows, int((rated & used[given.summaries]).sum())


def _whole(number: float) -> float:
    """Round up, except for floating-point noise above an integer."""
    return float(math.ceil(number - 1e-9)) if math.isfinite(number) else number
