"""The meta-evaluation page: which figures it shows and what it says about them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.utils.safestring import SafeString, mark_safe

from annotation import protocol
from metaeval.chart_parts import Range
from metaeval.charts import histogram, scatter, system_means
from metaeval.choices import Control, MetaevalChoices, refuse_unknown
from metaeval.heat_table import HeatCell, HeatRow, heat, mark_best, undefined_reasons
from metaeval.judgements import ALL, Evaluator, Labels
from metaeval.metaeval_report import Comparison, MetaevalFigure, Pairs, compare
from metaeval.snapshot import Snapshot
from metaeval.stats.arrays import Ints
from metaeval.stats.coefficients import COEFFICIENTS
from metaeval.stats.groups import Groups
from metaeval.stats.levels import LEVELS
from metaeval.stats.ranks import midranks
from metaeval.system_marks import legend_mark

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
class LevelRow:
    """The same pair of evaluator and dimension at one level, by coefficient."""

    title: str
    figures: Sequence[MetaevalFigure]


@dataclass(frozen=True)
class Drawn:
    """The figure that was chosen, with what stands behind it."""

    figure: MetaevalFigure
    levels: Sequence[LevelRow]
    charts: Sequence[SafeString]
    """A scatter and two histograms; none where no summary has both numbers."""
    systems: Sequence[SystemRow]
    apart: Sequence[ApartRow]

    def level_rows(self) -> list[dict[str, object]]:
        """Every level and coefficient of the chosen pair, as rows of a file."""
        return [figure.as_json() for level in self.levels for figure in level.figures]

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

    @property
    def undefined(self) -> list[str]:
        """Why some of `levels` are undefined."""
        reasons = (figure.estimate.reason for level in self.levels for figure in level.figures)
        return list(dict.fromkeys(reason for reason in reasons if reason))


@dataclass(frozen=True)
class MetaevalPage:
    snapshot: Snapshot
    choices: MetaevalChoices
    controls: Sequence[Control]
    compared: Sequence[tuple[Evaluator, bool]]
    """All evaluators, and whether each was picked out to be compared."""
    columns: Sequence[str]
    rows: Sequence[HeatRow]
    seen: dict[str, int]
    drawn: Drawn | None
    n_labelled: int
    n_articles: int
    n_systems: int

    @property
    def undefined_reasons(self) -> list[str]:
        return undefined_reasons(self.rows)

    @property
    def level(self) -> str:
        return LEVELS[self.choices.level].label

    @property
    def coefficient(self) -> str:
        return COEFFICIENTS[self.choices.coefficient].label

    @property
    def coefficients(self) -> list[tuple[str, str]]:
        """Names of all there are, and their symbols, which end the names."""
        return [(each.label, each.label.rpartition(" ")[2]) for each in COEFFICIENTS.values()]


def metaeval_page(snapshot: Snapshot, choices: MetaevalChoices) -> MetaevalPage:
    """The page for these choices. Raises DomainError for a choice that does not exist.

    The figure that is drawn is the chosen one or, if it is no longer there, the first.
    """
    refuse_unknown("level", choices.level, tuple(LEVELS))
    refuse_unknown("coefficient", choices.coefficient, tuple(COEFFICIENTS))
    refuse_unknown("group", choices.group, ("", *snapshot.human.groups))
    comparison = compare(
        snapshot.summaries, snapshot.evaluators, language=choices.language, only=choices.only
    )
    labels = snapshot.labels(choices.group)
    figures = {
        (figure.evaluator.key, figure.labels.key): figure
        for figure in comparison.figures(labels, choices.level, choices.coefficient)
    }
    chosen = figures.get((choices.evaluator, choices.question)) or next(iter(figures.values()), None)
    labelled = comparison.counted & ~np.all([np.isnan(each.values) for each in labels], axis=0)
    return MetaevalPage(
        snapshot=snapshot,
        choices=choices,
        controls=_controls(snapshot, choices),
        compared=[(evaluator, evaluator.key in choices.only) for evaluator in snapshot.evaluators],
        columns=[each.title for each in labels],
        rows=mark_best(
            [
                HeatRow(
                    evaluator.label,
                    evaluator.signature,
                    [_cell(figures.get((evaluator.key, each.key)), chosen, choices) for each in labels],
                )
                for evaluator in comparison.evaluators
            ]
        ),
        seen=comparison.seen,
        drawn=None if chosen is None else _draw(snapshot, comparison, chosen),
        n_labelled=int(labelled.sum()),
        n_articles=len(np.unique(snapshot.summaries.articles[labelled])),
        n_systems=len(np.unique(snapshot.summaries.systems[labelled])),
    )


def _controls(snapshot: Snapshot, choices: MetaevalChoices) -> list[Control]:
    groups = snapshot.human.groups
    languages = snapshot.summaries.language_names
    return [
        Control("level", "Level", [(name, level.label) for name, level in LEVELS.items()], choices.level),
        Control(
            "coefficient",
            "Coefficient",
            [(name, coefficient.label) for name, coefficient in COEFFICIENTS.items()],
            choices.coefficient,
        ),
        Control(
            "language",
            "Language",
            [(ALL, "all")] + ([(name, name) for name in languages] if len(languages) > 1 else []),
            choices.language,
        ),
        Control("group", "Raters", [("", "all"), *((name, name) for name in groups)], choices.group),
    ]


def _cell(
    figure: MetaevalFigure | None, chosen: MetaevalFigure | None, choices: MetaevalChoices
) -> HeatCell | None:
    if figure is None:
        return None
    estimate = figure.estimate
    stands_on = {
        "pooled": f"n {estimate.n:,}",
        "article": f"{estimate.articles:,} articles",
        "system": f"{estimate.systems:,} systems",
    }
    chance = 0.5 if figure.coefficient == "roc_auc" else 0.0
    return HeatCell(
        id=f"figure-{figure.evaluator.key}-{figure.labels.key}",
        value=estimate.value,
        below=estimate.reason or stands_on[figure.level],
        heat=heat(estimate.value, none=chance),
        address=choices.address(evaluator=figure.evaluator.key, question=figure.labels.key),
        is_chosen=figure is chosen,
    )


def _draw(snapshot: Snapshot, comparison: Comparison, figure: MetaevalFigure) -> Drawn:
    evaluator, labels = figure.evaluator, figure.labels
    pairs = comparison.pairs(evaluator, labels)
    names = comparison.summaries.system_names
    return Drawn(
        figure=figure,
        levels=[
            LevelRow(
                level.label, [_figure(comparison, evaluator, labels, name, each) for each in COEFFICIENTS]
            )
            for name, level in LEVELS.items()
        ],
        charts=_charts(evaluator, labels, pairs, names) if len(pairs.labels) else [],
        systems=[
            SystemRow(_svg(legend_mark(mean.system)), names[mean.system], mean.label, mean.score, mean.n)
            for mean in system_means(pairs.labels, pairs.scores, pairs.systems, len(names))
        ],
        apart=_furthest_apart(pairs, snapshot.summary_ids, names),
    )


def _furthest_apart(pairs: Pairs, summary_ids: Ints, names: Sequence[str]) -> list[ApartRow]:
    """The summaries whose rank by score exceeds that by label most, and those where it falls short most."""
    if not len(pairs.labels):
        return []
    everything = Groups(np.array([len(pairs.labels)]))
    ahead = midranks(pairs.scores, everything) - midranks(pairs.labels, everything)
    order = np.argsort(ahead, kind="stable")
    rows = []
    for place in [*order[: -MOST_APART - 1 : -1], *order[:MOST_APART]]:
        if ahead[place]:
            rows.append(
                ApartRow(
                    summary_id=int(summary_ids[pairs.places[place]]),
                    system=names[pairs.systems[place]],
                    label=float(pairs.labels[place]),
                    score=float(pairs.scores[place]),
                    is_overrated=bool(ahead[place] > 0),
                )
            )
    return list(dict.fromkeys(rows))


def _figure(
    comparison: Comparison, evaluator: Evaluator, labels: Labels, level: str, coefficient: str
) -> MetaevalFigure:
    figure = comparison.figure(evaluator, labels, level, coefficient)
    if figure is None:
        raise KeyError(f"{evaluator.label} does not score {labels.dimension}")
    return figure


def _charts(
    evaluator: Evaluator, labels: Labels, pairs: Pairs, system_names: Sequence[str]
) -> list[SafeString]:
    span = label_span(labels.scale)
    return [
        _svg(
            scatter(
                pairs.labels,
                pairs.scores,
                pairs.systems,
                system_names=system_names,
                score_title=f"Score by {evaluator.label}",
                label_title=f"Human label, {labels.title}",
                label_range=span,
            )
        ),
        _svg(histogram(pairs.labels, title="Human labels", counted="summaries", span=span)),
        _svg(histogram(pairs.scores, title="Scores", counted="summaries")),
    ]


def label_span(scale: protocol.Scale) -> Range | None:
    """What labels on this scale can be; None if it has no ends."""
    low, high = scale.low, scale.high
    if scale.kind == protocol.ScaleKind.NOMINAL:
        numbers = (scale.numbers or {}).values()
        low, high = min(numbers, default=None), max(numbers, default=None)
    return None if low is None or high is None or low == high else Range(low, high)


def _svg(text: str) -> SafeString:
    """What `charts` has drawn; it escapes all names itself."""
    return mark_safe(text)
