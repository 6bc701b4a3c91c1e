"""Systems ranked by people and by each member, as in Table 2 of Jain et al. (2023)."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from metaeval.comparison.comparison import Comparison
from metaeval.experiments.following import MemberRun
from metaeval.snapshot.arrays import Labels, SetupScores, read_only
from metaeval.stats.arrays import Bools
from metaeval.stats.check_choice import check_choice
from metaeval.stats.correlation.levels import SYSTEM_MEAN_DECIMALS
from metaeval.systems.report import SystemFigure, label_figures, score_figures

PEOPLE = "People"
COMMON = "Only summaries that every member has scored on this dimension count."


@dataclass(frozen=True)
class RankedMean:
    figure: SystemFigure
    rank: int | None
    """1 is best; equal means share a rank. None without a mean."""


@dataclass(frozen=True)
class NamedSystems:
    dimension: str
    columns: Sequence[str]
    """People, then the members."""
    rows: Sequence[tuple[str, Sequence[RankedMean]]]
    """Name and means of each system."""

    def as_json(self) -> list[dict[str, object]]:
        return [
            {"member": column, **mean.figure.as_json(), "rank": mean.rank}
            for name, means in self.rows
            for column, mean in zip(self.columns, means, strict=True)
        ]


def named_systems(
    comparison: Comparison,
    labels: Labels,
    members: Mapping[str, MemberRun],
    named: Sequence[str],
    items: str = "own",
    *,
    at_every_look: bool = False,
) -> NamedSystems:
    """Return the means of the systems `named` (none for all) on the labels' dimension.

    `items` is one of `ITEMS`: with "common", only summaries that every member has scored count. Raises
    DomainError for an unknown system.
    """
    for name in named:
        check_choice("system", name, comparison.summaries.system_names)
    there = {
        evaluator.key: evaluator
        for evaluator in comparison.evaluators
        if evaluator.on(labels.dimension) is not None
    }
    if items == "common":
        kept = _scored_by_all(comparison, labels.dimension, there.values())
        labels = replace(labels, values=read_only(np.where(kept, labels.values, np.nan)))
        there = {key: _only(evaluator, labels.dimension, kept) for key, evaluator in there.items()}
    columns = [
        (PEOPLE, label_figures(comparison, labels, at_every_look=at_every_look)),
        *(
            (member.label, score_figures(comparison, labels.dimension, there[key]))
            for key, member in members.items()
            if key in there
        ),
    ]
    said = (COMMON,) if items == "common" else ()
    ranked = [
        _ranked(
            [
                replace(figure, definitions=(*figure.definitions, *said))
                for figure in figures
                if not named or figure.system in named
            ]
        )
        for _, figures in columns
    ]
    return NamedSystems(
        labels.title,
        [name for name, _ in columns],
        [(means[0].figure.system, means) for means in zip(*ranked, strict=True)],
    )


def _scored_by_all(comparison: Comparison, dimension: str, evaluators: Iterable[SetupScores]) -> Bools:
    """Return (summaries,) whether every evaluator has scored the summary."""
    kept = np.ones(len(comparison.summaries), dtype=bool)
    for evaluator in evaluators:
        if (scores := evaluator.on(dimension)) is not None:
            kept &= ~np.isnan(scores.values)
    return kept


def _only(evaluator: SetupScores, dimension: str, kept: Bools) -> SetupScores:
    """Return the evaluator with its scores of the summaries `kept` on one dimension."""
    scores = evaluator.scores_on(dimension)
    values = read_only(np.where(kept, scores.values, np.nan))
    return replace(evaluator, scores={dimension: replace(scores, values=values)})


def _ranked(figures: Sequence[SystemFigure]) -> list[RankedMean]:
    means = [_merit(figure) for figure in figures]
    return [
        RankedMean(figure, None if math.isnan(mean) else 1 + sum(other > mean for other in means))
        for figure, mean in zip(figures, means, strict=True)
    ]


def _merit(figure: SystemFigure) -> float:
    """Return the rounded mean, negated if lower is better."""
    falls = figure.source == "scores" and figure.evaluator and not figure.evaluator.higher_is_better
    return round(figure.estimate.value, SYSTEM_MEAN_DECIMALS) * (-1 if falls else 1)
