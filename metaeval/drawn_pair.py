"""One evaluator on one dimension: what stands behind the figure that a reader chose."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

import numpy as np
from django.utils.safestring import SafeString, mark_safe

from metaeval.charts import Links, Range, legend_mark, system_means
from metaeval.choices import MetaevalChoices
from metaeval.comparison import Comparison, MetaevalFigure, Pairs
from metaeval.export.chart import Chart
from metaeval.judgements import Evaluator, Labels
from metaeval.pair_charts import pair_charts
from metaeval.snapshot import Snapshot
from metaeval.stats.arrays import Floats, Ints
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.groups import Groups
from metaeval.stats.ranks import value_codes

MOST_APART = 3
"""Summaries shown that an evaluator ranks too high, and too low."""


@dataclass(frozen=True)
class SystemRow:
    mark: SafeString
    name: str
    label: float
    score: float
    n: int


@dataclass(frozen=True)
class ApartRow:
    """A summary that an evaluator and people rank far apart."""

    summary_id: int
    system: str
    label: float
    score: float
    is_overrated: bool
    """Whether the evaluator ranks it higher than people do."""


@dataclass(frozen=True)
class CoefficientRow:
    """The same pair of evaluator and dimension by one coefficient, at each level."""

    title: str
    figures: Sequence[MetaevalFigure]


@dataclass(frozen=True)
class Drawn:
    """The figure that was chosen, with what stands behind it."""

    figure: MetaevalFigure
    charts: Sequence[Chart]
    systems: Sequence[SystemRow]
    apart: Sequence[ApartRow]

    def system_rows(self) -> list[dict[str, object]]:
        """The means of systems, as rows of a file."""
        pair: dict[str, object] = {
            "evaluator": self.figure.evaluator.label,
            "dimension": self.figure.labels.dimension,
        }
        return [
            {**pair, "system": row.name, "label": row.label, "score": row.score, "n": row.n}
            for row in self.systems
        ]


def every_level(comparison: Comparison, evaluator: Evaluator, labels: Labels) -> list[CoefficientRow]:
    """By every coefficient at every level. With many summaries this takes a second."""
    return [
        CoefficientRow(
            coefficient.label, [comparison.figure(evaluator, labels, level, name) for level in LEVELS]
        )
        for name, coefficient in COEFFICIENTS.items()
    ]


def drawn_pair(
    snapshot: Snapshot, comparison: Comparison, figure: MetaevalFigure, choices: MetaevalChoices
) -> Drawn:
    """What stands behind `figure`, which is one of the comparison's."""
    evaluator, labels = figure.evaluator, figure.labels
    pairs = comparison.pairs(evaluator, labels)
    names = comparison.summaries.system_names
    return Drawn(
        figure=figure,
        charts=pair_charts(
            figure,
            pairs,
            snapshot.summary_ids,
            names,
            _links(choices, figure, snapshot.summary_ids[pairs.places]),
        ),
        systems=[
            SystemRow(_svg(legend_mark(mean.system)), names[mean.system], mean.label, mean.score, mean.n)
            for mean in system_means(pairs.labels, pairs.scores, pairs.systems, len(names))
        ],
        apart=_furthest_apart(
            pairs, snapshot.summary_ids, names, higher_is_better=evaluator.higher_is_better
        ),
    )


def _links(choices: MetaevalChoices, figure: MetaevalFigure, summary_ids: Ints) -> Links:
    """From the scatter of a figure; addresses are relative to the page's own."""
    pair = choices.address(evaluator=figure.evaluator.key, question=figure.labels.key)

    def region(scores: Range, labels: Range) -> str:
        ends = {
            "score_from": f"{scores.low:g}",
            "score_to": f"{scores.high:g}",
            "label_from": f"{labels.low:g}",
            "label_to": f"{labels.high:g}",
        }
        return f"summaries/{pair}&{urlencode(ends)}"

    return Links(region, lambda place: f"../summaries/{summary_ids[place]}/")


def _furthest_apart(
    pairs: Pairs, summary_ids: Ints, names: Sequence[str], *, higher_is_better: bool
) -> list[ApartRow]:
    """The summaries that the evaluator ranks furthest above people, and those furthest below.

    Among equal numbers any order may be the right one: only what is apart in all of them is listed.
    """
    if not len(pairs.labels):
        return []
    label_from, label_to = _places(pairs.label_order)
    score_from, score_to = _places(pairs.score_order if higher_is_better else -pairs.score_order)
    return [
        ApartRow(
            summary_id=int(summary_ids[pairs.places[place]]),
            system=names[pairs.systems[place]],
            label=float(pairs.labels[place]),
            score=float(pairs.scores[place]),
            is_overrated=is_overrated,
        )
        for gaps, is_overrated in ((score_from - label_to, True), (label_from - score_to, False))
        for place in _largest(gaps)
        if gaps[place] > 0
    ]


def _places(values: Floats) -> tuple[Ints, Ints]:
    """(n,) the lowest and the highest rank, from 1, that each value may have among its equals."""
    codes = value_codes(values, Groups(np.array([len(values)])))
    times = np.bincount(codes)
    up_to = np.cumsum(times)
    return (up_to - times + 1)[codes], up_to[codes]


def _largest(values: Ints) -> Ints:
    """The places of the few largest values, earlier ones first where they are equal."""
    few = min(MOST_APART, len(values))
    found = np.flatnonzero(values >= np.partition(values, -few)[-few])
    return found[np.argsort(-values[found], kind="stable")][:few]


def _svg(text: str) -> SafeString:
    """What `charts` has drawn; it escapes all names itself."""
    return mark_safe(text)
