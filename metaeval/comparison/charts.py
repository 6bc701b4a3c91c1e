"""The charts of comparison: all evaluators with the human ceiling, and one evaluator against the labels."""

import math
from collections.abc import Callable, Sequence

from annotation import protocol
from metaeval.charts import (
    Links,
    Measured,
    Range,
    evaluator_bars,
    histogram,
    histogram_bars,
    scatter,
    shared_grid,
    two_distributions,
)
from metaeval.charts.histogram import Bar, bars_on
from metaeval.comparison.comparison import GUARD, ComparisonFigure, Pairs
from metaeval.export.chart import Chart, FileRows
from metaeval.stats.arrays import Floats, Ints
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS


def evaluators_chart(figures: Sequence[ComparisonFigure], ceiling: float, intervals_of: str = "") -> Chart:
    """Return a bar chart of figures, at least one, of the same dimension and level.

    `ceiling` is one rater's agreement with the others; nan if unknown. `intervals_of` names the earlier
    revision that the intervals belong to.
    """
    first = figures[0]
    labels, coefficient = first.labels, COEFFICIENTS[first.coefficient].label
    known = not math.isnan(ceiling)
    return Chart(
        "evaluators",
        (labels.key, first.level, first.coefficient),
        lambda: evaluator_bars(
            [Measured.of(figure.evaluator.label, figure.estimate) for figure in figures],
            title=f"Agreement of each evaluator with human labels, {labels.title}",
            value_title=f"{coefficient}, {LEVELS[first.level].label}",
            chance=0.5 if first.coefficient == "roc_auc" else 0.0,
            ceiling=ceiling if known else None,
            left_out=GUARD,
        ),
        lambda: [figure.as_json() for figure in figures],
        _caption(figures, known, intervals_of),
    )


def _caption(figures: Sequence[ComparisonFigure], has_ceiling: bool, intervals_of: str) -> str:
    has_intervals = any(figure.estimate.interval for figure in figures)
    parts = [f"Bars: every evaluator on {figures[0].labels.title}"]
    parts += (
        ["lines: 95% intervals" + (f" as of {intervals_of}" if intervals_of else "")] if has_intervals else []
    )
    parts += ["dashed: one rater against the others"] if has_ceiling else []
    return f"{'; '.join(parts)}."


def pair_charts(
    figure: ComparisonFigure,
    pairs: Pairs,
    articles_of: Callable[[Ints], Sequence[str]],
    system_names: Sequence[str],
    links: Links | None = None,
) -> list[Chart]:
    """Return a scatter plot and the distributions of labels and scores; empty if no summary has both.

    Both distributions share an axis if all scores lie on the labels' scale. `articles_of` returns the
    articles' ids of the summaries at places among all, for the scatter plot's file; `links` are those of the
    scatter plot on its page.
    """
    if not len(pairs.labels):
        return []
    evaluator, labels = figure.evaluator.label, figure.labels
    about = (evaluator, labels.key)
    named: dict[str, object] = {"evaluator": evaluator, "dimension": labels.dimension}
    span = label_span(labels.scale)
    left_out = left_out_sentence(figure)

    def points() -> FileRows:
        articles = articles_of(pairs.places)
        columns = zip(
            articles, pairs.systems.tolist(), pairs.labels.tolist(), pairs.scores.tolist(), strict=True
        )
        return [
            {
                **named,
                "article": article,
                "system": system_names[system] if system >= 0 else "",
                "label": label,
                "score": score,
            }
            for article, system, label, score in columns
        ]

    def drawn_scatter(links: Links | None) -> str:
        return scatter(
            pairs.labels,
            pairs.scores,
            pairs.systems,
            system_names=system_names,
            score_title=f"Score by {evaluator}",
            label_title=f"Human label, {labels.title}",
            label_range=span,
            left_out=left_out,
            links=links,
            legend=links is None,
        )

    def distribution(name: str, title: str, values: Floats, within: Range | None) -> Chart:
        return Chart(
            name,
            about,
            lambda: histogram(values, title=title, counted="summaries", span=within, left_out=left_out),
            lambda: _bar_rows(named, name, histogram_bars(values, within)),
        )

    points_chart = Chart(
        "scatter",
        about,
        lambda: drawn_scatter(None),
        points,
        "Dots: summaries, larger where several fall together. Coloured: means of systems.",
        draw_linked=(lambda: drawn_scatter(links)) if links else None,
    )
    if span is None or pairs.scores.min() < span.low or pairs.scores.max() > span.high:
        return [
            points_chart,
            distribution("labels", "Human labels", pairs.labels, span),
            distribution("scores", "Scores", pairs.scores, None),
        ]
    grid = shared_grid(pairs.labels, span)
    return [
        points_chart,
        Chart(
            "distributions",
            about,
            lambda: two_distributions(pairs.labels, pairs.scores, span=span, left_out=left_out),
            lambda: [
                *_bar_rows(named, "labels", bars_on(pairs.labels, grid)),
                *_bar_rows(named, "scores", bars_on(pairs.scores, grid)),
            ],
            "Up: summaries by human label. Down: the same summaries by score, on the same scale.",
        ),
    ]


def _bar_rows(named: dict[str, object], of: str, bars: Sequence[Bar]) -> FileRows:
    return [{**named, "of": of, "from": bar.low, "to": bar.high, "summaries": bar.times} for bar in bars]


def left_out_sentence(figure: ComparisonFigure) -> str:
    """Return what was left out of the figure, with the contamination guard: full sentences."""
    left_out = "; ".join(f"{reason}: {count:,}" for reason, count in figure.estimate.left_out.items())
    return f"Left out: {left_out or 'nothing'}. {GUARD}"


def label_span(scale: protocol.Scale) -> Range | None:
    """Return the range of labels on this scale; None if it has no ends."""
    return Range(*scale.ends) if scale.ends else None
