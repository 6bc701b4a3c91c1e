"""Named systems by people and by each member, with their ranks: a table as ICE's second."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from metaeval.comparison import Comparison
from metaeval.judgements import Labels
from metaeval.refuse_unknown import refuse_unknown
from metaeval.stats.correlation.levels import SYSTEM_MEAN_DECIMALS
from metaeval.systems_report import SystemFigure, label_figures, score_figures
from scoring.families.following import MemberRun

PEOPLE = "People"


@dataclass(frozen=True)
class RankedMean:
    figure: SystemFigure
    rank: int | None
    """1 for the best of the systems shown; equal means share one. None if there is no mean."""


@dataclass(frozen=True)
class NamedSystems:
    dimension: str
    columns: Sequence[str]
    """People, then the members."""
    rows: Sequence[tuple[str, Sequence[RankedMean]]]
    """Name of the system, and its means."""

    def as_json(self) -> list[dict[str, object]]:
        return [
            {"member": column, **mean.figure.as_json(), "rank": mean.rank}
            for name, means in self.rows
            for column, mean in zip(self.columns, means, strict=True)
        ]


def named_systems(
    comparison: Comparison, labels: Labels, members: Mapping[str, MemberRun], named: Sequence[str]
) -> NamedSystems:
    """The means of the systems `named`, of all if none is, on the labels' dimension.

    Raises DomainError for a system that does not exist.
    """
    for name in named:
        refuse_unknown("system", name, comparison.summaries.system_names)
    evaluators = {evaluator.key: evaluator for evaluator in comparison.evaluators}
    by_members = [
        (member.label, score_figures(comparison, labels.dimension, evaluators[key]))
        for key, member in members.items()
    ]
    columns = [(PEOPLE, label_figures(comparison, labels)), *(each for each in by_members if each[1])]
    ranked = [
        _ranked([figure for figure in figures if not named or figure.system in named])
        for _, figures in columns
    ]
    return NamedSystems(
        labels.title,
        [name for name, _ in columns],
        [(means[0].figure.system, means) for means in zip(*ranked, strict=True)],
    )


def _ranked(figures: Sequence[SystemFigure]) -> list[RankedMean]:
    means = [_merit(figure) for figure in figures]
    return [
        RankedMean(figure, None if math.isnan(mean) else 1 + sum(other > mean for other in means))
        for figure, mean in zip(figures, means, strict=True)
    ]


def _merit(figure: SystemFigure) -> float:
    """The mean, rounded as where systems are compared; negated where lower is better."""
    falls = figure.source == "scores" and figure.evaluator and not figure.evaluator.higher_is_better
    return round(figure.estimate.value, SYSTEM_MEAN_DECIMALS) * (-1 if falls else 1)
