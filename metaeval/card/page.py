"""The page of an evaluator card: which card it shows, and what a reader can choose."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotation.models import Project
from metaeval.background import Key, Pending, ready_or_start
from metaeval.card.alternative_report import EPSILONS, AlternativeFigure
from metaeval.card.charts import card_charts
from metaeval.card.evaluator_card import EvaluatorCard, evaluator_card
from metaeval.card.findings import Finding, findings
from metaeval.card.material import CardMaterial, card_material
from metaeval.card.rows import card_rows
from metaeval.card.run_price import RunPrice, run_price
from metaeval.card.summary_traits import summary_traits
from metaeval.choices import Choices, Control
from metaeval.comparison import compare
from metaeval.export.chart import Chart
from metaeval.judgements import ALL, Evaluator
from metaeval.label_rules import LABEL_RULES
from metaeval.refuse_unknown import refuse_unknown
from metaeval.snapshot import Snapshot, snapshot_of

SOON = 0.3
"""Seconds that a page waits for its card."""


@dataclass(frozen=True)
class CardChoices(Choices):
    evaluator: str = ""
    """Key; empty for the first."""
    question: str = ""
    """Key; empty for the first that the evaluator scores."""
    language: str = ALL
    group: str = ""
    labels: str = "mean"
    """The rule by which several raters' answers become one label."""


@dataclass(frozen=True)
class CardPage:
    snapshot: Snapshot
    choices: CardChoices
    controls: Sequence[Control]
    evaluator: Evaluator | None
    """None where no evaluator has scored anything."""
    question: str
    """Title."""
    material: CardMaterial | None
    """None where the evaluator does not score the question, or nobody is rated or scored yet."""
    card: EvaluatorCard | None
    """None without material, and while it is being computed."""
    price: RunPrice | None

    @property
    def is_pending(self) -> bool:
        return self.material is not None and self.card is None

    @property
    def findings(self) -> Sequence[Finding]:
        return findings(self.card) if self.card else ()

    @property
    def charts(self) -> list[Chart]:
        return card_charts(self.card) if self.card else []

    @property
    def chart(self) -> dict[str, Chart]:
        """By name, for templates."""
        return {each.name.removeprefix("card-"): each for each in self.charts}

    @property
    def alternative(self) -> list[tuple[AlternativeFigure, str]]:
        """The test at each margin, and the raters for whom it is meant."""
        return [(each, EPSILONS[each.epsilon]) for each in self.card.alternative] if self.card else []

    @property
    def rows(self) -> list[dict[str, object]]:
        return card_rows(self.card, self.price) if self.card and self.price else []

    @property
    def definitions(self) -> list[str]:
        """Of every number, each once."""
        return list(dict.fromkeys(str(row["definition"]) for row in self.rows if row["definition"]))


def card_now(project: Project, choices: CardChoices, wait_s: float | None = SOON) -> CardPage:
    """The page as it can be shown after `wait_s` seconds, or with its card however long that takes (None).

    Raises DomainError for a choice that does not exist.
    """
    snapshot = snapshot_of(project)
    human = snapshot.human
    _refuse_unknown(snapshot, choices)
    evaluator = _chosen(snapshot, choices.evaluator)
    labels = snapshot.labels(choices.group, choices.labels)
    scored = [each for each in labels if evaluator is not None and evaluator.on(each.dimension) is not None]
    chosen = next((each for each in labels if each.key == choices.question), next(iter(scored), labels[0]))
    material = None
    if evaluator is not None and chosen in scored and not np.isnan(chosen.values).all():
        material = card_material(
            compare(snapshot.summaries, [evaluator], language=choices.language),
            human,
            next(each for each in human.questions if each.question.key == chosen.key),
            chosen,
            choices.group,
            summary_traits(project, snapshot, choices.language),
        )
    return CardPage(
        snapshot=snapshot,
        choices=choices,
        controls=_controls(snapshot, choices, evaluator, chosen.key),
        evaluator=evaluator,
        question=chosen.title,
        material=material,
        card=None if material is None else _card(project, snapshot.revision, choices, material, wait_s),
        price=None if evaluator is None else run_price(project, evaluator.key),
    )


def card_key(project: Project, revision: int, choices: CardChoices) -> Key:
    """What the card is kept under in the background. What is published tells less, so it is another card."""
    return Key(project.pk, revision, (choices, project.only_published))


def _card(
    project: Project, revision: int, choices: CardChoices, material: CardMaterial, wait_s: float | None
) -> EvaluatorCard | None:
    found = ready_or_start(
        card_key(project, revision, choices), lambda: evaluator_card(material), wait_s=wait_s
    )
    if not isinstance(found, Pending):
        return found
    # Given up for a newer revision: whoever wants to wait gets this one all the same.
    return evaluator_card(material) if wait_s is None else None


def _refuse_unknown(snapshot: Snapshot, choices: CardChoices) -> None:
    keys = [each.question.key for each in snapshot.human.questions]
    refuse_unknown("evaluator", choices.evaluator, ("", *(each.key for each in snapshot.evaluators)))
    refuse_unknown("question", choices.question, ("", *keys))
    refuse_unknown("group", choices.group, ("", *snapshot.human.groups))
    refuse_unknown("labels", choices.labels, tuple(LABEL_RULES))
    refuse_unknown("language", choices.language, (ALL, *snapshot.summaries.language_names))


def _chosen(snapshot: Snapshot, key: str) -> Evaluator | None:
    given = (each for each in snapshot.evaluators if each.key == key or not key)
    return next(given, None)


def _controls(
    snapshot: Snapshot, choices: CardChoices, evaluator: Evaluator | None, question: str
) -> list[Control]:
    questions = [each.question for each in snapshot.human.questions]
    languages = snapshot.summaries.language_names
    return [
        Control(
            "evaluator",
            "Evaluator",
            [(each.key, each.label) for each in snapshot.evaluators],
            evaluator.key if evaluator else "",
        ),
        Control("question", "Question", [(each.key, each.title) for each in questions], question),
        Control(
            "language",
            "Language",
            [(ALL, "all"), *((name, name) for name in languages if len(languages) > 1)],
            choices.language,
        ),
        Control(
            "group", "Raters", [("", "all"), *((name, name) for name in snapshot.human.groups)], choices.group
        ),
        Control(
            "labels", "Labels", [(name, rule.label) for name, rule in LABEL_RULES.items()], choices.labels
        ),
    ]
