"""Details of the cell that a reader chose: one evaluator on one dimension."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

import numpy as np
from django.utils.safestring import SafeString, mark_safe

from annotation.models import Summary
from metaeval.charts import Links, Range, legend_mark, system_means
from metaeval.comparison.charts import pair_charts
from metaeval.comparison.comparison import Comparison, ComparisonFigure, Pairs
from metaeval.export.chart import Chart
from metaeval.live.choices import ComparisonChoices
from metaeval.snapshot.arrays import Labels, SetupScores
from metaeval.snapshot.snapshot import Snapshot
from metaeval.stats.arrays import Floats, Ints
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.correlation.soft_accuracy import SOFT_ACCURACY, SOFT_ACCURACY_LABEL
from metaeval.stats.groups import Groups
from metaeval.stats.ranks import value_codes

AT_ONCE = 10_000
"""Ids in one query."""
TITLES = {name: coefficient.label for name, coefficient in COEFFICIENTS.items()} | {
    SOFT_ACCURACY: SOFT_ACCURACY_LABEL
}
"""Coefficient -> its title, in the order of the rows."""
MOST_APART = 3
"""Summaries shown on each side: ranked too high, and too low."""


@dataclass(frozen=True)
class SystemMeans:
    """The mean label and the mean score of one system."""

    mark: SafeString
    name: str
    label: float
    score: float
    n: int


@dataclass(frozen=True)
class ApartRow:
    """A summary that the evaluator and people rank far apart."""

    summary_id: int
    system: str
    label: float
    score: float
    is_overrated: bool
    """True if the evaluator ranks it higher than people do."""


@dataclass(frozen=True)
class CoefficientRow:
    """One coefficient at each level."""

    title: str
    figures: Sequence[ComparisonFigure]


@dataclass(frozen=True)
class CellDetails:
    """The chosen figure with its charts, systems and extreme summaries."""

    figure: ComparisonFigure
    charts: Sequence[Chart]
    systems: Sequence[SystemMeans]
    apart: Sequence[ApartRow]

    def system_rows(self) -> list[dict[str, object]]:
        """Return the means of systems as rows of a file."""
        pair: dict[str, object] = {
            "evaluator": self.figure.evaluator.label,
            "dimension": self.figure.labels.dimension,
        }
        return [
            {**pair, "system": row.name, "label": row.label, "score": row.score, "n": row.n}
            for row in self.systems
        ]


def every_level(
    comparison: Comparison, evaluator: SetupScores, labels: Labels, constant: str
) -> list[CoefficientRow]:
    """Return every coefficient at every level. With many summaries this takes a second."""
    return [
        CoefficientRow(
            title,
            [comparison.figure(evaluator, labels, level, name, constant=constant) for level in LEVELS],
        )
        for name, title in TITLES.items()
    ]


def chosen_cell(
    snapshot: Snapshot, comparison: Comparison, figure: ComparisonFigure, choices: ComparisonChoices
) -> CellDetails:
    """Return the details of a figure of the comparison."""
    evaluator, labels = figure.evaluator, figure.labels
    pairs = comparison.pairs(evaluator, labels)
    names = comparison.summaries.system_names
    return CellDetails(
        figure=figure,
        charts=pair_charts(
            figure,
            pairs,
            lambda places: _articles(snapshot, places),
            names,
            _links(choices, figure, snapshot.summary_ids[pairs.places]),
        ),
        systems=[
            SystemMeans(_svg(legend_mark(mean.system)), names[mean.system], mean.label, mean.score, mean.n)
            for mean in system_means(pairs.labels, pairs.scores, pairs.systems, len(names))
        ],
        apart=_furthest_apart(
            pairs, snapshot.summary_ids, names, higher_is_better=evaluator.higher_is_better
        ),
    )


def _articles(snapshot: Snapshot, places: Ints) -> list[str]:
    """Return the external id of the article of each summary; a number in published results."""
    if snapshot.is_published:
        return [str(code) for code in snapshot.summaries.articles[places].tolist()]
    ids = snapshot.summary_ids[places].tolist()
    named: dict[int, str] = {}
    for start in range(0, len(ids), AT_ONCE):
        some = Summary.objects.filter(pk__in=ids[start : start + AT_ONCE])
        named |= dict(some.values_list("pk", "article__external_id"))
    return [named.get(each, "") for each in ids]


def _links(choices: ComparisonChoices, figure: ComparisonFigure, summary_ids: Ints) -> Links:
    """Return the links of a figure's scatter plot; addresses are relative to the page's own."""
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
    """Return the summaries that the evaluator ranks furthest above people, and furthest below.

    Ties can be ranked in any order; a summary is listed only if it is apart in every one of them.
    """
    if not len(pairs.labels):
        return []
    label_from, label_to = _rank_ranges(pairs.label_order)
    score_from, score_to = _rank_ranges(pairs.score_order if higher_is_better else -pairs.score_order)
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


def _rank_ranges(values: Floats) -> tuple[Ints, Ints]:
    """Return (n,) the lowest and (n,) the highest rank, from 1, that each value can have among ties."""
    codes = value_codes(values, Groups(np.array([len(values)])))
    times = np.bincount(codes)
    up_to = np.cumsum(times)
    return (up_to - times + 1)[codes], up_to[codes]


def _largest(values: Ints) -> Ints:
    """Return the indices of the largest values, at most MOST_APART, ties in their order."""
    few = min(MOST_APART, len(values))
    found = np.flatnonzero(values >= np.partition(values, -few)[-few])
    return found[np.argsort(-values[found], kind="stable")][:few]


def _svg(text: str) -> SafeString:
    """Mark a drawing of `charts` as safe; `charts` escapes all names."""
    return mark_safe(text)  # noqa: S308 - escaped there
