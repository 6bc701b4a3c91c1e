"""The page of an evaluator card, with its charts."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from annotation.models import Project
from metaeval.card.alternative_report import EPSILONS, AlternativeFigure
from metaeval.card.evaluator_card import EvaluatorCard, evaluator_card
from metaeval.card.findings import Finding, findings
from metaeval.card.material import CardMaterial, card_material
from metaeval.card.rows import card_rows
from metaeval.card.run_price import RunPrice, run_price
from metaeval.card.summary_traits import summary_traits
from metaeval.charts import Measured, calibration_bins, calibration_plot, evaluator_bars, interval_dots
from metaeval.comparison.charts import label_span
from metaeval.comparison.comparison import compare
from metaeval.export.chart import Chart
from metaeval.live.background import LONG, SOON, Key, queue_of
from metaeval.live.choices import PairChoices
from metaeval.live.controls import pair_controls
from metaeval.live.results_page import ResultsPage, side_by_side
from metaeval.snapshot.arrays import ALL, SetupScores
from metaeval.snapshot.rater_groups import groups_apart
from metaeval.snapshot.snapshot import Snapshot, snapshot_of
from metaeval.stats.arrays import Bools
from metaeval.stats.check_choice import check_choice
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.result import each_once
from scoring.endpoints.known_models import unfitted
from scoring.evaluators import UnknownEvaluator
from scoring.inputs.seen_articles import warnings_of
from scoring.models import Setup


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


@dataclass(frozen=True, kw_only=True)
class CardPage(ResultsPage):
    choices: PairChoices
    evaluator: SetupScores | None
    """The chosen evaluator; None if no evaluator has scores."""
    question: str
    """Title."""
    material: CardMaterial | None
    """The labels and scores; None if the question lacks either."""
    card: EvaluatorCard | None
    """The computed card; None without material and during the computation."""
    rows: Sequence[dict[str, object]]
    """All numbers of the card."""
    price: RunPrice | None
    warnings: Sequence[str]
    """Warnings about published models that may have seen the project's articles."""

    @property
    def title(self) -> str:
        return f"{self.evaluator.label} · {self.question}" if self.evaluator else "Evaluator card"

    @property
    def chosen_summaries(self) -> Bools:
        return self.snapshot.summaries.in_language(self.choices.language)

    @property
    def chosen_questions(self) -> Collection[str]:
        return (self.material.labels.key,) if self.material else ()

    @property
    def is_pending(self) -> bool:
        return any(part.material and not part.card for part in self.parts)

    @property
    def findings(self) -> Sequence[Finding]:
        return findings(self.card) if self.card else ()

    @property
    def charts(self) -> list[Chart]:
        return card_charts(self.card) if self.card else []

    @property
    def chart(self) -> dict[str, Chart]:
        """The charts by name, for templates."""
        return {each.name.removeprefix("card-"): each for each in self.charts}

    @property
    def alternative(self) -> list[tuple[AlternativeFigure, str]]:
        """The test at each margin, and which raters the margin is for."""
        return [(each, EPSILONS[each.epsilon]) for each in self.card.alternative] if self.card else []

    @property
    def waits(self) -> int:
        return self.is_pending


def keys_of(project: Project, revision: int, choices: PairChoices) -> list[Key]:
    """Return the keys of the card, and of the cards of each group of raters."""
    return [Key.of(project, revision, choices), Key.of(project, revision, "apart", choices)]


def card_now(project: Project, choices: PairChoices) -> CardPage:
    """Return the page at once, with its card if that is ready soon.

    Where groups of raters differ beyond chance and none is chosen, it has a part for each, since a mixture
    would be nobody's answers. Raises DomainError for a choice that does not exist.
    """
    snapshot = snapshot_of(project)
    groups = groups_apart(snapshot.summaries, snapshot.human, choices.group)
    if not groups:
        return whole_card(project, choices, SOON)
    parts = [_without_card(project, snapshot, replace(choices, group=group)) for group in groups]
    _, key = keys_of(project, snapshot.revision, choices)
    cards = queue_of(key, LONG).result(key, partial(_cards, [part.material for part in parts]), SOON)
    apart = [_with_card(*each) for each in zip(parts, cards, strict=True)] if cards else parts
    material = next((part.material for part in parts if part.material), None)
    return side_by_side(apart, choices, material=material, card=None, rows=())


def whole_card(project: Project, choices: PairChoices, wait_s: float | None = None) -> CardPage:
    """Return the page after at most `wait_s` seconds, with its card if that is ready (None: always).

    Without a chosen group of raters, all are mixed. Raises as `card_now`.
    """
    snapshot = snapshot_of(project)
    page = _without_card(project, snapshot, choices)
    if page.material is None:
        return page
    key, _ = keys_of(project, snapshot.revision, choices)
    card = queue_of(key, LONG).result(key, partial(evaluator_card, page.material), wait_s)
    return _with_card(page, card)


def _cards(materials: Sequence[CardMaterial | None]) -> list[EvaluatorCard | None]:
    return [evaluator_card(each) if each else None for each in materials]


def _with_card(page: CardPage, card: EvaluatorCard | None) -> CardPage:
    rows = card_rows(card, page.price) if card and page.price else []
    return replace(page, card=card, rows=rows, definitions=each_once(str(row["definition"]) for row in rows))


def _without_card(project: Project, snapshot: Snapshot, choices: PairChoices) -> CardPage:
    human = snapshot.human
    _check_choices(snapshot, choices)
    evaluator = _chosen(snapshot, choices.evaluator)
    labels = snapshot.labels(choices.group, choices.labels)
    scored = [each for each in labels if evaluator is not None and evaluator.on(each.dimension) is not None]
    chosen = next((each for each in labels if each.key == choices.question), next(iter(scored), labels[0]))
    material = None
    if evaluator is not None and chosen in scored and not np.isnan(chosen.values).all():
        material = card_material(
            compare(snapshot.summaries, [evaluator], language=choices.language, on=chosen.dimension),
            human,
            human.on(chosen.key),
            chosen,
            choices.group,
            summary_traits(project, snapshot, choices.language),
        )
    return CardPage(
        snapshot=snapshot,
        choices=choices,
        controls=pair_controls(snapshot, choices, labels, evaluator.key if evaluator else "", chosen.key),
        evaluator=evaluator,
        question=chosen.title,
        material=material,
        card=None,
        rows=(),
        price=None if evaluator is None else run_price(project, evaluator.key),
        warnings=_warnings(project, evaluator.key) if evaluator else (),
        definitions=(),
    )


def _warnings(project: Project, evaluator_key: str) -> Sequence[str]:
    """Return the setup's warnings; none for an evaluator that this version cannot build."""
    try:
        return warnings_of(project, unfitted(Setup.objects.get(project=project, pk=evaluator_key)))
    except (UnknownEvaluator, ValueError):
        return ()


def _check_choices(snapshot: Snapshot, choices: PairChoices) -> None:
    keys = [each.question.key for each in snapshot.human.questions]
    check_choice("evaluator", choices.evaluator, ("", *(each.key for each in snapshot.evaluators)))
    check_choice("question", choices.question, ("", *keys))
    check_choice("language", choices.language, (ALL, *snapshot.summaries.language_names))


def _chosen(snapshot: Snapshot, key: str) -> SetupScores | None:
    given = (each for each in snapshot.evaluators if each.key == key or not key)
    return next(given, None)
