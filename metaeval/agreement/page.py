"""The agreement page: which figures it shows and what it says about them."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotation import protocol
from annotation.templatetags.texts import answer_label, language_name
from metaeval.agreement.intervals import VALUE_UNDEFINED
from metaeval.agreement.method import INTERVALS, OWN_SCALE, AgreementMethod
from metaeval.agreement.rated_twice import RatedTwice, answer_totals
from metaeval.agreement.report import AgreementFigure, QuestionAgreement, question_agreements
from metaeval.agreement.skewed_answers import Commonest, commonest_answer
from metaeval.agreement.statistics import STATISTICS
from metaeval.charts import answer_columns
from metaeval.choices import AgreementChoices, Control
from metaeval.export.chart import Chart
from metaeval.heat_table import HeatCell, HeatRow, heat, undefined_reasons
from metaeval.judgements import ALL
from metaeval.method import NONE
from metaeval.refuse_unknown import refuse_unknown
from metaeval.snapshot import Snapshot
from metaeval.stats.agreement.krippendorff import SCALES
from metaeval.stats.arrays import Ints
from metaeval.stats.result import Interval
from metaeval.templatetags.results import short_figure

HEADLINES = ("krippendorff_alpha", "gwet_ac", "pairwise_agreement", "all_agree_share")
"""Statistics that have a column of their own where languages do not need the columns."""

MOST_ANSWERS = 11
"""Answers up to which all pairs of them are laid out."""

NO_INTERVAL = "no interval"

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
    figures: Sequence[tuple[AgreementFigure, str]]
    """Every statistic, with its interval in few words."""
    commonest: Commonest | None
    charts: Sequence[Chart]
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
    hidden: Sequence[Commonest]
    """Questions on which skewed answers keep alpha low beside high agreement, all languages together."""
    no_interval: Sequence[str]
    """Why figures of the table have no interval, each reason once."""
    drawn: Drawn | None
    n_rated_twice: int
    """Summaries with two ratings or more, of the question that has most of them."""

    @property
    def charts(self) -> Sequence[Chart]:
        """Every chart of the page, which are also files."""
        return self.drawn.charts if self.drawn else ()

    @property
    def undefined_reasons(self) -> list[str]:
        return undefined_reasons(self.rows)

    @property
    def definitions(self) -> list[str]:
        """Of every statistic that is drawn, then what they have in common."""
        figures = [figure for figure, _ in self.drawn.figures] if self.drawn else []
        intervals = [figure.agreement.interval for figure in figures]
        every = [
            *(figure.agreement.definition for figure in figures),
            *(interval.definition for interval in intervals if interval),
            *(figure.whose for figure in figures),
        ]
        return list(dict.fromkeys(filter(None, every)))

    @property
    def statistic(self) -> str:
        return STATISTICS[self.choices.statistic].label


def agreement_page(snapshot: Snapshot, choices: AgreementChoices) -> AgreementPage:
    """The page for these choices. Raises DomainError for a choice that does not exist.

    With several languages a column for each and one statistic, which is chosen; else a column for each of
    `HEADLINES` and the chosen one. What is drawn is the chosen question or, if it is no longer there, the
    first, with every statistic.
    """
    refuse_unknown("statistic", choices.statistic, tuple(STATISTICS))
    refuse_unknown("language", choices.language, (ALL, *snapshot.summaries.language_names))
    method = AgreementMethod(choices.scale, choices.interval)
    asked = question_agreements(snapshot.summaries, snapshot.human, choices.group)
    chosen = next((each for each in asked if each.question.key == choices.question), asked[0])
    columns = _columns(snapshot, choices)
    commonest = [commonest_answer(each, ALL) for each in asked]
    table = [_figures(each, columns, method) for each in asked]
    intervals = [figure.agreement.interval for figures in table for figure in figures]
    return AgreementPage(
        snapshot=snapshot,
        choices=choices,
        controls=_controls(snapshot, choices),
        columns=[title for title, _, _ in columns],
        rows=[
            HeatRow(
                each.question.title,
                most.note if most else "",
                [_cell(figure, chosen.question, choices) for figure in figures],
            )
            for each, most, figures in zip(asked, commonest, table, strict=True)
        ],
        hidden=[most for most in commonest if most and most.hides_agreement],
        no_interval=list(
            dict.fromkeys(each.reason for each in intervals if each and _shown(each) == NO_INTERVAL)
        ),
        drawn=_draw(snapshot, choices, chosen, method),
        n_rated_twice=max(each.in_language(ALL).n_units for each in asked),
    )


def agreement_titles(snapshot: Snapshot) -> dict[str, str]:
    """What questions, and languages with statistics, are called in a printed table."""
    titles = {ratings.question.key: ratings.question.title for ratings in snapshot.human.questions}
    for name, statistic in STATISTICS.items():
        titles[f"{ALL} {name}"] = statistic.label
        for language in snapshot.summaries.language_names:
            titles[f"{language} {name}"] = f"{statistic.label}, {language_name(language)}"
    return titles


def _columns(snapshot: Snapshot, choices: AgreementChoices) -> list[Column]:
    names = snapshot.summaries.language_names
    if len(names) > 1:
        each = [(language_name(name), name, choices.statistic) for name in names]
        return [("All languages", ALL, choices.statistic), *each]
    shown = [name for name in STATISTICS if name in (*HEADLINES, choices.statistic)]
    return [(STATISTICS[name].label, ALL, name) for name in shown]


def _figures(
    asked: QuestionAgreement, columns: Sequence[Column], method: AgreementMethod
) -> list[AgreementFigure]:
    """Those of one question, column by column."""
    statistics: dict[str, list[str]] = {}
    for _, language, statistic in columns:
        statistics.setdefault(language, []).append(statistic)
    return [
        figure for language, names in statistics.items() for figure in asked.figures(language, names, method)
    ]


def _controls(snapshot: Snapshot, choices: AgreementChoices) -> list[Control]:
    statistics = [(name, statistic.label) for name, statistic in STATISTICS.items()]
    scales = [(OWN_SCALE, "each question's own"), *((name, name) for name in SCALES)]
    intervals = [*((name, each.label) for name, each in INTERVALS.items()), (NONE, "none")]
    groups = [("", "all"), *((name, name) for name in snapshot.human.groups)]
    return [
        Control("statistic", "Statistic", statistics, choices.statistic),
        Control("interval", "95% interval", intervals, choices.interval),
        Control("scale", "Scale for α, AC, κ", scales, choices.scale),
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
        interval=_shown(figure.agreement.interval),
    )


def _shown(interval: Interval | None) -> str:
    """The two ends in few words; empty where no interval is wanted or the value itself is undefined."""
    if interval is None or interval.reason == VALUE_UNDEFINED:
        return ""
    if interval.reason:
        return NO_INTERVAL
    return f"{short_figure(interval.low)} to {short_figure(interval.high)}"


def _draw(
    snapshot: Snapshot, choices: AgreementChoices, chosen: QuestionAgreement, method: AgreementMethod
) -> Drawn | None:
    language = choices.language
    totals = answer_totals(snapshot.summaries, snapshot.human, chosen.ratings, language, choices.group)
    if not totals.sum():
        return None
    answers = [answer_label(value) for value in chosen.ratings.values]
    few = len(answers) <= MOST_ANSWERS
    twice = chosen.in_language(language)
    figures = chosen.figures(language, tuple(STATISTICS), method)
    return Drawn(
        question=chosen.question,
        language=language,
        figures=[(figure, _shown(figure.agreement.interval)) for figure in figures],
        commonest=commonest_answer(chosen, language),
        charts=[_answers_chart(chosen.question, language, totals, answers)] if few else [],
        answers=answers,
        pairs=_pairs(twice, answers) if few and twice.n_units else [],
    )


def _answers_chart(question: protocol.Question, language: str, totals: Ints, answers: Sequence[str]) -> Chart:
    return Chart(
        "answers",
        (question.key, "" if language == ALL else language),
        lambda: answer_columns(totals, answers, title=f"Answers, {question.title}"),
        lambda: [
            {"question": question.key, "language": language, "answer": answer, "ratings": times}
            for answer, times in zip(answers, totals.tolist(), strict=True)
        ],
        "All answers, also to summaries that were rated once.",
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
