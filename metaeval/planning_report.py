"""How many more ratings it takes until a figure is as sure as one wishes, or two are told apart."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metaeval.comparison import GUARD, Comparison
from metaeval.judgements import Evaluator, HumanRatings, Labels, QuestionRatings
from metaeval.stats.labels.planning import BEYOND_REACH, Plan, plan_difference, plan_width
from metaeval.stats.result import or_none

REACHED, MORE, BEYOND, UNDEFINED = "reached already", "more needed", "beyond reach", "undefined"


@dataclass(frozen=True)
class PlanFigure:
    """What one figure takes, or the difference of two."""

    evaluator: Evaluator
    against: Evaluator | None
    """The other one of a difference."""
    labels: Labels
    level: str
    coefficient: str
    wished: float | None
    """Half the width of the interval that is wished; None for a difference."""
    plan: Plan
    ratings: int
    """Those behind the labels of the summaries that the figure stands on now."""
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
        """Labelled summaries that it takes, and the range; inf for beyond reach."""
        return self._of_articles(self.plan.summaries)

    @property
    def all_ratings(self) -> tuple[float, float, float]:
        """Ratings that it takes, with as many of each summary as now, and the range; inf for beyond reach."""
        return self._of_articles(self.ratings)

    @property
    def more_ratings(self) -> float:
        """Those that are to come; inf for beyond reach."""
        return self.all_ratings[0] - self.ratings

    @property
    def definitions(self) -> tuple[str, ...]:
        return (
            self.plan.definition,
            "Summaries and ratings are counted up from articles as they are now: with as many labelled"
            f" summaries of each, and as many ratings of each. Beyond {BEYOND_REACH} times what there is, no"
            " number is told.",
            self.labels.definition,
            GUARD,
        )

    def as_json(self) -> dict[str, object]:
        """The row that page and export show; `reason` says why there is no plan."""
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
            "wished": self.wished,
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

    def _of_articles(self, now: int) -> tuple[float, float, float]:
        plan = self.plan
        each = now / plan.articles if plan.articles else math.nan
        low, high = plan.wanted_low, plan.wanted_high
        return _whole(plan.wanted * each), _whole(low * each), _whole(high * each)


def width_plans(
    comparison: Comparison,
    human: HumanRatings,
    labels: Sequence[Labels],
    evaluator: Evaluator,
    *,
    level: str,
    coefficient: str,
    wished: float,
    group: str = "",
) -> list[PlanFigure]:
    """Until half the interval of the evaluator's figure is `wished`, on each dimension that it scores."""
    figures = []
    for each in labels:
        arrays = _arrays(comparison, each, [evaluator])
        if arrays is not None:
            plan = plan_width(level, coefficient, *arrays, wished=wished, yes_no=each.is_yes_no)
            ratings = _ratings(comparison, human, each, [evaluator], group)
            figures.append(
                PlanFigure(evaluator, None, each, level, coefficient, wished, plan, ratings, comparison.seen)
            )
    return figures


def difference_plans(
    comparison: Comparison,
    human: HumanRatings,
    labels: Sequence[Labels],
    evaluator: Evaluator,
    against: Evaluator,
    *,
    level: str,
    coefficient: str,
    group: str = "",
) -> list[PlanFigure]:
    """Until the difference of the two is resolved, on each dimension that both score."""
    figures = []
    for each in labels:
        arrays = _arrays(comparison, each, [evaluator, against])
        if arrays is not None:
            plan = plan_difference(level, coefficient, *arrays, yes_no=each.is_yes_no)
            ratings = _ratings(comparison, human, each, [evaluator, against], group)
            figures.append(
                PlanFigure(evaluator, against, each, level, coefficient, None, plan, ratings, comparison.seen)
            )
    return figures


def _arrays(
    comparison: Comparison, labels: Labels, evaluators: Sequence[Evaluator]
) -> list[npt.ArrayLike] | None:
    """Of the summaries that count: labels, the scores of each evaluator, articles and systems.

    None if one of the evaluators says nothing on the labels' dimension.
    """
    scores = [each.on(labels.dimension) for each in evaluators]
    given = [each.values[comparison.counted] for each in scores if each is not None]
    if len(given) < len(scores):
        return None
    return [
        labels.values[comparison.counted],
        *given,
        comparison.summaries.articles[comparison.counted],
        comparison.summaries.systems[comparison.counted],
    ]


def _ratings(
    comparison: Comparison,
    human: HumanRatings,
    labels: Labels,
    evaluators: Sequence[Evaluator],
    group: str,
) -> int:
    """How many ratings made the labels of the summaries that all `evaluators` have scored."""
    stood_on = comparison.counted & ~np.isnan(labels.values) & (comparison.summaries.articles >= 0)
    for evaluator in evaluators:
        scores = evaluator.on(labels.dimension)
        if scores is not None:
            stood_on &= ~np.isnan(scores.values)
    given: QuestionRatings = next(each for each in human.questions if each.question.key == labels.key)
    counted = human.of_group(given, group) & ~np.isnan(given.numbers[given.answers])
    return int((counted & stood_on[given.summaries]).sum())


def _whole(number: float) -> float:
    """Rounded up, but for what rounding has made of a whole number."""
    return float(math.ceil(number - 1e-9)) if math.isfinite(number) else number
