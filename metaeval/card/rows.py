"""All numbers of an evaluator card as rows: for its CSV and for the API."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from django.utils.text import capfirst

from metaeval.card.alternative_report import AlternativeFigure
from metaeval.card.evaluator_card import AgreementAt, Baseline, EvaluatorCard
from metaeval.card.findings import findings
from metaeval.card.run_price import RunPrice
from metaeval.comparison.comparison import GUARD
from metaeval.stats.labels.trivial_annotator import DEFINITION as TRIVIAL
from metaeval.stats.result import Estimate, Interval, reasons, value_and_ends

LABELLED_AND_SCORED = "Over the labelled summaries with a score."
FINDING = "finding"
NO_MIDDLE = "the scale has no ends, so labels cannot be split at its middle"


class Basis(NamedTuple):
    """The sample and the definition of a number."""

    n: int | None = None
    left_out: Mapping[str, int] = MappingProxyType({})
    definition: str = ""


def card_rows(card: EvaluatorCard, price: RunPrice) -> list[dict[str, object]]:
    """Return each number of the card as a row of a file, after the findings in words."""
    material = card.material
    named: dict[str, object] = {
        "evaluator": material.evaluator.label,
        "fingerprint": material.evaluator.fingerprint,
        "dimension": material.labels.dimension,
    }
    if material.labels.warning:
        named["warning"] = material.labels.warning
    return [{**named, **row} for row in _rows(card, price)]


def card_cells(rows: Sequence[Mapping[str, object]], heading: str) -> Iterator[dict[str, object]]:
    """Yield the cells of printed tables: findings under `heading`, then values and sample sizes by section.

    `rows` are those of `card_rows`.
    """
    for row in rows:
        if row["section"] == FINDING:
            answer = str(row["text"]).partition(":")[0]
            yield {**row, "section": heading, "what": "Answer", "shown": answer}
            continue
        cell = {**row, "section": capfirst(str(row["section"])), "what": "Value"}
        yield cell
        if row["n"] is not None:
            named = {name: cell[name] for name in ("section", "measure", "fingerprint")}
            yield {**named, "what": "n", "value": row["n"], "left_out": {}, "definition": ""}


def _rows(card: EvaluatorCard, price: RunPrice) -> Iterator[dict[str, object]]:
    for finding in findings(card):
        text = f"{finding.answer}: {finding.said}"
        yield _row(FINDING, finding.question, math.nan, Basis(definition=finding.rule), text=text)
    yield from _coverage(card)
    for measured in card.agreement:
        yield from _measured(card, measured)
    for baseline in card.baselines:
        yield from _baseline(card, baseline)
    yield from _threshold(card)
    yield from _shape(card)
    yield from _level(card)
    yield from _biases(card)
    for figure in card.alternative:
        yield from _alternative(figure)
    basis = Basis(price.summaries, definition=price.definition)
    yield _row("price", "seconds per 1,000 summaries", price.seconds_per_thousand, basis, reason=price.reason)
    if price.tokens:
        yield _row("price", "tokens", price.tokens, basis)
    if price.dollars:
        yield _row("price", "US dollars", float(price.dollars), basis)


def _alternative(figure: AlternativeFigure) -> Iterator[dict[str, object]]:
    section, test = "alternative annotator test", figure.test
    basis = Basis(test.summaries, test.left_out, " ".join(figure.definitions))
    at = f"at ε {figure.epsilon:g}"
    yield _row(
        section, f"winning rate {at}", test.winning_rate, basis, reason=test.reason, text=figure.verdict
    )
    yield _row(section, f"advantage probability {at}", test.advantage, basis, reason=test.reason)
    for name, trivial in figure.trivial:
        basis = basis._replace(left_out={})
        text = "passes" if trivial.passes else "does not pass"
        yield _row(section, f"winning rate {at}, {name}", trivial.winning_rate, basis, text=text)
        yield _row(section, f"advantage probability {at}, {name}", trivial.advantage, basis)
        yield _row(
            section,
            f"lead over {name} {at}",
            trivial.lead.value,
            Basis(trivial.lead.labelled, definition=TRIVIAL),
            interval=trivial.lead.interval,
        )


def _row(
    section: str,
    measure: str,
    value: float,
    basis: Basis,
    *,
    interval: Interval | None = None,
    reason: str = "",
    text: str = "",
) -> dict[str, object]:
    definitions = [basis.definition, interval.definition if interval else ""]
    row: dict[str, object] = {
        "section": section,
        "measure": measure,
        **value_and_ends(value, interval),
        "n": basis.n,
        "left_out": dict(basis.left_out),
        "definition": " ".join(part for part in definitions if part),
    }
    return row | ({"text": text} if text else {}) | reasons(reason, interval)


def _estimated(section: str, measure: str, estimate: Estimate) -> dict[str, object]:
    basis = Basis(estimate.n, estimate.left_out, estimate.definition)
    return _row(section, measure, estimate.value, basis, interval=estimate.interval, reason=estimate.reason)


def _coverage(card: EvaluatorCard) -> Iterator[dict[str, object]]:
    material, bounds = card.material, card.bounds
    counted, labelled = material.n_counted, material.n_labelled
    yield _row("coverage", "summaries", counted, Basis(None, material.comparison.seen, GUARD))
    yield _row("coverage", "labelled", labelled, Basis(counted, definition=material.labels.definition))
    yield _row("coverage", "labelled and scored", card.shape.n, Basis(labelled, material.why_unscored))
    basis = Basis(bounds.n, bounds.left_out, bounds.definition)
    for end, value in (("lowest", bounds.low), ("highest", bounds.high)):
        measure = f"{end} {material.coefficient} with the missing scores"
        yield _row("coverage", measure, value, basis, reason=bounds.reason)


def _measured(card: EvaluatorCard, measured: AgreementAt) -> Iterator[dict[str, object]]:
    name = f"{measured.coefficient}, {measured.level}"
    estimate = measured.estimate
    shown = replace(
        estimate,
        left_out=card.material.comparison.seen | dict(estimate.left_out),
        definition=f"{estimate.definition} {card.material.labels.definition} {GUARD}",
    )
    yield _estimated("agreement", name, shown)
    yield _estimated("agreement", f"{name}, one rater against the others", measured.ceiling)


def _baseline(card: EvaluatorCard, baseline: Baseline) -> Iterator[dict[str, object]]:
    yield _estimated(
        "agreement", f"{card.material.coefficient}, pooled, of {baseline.name}", baseline.estimate
    )
    yield _row(
        "agreement",
        f"evaluator minus {baseline.name}",
        baseline.difference,
        Basis(baseline.estimate.n, definition=baseline.test),
        reason=baseline.reason,
        text="" if math.isnan(baseline.p_value) else f"p {baseline.p_value:.4f}, not corrected",
    )


def _threshold(card: EvaluatorCard) -> Iterator[dict[str, object]]:
    found = card.threshold
    if found is None:
        yield _row("threshold", "threshold", math.nan, Basis(), reason=NO_MIDDLE)
        return
    basis = Basis(found.n, found.left_out, found.definition)
    of_folds = f"without one fold each: {', '.join(f'{value:g}' for value in found.of_folds)}"
    yield _row(
        "threshold",
        "threshold",
        found.value,
        basis,
        reason=found.reason,
        text="" if found.reason else of_folds,
    )
    table = found.confusion
    if table is None:
        return
    for name, rate, interval in (
        ("Cohen's kappa", table.kappa, found.kappa_interval),
        ("Matthews' correlation", table.mcc, None),
        ("true yes rate", table.true_yes_rate, None),
        ("true no rate", table.true_no_rate, None),
        ("accuracy", table.accuracy, None),
    ):
        yield _row(
            "threshold", f"{name}, out of fold", rate.value, basis, interval=interval, reason=rate.reason
        )
    for name, count in (
        ("yes by both", table.true_yes),
        ("yes by the evaluator alone", table.false_yes),
        ("yes by people alone", table.false_no),
        ("no by both", table.true_no),
    ):
        yield _row("threshold", f"{name}, out of fold", count, basis)


def _shape(card: EvaluatorCard) -> Iterator[dict[str, object]]:
    shape = card.shape
    basis = Basis(shape.n, card.material.why_unscored, LABELLED_AND_SCORED)
    for name, value in (
        ("distinct scores", shape.distinct),
        ("share of tied pairs", shape.tied_pairs),
        ("share of scores that occur twice or more", shape.tied_scores),
        ("lowest score", shape.lowest),
        ("highest score", shape.highest),
        ("most common score", shape.most_common),
        ("share of the most common score", shape.most_common_share),
    ):
        yield _row("scores", name, value, basis, reason="too few scores" if math.isnan(value) else "")


def _level(card: EvaluatorCard) -> Iterator[dict[str, object]]:
    if card.level is None:
        yield _row("level", "bias", math.nan, Basis(), reason=f"not applicable: {card.why_no_level}")
        return
    level = card.level.shift
    basis = Basis(level.n, card.material.why_unscored, f"{level.definition} {card.level.rule}")
    for name, value, interval in (
        ("bias", level.bias, level.bias_interval),
        ("mean absolute error", level.error, None),
        ("calibration error", level.calibration_error, None),
    ):
        yield _row("level", name, value, basis, interval=interval, reason=level.reason)


def _biases(card: EvaluatorCard) -> Iterator[dict[str, object]]:
    for name, bias in card.traits.items():
        yield _estimated("bias", f"partial correlation with {name}", bias)
    systems = card.systems
    basis = Basis(systems.n, systems.left_out, systems.definition)
    if systems.reason:
        yield _row("bias", "systems", math.nan, basis, reason=systems.reason)
    for row in systems.systems:
        yield _row(
            "bias",
            f"system {card.material.system_names[row.system]}",
            row.value,
            basis._replace(n=row.n),
            interval=row.interval,
            text="stands out" if row.is_marked else "",
        )
