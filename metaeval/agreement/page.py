"""The agreement page."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote, urlencode

from annotation import protocol
from annotation.templatetags.texts import answer_label
from metaeval.agreement.intervals import VALUE_UNDEFINED
from metaeval.agreement.method import (
    ALWAYS_VALID,
    ARTICLES,
    BY_LANGUAGE,
    BY_STATE,
    BY_WEEK,
    INTERVALS,
    OVER_ARTICLES,
    OWN_SCALE,
    PARTS,
    AgreementMethod,
)
from metaeval.agreement.parts import SECOND_PER_WEEK, part_title
from metaeval.agreement.ratings_per_unit import RatingsPerUnit, answer_totals
from metaeval.agreement.report import (
    AgreementFigure,
    CommonAnswer,
    QuestionAgreement,
    commonest_answer,
    question_agreements,
)
from metaeval.agreement.statistics import STATISTICS
from metaeval.charts import answer_columns
from metaeval.charts.heat_table import HeatCell, HeatRow, heat, undefined_reasons
from metaeval.export.chart import Chart
from metaeval.live.choices import AgreementChoices, Control
from metaeval.live.controls import raters_control
from metaeval.live.results_page import ResultsPage
from metaeval.snapshot.arrays import ALL, Summaries
from metaeval.snapshot.rater_groups import groups_apart
from metaeval.snapshot.snapshot import Snapshot
from metaeval.stats.agreement.krippendorff import SCALES
from metaeval.stats.agreement.planned_units import planned_always_valid, planned_units
from metaeval.stats.arrays import Ints
from metaeval.stats.check_choice import check_choice
from metaeval.stats.method import NONE
from metaeval.stats.result import Interval, each_once
from metaeval.stats.uncertainty.article_draws import FEWEST_ARTICLES
from metaeval.templatetags.results import NO_INTERVAL, short_range

HEADLINES = ("krippendorff_alpha", "gwet_ac", "pairwise_agreement", "all_agree_share")
"""The columns of a project with one language."""

MOST_ANSWERS = 11
"""Scales with more answers get no chart and no table of pairs."""

TARGETS = ("0.1", "0.05", "0.03")
OVER_SUMMARIES = ("units", "units_bca")
"""The intervals whose width falls as summaries are added."""

Column = tuple[str, str, str]
"""Title, language, statistic."""


@dataclass(frozen=True)
class AnswerPair:
    """The number of times two raters of a summary gave these two answers."""

    times: int
    share: str
    """Share of its row, in percent."""
    heat: int | None
    is_agreement: bool
    address: str
    """The query, with its question mark, of the queue of summaries that got both answers."""


@dataclass(frozen=True)
class Needed:
    """The articles, the summaries with two ratings or more, and the ratings that an interval needs."""

    target: str
    """Half the width of the interval."""
    articles: int = 0
    """0 if the interval is not over articles."""
    summaries: int = 0
    """0 if more than 100 times as many as there are."""
    ratings: int = 0
    is_reached: bool = False
    """True if there are as many already."""


@dataclass(frozen=True)
class AgreementDetails:
    """All statistics of the chosen question and language, with charts."""

    question: protocol.Question
    language: str
    figures: Sequence[tuple[AgreementFigure, str]]
    """Every statistic, with its interval as text."""
    commonest: CommonAnswer | None
    charts: Sequence[Chart]
    needed: Sequence[Needed]
    """Needs of the chosen statistic; empty if its interval tells nothing."""
    needed_for: str
    """The chosen statistic."""
    needed_units: str
    """Units of its interval: articles or summaries."""
    answers: Sequence[str]
    pairs: Sequence[tuple[str, Sequence[AnswerPair]]]
    """Answer and its row: how often another rater of the same summary gave each answer."""

    @property
    def no_interval(self) -> list[str]:
        """Return the reasons why defined figures have no interval."""
        found = [figure.agreement for figure, _ in self.figures]
        return each_once(each.interval.reason for each in found if each.interval and not each.reason)


@dataclass(frozen=True, kw_only=True)
class AgreementPage(ResultsPage):
    choices: AgreementChoices
    columns: Sequence[str]
    rows: Sequence[HeatRow]
    hidden: Sequence[CommonAnswer]
    """Questions with high agreement whose skewed answers keep alpha low, in all languages together."""
    no_interval: Sequence[str]
    """Reasons why figures of the table have no interval."""
    drawn: AgreementDetails | None
    n_rated_twice: int
    """Summaries with two ratings or more, of the question that has most of them."""

    @property
    def charts(self) -> Sequence[Chart]:
        return self.drawn.charts if self.drawn else ()

    @property
    def undefined_reasons(self) -> list[str]:
        return undefined_reasons(self.rows)

    @property
    def statistic(self) -> str:
        return STATISTICS[self.choices.statistic].label

    @property
    def looks(self) -> str:
        """Return 'every' if the intervals hold at every look, 'one' if not; empty without intervals."""
        interval = _method(self.snapshot, self.choices).interval
        if interval == NONE:
            return ""
        return "every" if interval == ALWAYS_VALID else "one"

    @property
    def for_one_look(self) -> str:
        """Return the query of this page with intervals for a single look."""
        return self.choices.address(interval=ARTICLES)

    @property
    def for_every_look(self) -> str:
        """Return the query of this page with intervals that hold at every look."""
        return self.choices.address(interval=BY_STATE)


def agreement_page(
    snapshot: Snapshot, choices: AgreementChoices, in_parts: Summaries | None = None
) -> AgreementPage:
    """Return the page for these choices. Raises DomainError for a choice that does not exist.

    With several languages, each has a column with the chosen statistic; so have datasets or weeks, for which
    `in_parts` are the summaries of `summaries_by`. With one, the columns are `HEADLINES` and the chosen
    statistic. Details are of the chosen question, or of the first one if that is gone; they are told apart
    by language alone.

    Where groups of raters differ beyond chance and none is chosen, each has a row of its own for every
    question, and there are no details: a mixture of both would be nobody's answers.
    """
    check_choice("statistic", choices.statistic, tuple(STATISTICS))
    check_choice("language", choices.language, (ALL, *snapshot.summaries.language_names))
    if choices.by != BY_LANGUAGE:
        choices = replace(choices, language=ALL)
    method = _method(snapshot, choices)
    summaries, human = in_parts or snapshot.summaries, snapshot.human
    apart = groups_apart(summaries, human, choices.group)
    is_split = bool(apart)
    of_groups = [question_agreements(summaries, human, group) for group in apart or (choices.group,)]
    shown = [each for of_question in zip(*of_groups, strict=True) for each in of_question]
    columns = _columns(summaries, choices)
    commonest = [commonest_answer(each, ALL) for each in shown]
    table = [_figures(each, columns, method) for each in shown]
    in_table = [figure for figures in table for figure in figures]
    intervals = [figure.agreement.interval for figure in in_table]
    chosen = next((each for each in shown if each.question.key == choices.question), shown[0])
    drawn = None if is_split else _details(snapshot, choices, chosen, method)
    in_detail = [figure for figure, _ in drawn.figures] if drawn else []
    defined = in_table if is_split else in_detail
    return AgreementPage(
        snapshot=snapshot,
        choices=choices,
        controls=_controls(snapshot, choices),
        columns=[title for title, _, _ in columns],
        rows=[
            HeatRow(
                f"{each.question.title} · {each.group}" if is_split else each.question.title,
                most.note if most else "",
                [
                    _cell(figure, each.group, None if is_split else chosen.question, choices)
                    for figure in figures
                ],
            )
            for each, most, figures in zip(shown, commonest, table, strict=True)
        ],
        hidden=[most for most in commonest if most and most.hides_agreement],
        no_interval=each_once(each.reason for each in intervals if each and _shown(each) == NO_INTERVAL),
        drawn=drawn,
        definitions=_definitions(
            defined,
            SECOND_PER_WEEK if choices.by == BY_WEEK else "",
            _needed_definition(method) if drawn and drawn.needed else "",
        ),
        n_rated_twice=max(each.in_language(ALL).n_units for each in shown),
        is_split_by_group=is_split,
    )


def agreement_titles(snapshot: Snapshot, summaries: Summaries, by: str) -> dict[str, str]:
    """Return the titles of questions, and of statistics by language, dataset or week, for a printed table.

    `summaries` are those of `summaries_by`.
    """
    titles = {ratings.question.key: ratings.question.title for ratings in snapshot.human.questions}
    for name, statistic in STATISTICS.items():
        titles[f"{ALL} {name}"] = statistic.label
        for part in summaries.language_names:
            titles[f"{part} {name}"] = f"{statistic.label}, {part_title(part, by)}"
    return titles


def _method(snapshot: Snapshot, choices: AgreementChoices) -> AgreementMethod:
    return AgreementMethod(choices.scale, choices.interval).in_state(is_live=snapshot.is_live)


def _columns(summaries: Summaries, choices: AgreementChoices) -> list[Column]:
    names = summaries.language_names
    if len(names) > 1:
        each = [(part_title(name, choices.by), name, choices.statistic) for name in names]
        return [(f"All {PARTS[choices.by]}s", ALL, choices.statistic), *each]
    shown = [name for name in STATISTICS if name in (*HEADLINES, choices.statistic)]
    return [(STATISTICS[name].label, ALL, name) for name in shown]


def _figures(
    agreement: QuestionAgreement, columns: Sequence[Column], method: AgreementMethod
) -> list[AgreementFigure]:
    """Return the figures of one question, column by column."""
    statistics: dict[str, list[str]] = {}
    for _, language, statistic in columns:
        statistics.setdefault(language, []).append(statistic)
    return [
        figure
        for language, names in statistics.items()
        for figure in agreement.figures(language, names, method)
    ]


def _controls(snapshot: Snapshot, choices: AgreementChoices) -> list[Control]:
    statistics = [(name, statistic.label) for name, statistic in STATISTICS.items()]
    scales = [(OWN_SCALE, "each question's own scale"), *((name, name) for name in SCALES)]
    intervals = [
        (BY_STATE, "holds at every look until the campaign is closed"),
        *((name, each.label) for name, each in INTERVALS.items()),
        (NONE, "none"),
    ]
    return [
        Control("statistic", "Statistic", statistics, choices.statistic),
        Control("by", "By", list(PARTS.items()), choices.by),
        Control("interval", "95% interval", intervals, choices.interval),
        Control("scale", "Scale for α, AC, κ", scales, choices.scale),
        raters_control(snapshot, choices.group),
    ]


def _cell(
    figure: AgreementFigure, group: str, chosen: protocol.Question | None, choices: AgreementChoices
) -> HeatCell:
    """Return a cell; `chosen` is the question whose details the page shows."""
    of_group = f"-{group}" if group != choices.group else ""
    return HeatCell(
        id=f"figure-{figure.question.key}-{quote(figure.language)}-{figure.statistic}{of_group}",
        value=figure.agreement.value,
        below=figure.agreement.reason or f"n {figure.agreement.units:,}",
        heat=heat(figure.agreement.value),
        address=choices.address(
            question=figure.question.key,
            # Details are told apart by language alone.
            language=figure.language if choices.by == BY_LANGUAGE else ALL,
            group=group,
        ),
        is_chosen=figure.question == chosen and figure.language == choices.language,
        interval=_shown(figure.agreement.interval),
    )


def _shown(interval: Interval | None) -> str:
    """Return the interval as text; empty if none is computed or the value is undefined."""
    return "" if interval is None or interval.reason == VALUE_UNDEFINED else short_range(interval)


def _details(
    snapshot: Snapshot, choices: AgreementChoices, chosen: QuestionAgreement, method: AgreementMethod
) -> AgreementDetails | None:
    language = choices.language
    totals = answer_totals(snapshot.summaries, snapshot.human, chosen.ratings, language, choices.group)
    if not totals.sum():
        return None
    answers = [answer_label(value) for value in chosen.ratings.values]
    few = len(answers) <= MOST_ANSWERS
    twice = chosen.in_language(language)
    figures = chosen.figures(language, tuple(STATISTICS), method)
    return AgreementDetails(
        question=chosen.question,
        language=language,
        figures=[(figure, _shown(figure.agreement.interval)) for figure in figures],
        commonest=commonest_answer(chosen, language),
        charts=[_answers_chart(chosen.question, language, totals, answers)] if few else [],
        needed=_needed(figures, choices.statistic, twice, method),
        needed_for=STATISTICS[choices.statistic].label,
        needed_units="articles" if method.interval in OVER_ARTICLES else "summaries",
        answers=answers,
        pairs=_pairs(twice, chosen.ratings.values, choices, chosen.question) if few and twice.n_units else [],
    )


def _needed(
    figures: Sequence[AgreementFigure], statistic: str, twice: RatingsPerUnit, method: AgreementMethod
) -> list[Needed]:
    interval = next(each.agreement.interval for each in figures if each.statistic == statistic)
    over_articles = method.interval in OVER_ARTICLES
    n, fewest = (twice.n_articles, FEWEST_ARTICLES) if over_articles else (twice.n_units, 2)
    if interval is None or method.interval not in (*OVER_ARTICLES, *OVER_SUMMARIES) or not n:
        return []
    plan = planned_always_valid if method.interval == ALWAYS_VALID else planned_units
    found = []
    for target in TARGETS:
        planned = plan(interval, n, float(target))
        if math.isnan(planned):
            return []
        wanted = max(planned, fewest)
        if math.isinf(wanted):
            found.append(Needed(target))
            continue
        summaries, ratings = (math.ceil(wanted * each / n) for each in (twice.n_units, twice.n_ratings))
        articles = int(wanted) if over_articles else 0
        found.append(Needed(target, articles, summaries, ratings, is_reached=wanted <= n))
    return found


def _needed_definition(method: AgreementMethod) -> str:
    """Return the definition of the needed articles or summaries: full sentences."""
    if method.interval in OVER_ARTICLES:
        units, parts = "articles", "summaries and ratings"
    else:
        units, parts = "summaries", "ratings"
    falls = (
        f"the square root of their number, if further ones are of the same kind, with as many {parts} each"
    )
    if method.interval == ALWAYS_VALID:
        falls = (
            "the quantile of the always-valid interval over the square root of their number, if further ones"
            f" are of the same kind, with as many {parts} each"
        )
    return (
        f"Needed {units}: half of the interval is assumed to fall with {falls}. Widths vary: about half of"
        " the campaigns of that size reach the target. No number is given beyond 100 times the present one."
    )


def _definitions(figures: Sequence[AgreementFigure], *more: str) -> list[str]:
    """Return the definition of every statistic, then what they have in common."""
    intervals = [figure.agreement.interval for figure in figures]
    return each_once(
        [
            *(figure.agreement.definition for figure in figures),
            *(interval.definition for interval in intervals if interval),
            *(figure.whose for figure in figures),
            *(figure.warning for figure in figures),
            *more,
        ]
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
        "All answers, including those to summaries with one rating.",
    )


def _pairs(
    twice: RatingsPerUnit, values: Sequence[str], choices: AgreementChoices, question: protocol.Question
) -> list[tuple[str, Sequence[AnswerPair]]]:
    """Return the table of ordered pairs of answers, shaded within each row."""
    pairs = twice.pairs
    among = {"question": question.key, "language": choices.language, "group": choices.group, "state": "all"}
    rows: list[tuple[str, Sequence[AnswerPair]]] = []
    for first, one in enumerate(values):
        whole = int(pairs[first].sum())
        cells = [
            AnswerPair(
                times=times,
                share=f"{times / whole:.0%}" if whole else "–",
                heat=heat(times / whole) if whole else None,
                is_agreement=first == second,
                address=f"?{urlencode({**among, 'one': one, 'other': values[second]})}",
            )
            for second, times in enumerate(pairs[first].tolist())
        ]
        rows.append((answer_label(one), cells))
    return rows
