"""The agreement page: which figures it shows and what it says about them."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString, mark_safe

from annotation import protocol
from annotation.templatetags.texts import answer_label, language_name
from metaeval.agreement_report import (
    OWN_SCALE,
    STATISTICS,
    AgreementFigure,
    RatedTwice,
    agreement_report,
    rated_twice,
)
from metaeval.charts import answer_columns
from metaeval.choices import AgreementChoices, Control, refuse_unknown
from metaeval.heat_table import HeatCell, HeatRow, heat, undefined_reasons
from metaeval.judgements import ALL
from metaeval.snapshot import Snapshot
from metaeval.stats.krippendorff import SCALES

MOST_ANSWERS = 11
"""Answers up to which all pairs of them are laid out."""

Column = tuple[str, str, str]
"""Title, language, statistic."""


@dataclass(frozen=True)
class PairCell:
    times: int
    share: str
    """Of its row, in percent."""
    heat: int | None
    is_agreement: bool


@dataclass(frozen=True)
class Drawn:
    """The question and language that were chosen, with what stands behind the figures."""

    question: protocol.Question
    language: str
    figures: Sequence[AgreementFigure]
    chart: SafeString | None
    answers: Sequence[str]
    pairs: Sequence[tuple[str, Sequence[PairCell]]]
    """By answer: how often another rating of the same summary gave each answer."""


@dataclass(frozen=True)
class AgreementPage:
    snapshot: Snapshot
    choices: AgreementChoices
    controls: Sequence[Control]
    columns: Sequence[str]
    rows: Sequence[HeatRow]
    drawn: Drawn | None
    n_rated_twice: int
    """Summaries with two ratings or more of the first question."""

    @property
    def undefined_reasons(self) -> list[str]:
        return undefined_reasons(self.rows)

    @property
    def statistic(self) -> str:
        return STATISTICS[self.choices.statistic].label


def agreement_page(snapshot: Snapshot, choices: AgreementChoices) -> AgreementPage:
    """The page for these choices. Raises DomainError for a choice that does not exist.

    With several languages a column for each and one statistic, which is chosen; else a column for each
    statistic. What is drawn is the chosen question or, if it is no longer there, the first.
    """
    refuse_unknown("statistic", choices.statistic, tuple(STATISTICS))
    refuse_unknown("language", choices.language, (ALL, *snapshot.summaries.language_names))
    report = agreement_report(snapshot.summaries, snapshot.human, group=choices.group, scale=choices.scale)
    by_place = {(each.question.key, each.language, each.statistic): each for each in report}
    questions = [ratings.question for ratings in snapshot.human.questions]
    chosen = next((each for each in questions if each.key == choices.question), questions[0])
    columns = _columns(snapshot, choices)
    return AgreementPage(
        snapshot=snapshot,
        choices=choices,
        controls=_controls(snapshot, choices),
        columns=[title for title, _, _ in columns],
        rows=[
            HeatRow(
                question.title,
                "",
                [
                    _cell(by_place[question.key, language, statistic], chosen, choices)
                    for _, language, statistic in columns
                ],
            )
            for question in questions
        ],
        drawn=_draw(
            snapshot,
            choices,
            [by_place[chosen.key, choices.language, statistic] for statistic in STATISTICS],
        ),
        n_rated_twice=by_place[questions[0].key, ALL, "krippendorff_alpha"].agreement.units,
    )


def _columns(snapshot: Snapshot, choices: AgreementChoices) -> list[Column]:
    names = snapshot.summaries.language_names
    if len(names) > 1:
        each = [(language_name(name), name, choices.statistic) for name in names]
        return [("All languages", ALL, choices.statistic), *each]
    return [(statistic.label, ALL, name) for name, statistic in STATISTICS.items()]


def _controls(snapshot: Snapshot, choices: AgreementChoices) -> list[Control]:
    statistics = [(name, statistic.label) for name, statistic in STATISTICS.items()]
    several = len(snapshot.summaries.language_names) > 1
    scales = [(OWN_SCALE, "each question's own"), *((name, name) for name in SCALES)]
    groups = [("", "all"), *((name, name) for name in snapshot.human.groups)]
    return [
        Control("statistic", "Statistic", statistics if several else [], choices.statistic),
        Control("scale", "Scale for α", scales, choices.scale),
        Control("group", "Raters", groups, choices.group),
    ]


def _cell(figure: AgreementFigure, chosen: protocol.Question, choices: AgreementChoices) -> HeatCell:
    return HeatCell(
        id=f"figure-{figure.question.key}-{figure.language}-{figure.statistic}",
        value=figure.agreement.value,
        below=figure.agreement.reason or f"n {figure.agreement.units:,}",
        heat=heat(figure.agreement.value),
        address=choices.address(question=figure.question.key, language=figure.language),
        is_chosen=figure.question == chosen and figure.language == choices.language,
    )


def _draw(snapshot: Snapshot, choices: AgreementChoices, figures: Sequence[AgreementFigure]) -> Drawn | None:
    question = figures[0].question
    ratings = next(each for each in snapshot.human.questions if each.question == question)
    twice = rated_twice(snapshot.summaries, snapshot.human, ratings, choices.language, choices.group)
    if not twice.totals.sum():
        return None
    answers = [answer_label(value) for value in ratings.values]
    few = len(answers) <= MOST_ANSWERS
    return Drawn(
        question=question,
        language=choices.language,
        figures=figures,
        chart=mark_safe(answer_columns(twice.totals, answers, title="Answers")) if few else None,
        answers=answers,
        pairs=_pairs(twice, answers) if few and len(twice.counts) else [],
    )


def _pairs(twice: RatedTwice, answers: Sequence[str]) -> list[tuple[str, Sequence[PairCell]]]:
    """The table of ordered pairs, shaded within each row: what the others say when one says this."""
    pairs = twice.pairs
    rows: list[tuple[str, Sequence[PairCell]]] = []
    for first, answer in enumerate(answers):
        whole = int(pairs[first].sum())
        cells = [
            PairCell(
                times=times,
                share=f"{times / whole:.0%}" if whole else "–",
                heat=heat(times / whole) if whole else None,
                is_agreement=first == second,
            )
            for second, times in enumerate(pairs[first].tolist())
        ]
        rows.append((answer, cells))
    return rows
