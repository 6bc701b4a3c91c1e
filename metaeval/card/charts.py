"""The charts of an evaluator card."""

from collections.abc import Sequence

from metaeval.card.evaluator_card import EvaluatorCard
from metaeval.charts import Measured, calibration_bins, calibration_plot, evaluator_bars, interval_dots
from metaeval.comparison.pair_charts import label_span
from metaeval.export.chart import Chart
from metaeval.stats.correlation.coefficients import COEFFICIENTS


def card_charts(card: EvaluatorCard) -> list[Chart]:
    """Return the charts of agreement, calibration and systems, as far as there are numbers."""
    charts = [_agreement(card)]
    if card.shape.n:
        charts.append(_calibration(card))
    if card.systems.systems:
        charts.append(_systems(card))
    return charts


def _agreement(card: EvaluatorCard) -> Chart:
    at = card.at_level("pooled")
    rows = [
        Measured.of(card.material.evaluator.label, at.estimate),
        *(Measured.of(each.name, each.estimate) for each in card.baselines),
    ]
    coefficient = COEFFICIENTS[at.coefficient].label
    return Chart(
        "card-agreement",
        _about(card),
        lambda: evaluator_bars(
            rows,
            title=f"{coefficient} with human labels, pooled: the evaluator and two baselines",
            value_title=coefficient,
            chance=0.5 if at.coefficient == "roc_auc" else 0.0,
            ceiling=None if at.ceiling.reason else at.ceiling.value,
        ),
        lambda: [
            {**_named(card), "of": row.label, "value": row.value, "low": row.low, "high": row.high}
            for row in rows
        ],
        "Bars: pooled coefficient on the same summaries. Lines: 95% intervals over articles.",
    )


def _calibration(card: EvaluatorCard) -> Chart:
    material = card.material
    labels, scores = material.rows.labels[material.scored], material.rows.scores[material.scored]
    if card.level is not None:
        labels, scores = card.level.labels, card.level.scores
    return Chart(
        "card-calibration",
        _about(card),
        lambda: calibration_plot(
            labels,
            scores,
            score_title=f"Mean score by {material.evaluator.label}",
            label_title=f"Mean human label, {material.labels.title}",
            label_range=label_span(material.labels.scale) if card.level is None else None,
            same_scale=card.level is not None,
        ),
        lambda: [{**_named(card), **each._asdict()} for each in calibration_bins(labels, scores)],
        "Dots: bins of neighbouring scores with about as many summaries each.",
    )


def _systems(card: EvaluatorCard) -> Chart:
    ordered = sorted(card.systems.systems, key=lambda row: -row.value)
    rows = [
        Measured(card.material.system_names[row.system], row.value, row.interval.low, row.interval.high)
        for row in ordered
    ]
    return Chart(
        "card-systems",
        _about(card),
        lambda: interval_dots(
            rows,
            title="Evaluator's preference for each system at equal labels",
            value_title="Standard deviations of the scores",
            zero_title="as labels say",
        ),
        lambda: [
            {**_named(card), "system": row.label, "value": row.value, "low": row.low, "high": row.high}
            for row in rows
        ],
        "Dots: mean of score − mean score at the same label. Lines: simultaneous 95% intervals.",
    )


def _about(card: EvaluatorCard) -> Sequence[str]:
    return card.material.evaluator.label, card.material.labels.key


def _named(card: EvaluatorCard) -> dict[str, object]:
    return {"evaluator": card.material.evaluator.label, "dimension": card.material.labels.dimension}
