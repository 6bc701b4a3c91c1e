"""The answers page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotation.templatetags.texts import language_name
from metaeval.answers.question_means import ALL_SYSTEMS, BY_SYSTEM, ROWS, MeansRow, n_places, question_means
from metaeval.answers.report import (
    ARTICLES,
    CORRELATED,
    COUNTED,
    EVERY,
    LEFT_OUT,
    OF_ANSWERS,
    OF_LABELS,
    Collected,
    MeanLabel,
    QuestionCorrelation,
    answer_correlations,
    collected,
    question_correlations,
    system_means,
)
from metaeval.answers.unasked import AS_NO, DEFINITION, UNASKED, can_be_unasked, unasked_as_no
from metaeval.answers.unasked import LEFT_OUT as UNASKED_LEFT_OUT
from metaeval.charts.heat_table import HeatCell, HeatRow, heat
from metaeval.live.choices import Choices, Control
from metaeval.live.controls import dataset_control, labels_control, raters_control
from metaeval.live.results_page import ResultsPage, side_by_side
from metaeval.snapshot.arrays import ALL, Labels
from metaeval.snapshot.rater_groups import groups_apart
from metaeval.snapshot.snapshot import PerSnapshot, Snapshot
from metaeval.stats.arrays import Bools
from metaeval.stats.check_choice import check_choice
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.method import BY_LEVEL, ONE_LOOK
from metaeval.stats.result import each_once
from metaeval.templatetags.results import short_range

BETWEEN_QUESTIONS = ("pearson", "spearman", "kendall_b")
"""Coefficients that take both questions alike."""
TOGETHER = "All"


@dataclass(frozen=True)
class AnswersChoices(Choices):
    question: str = ""
    """Key of the question whose labels are shown by system; the first one if empty."""
    dataset: str = ALL
    articles: str = EVERY
    rows: str = BY_SYSTEM
    """The rows of the table of all questions."""
    unasked: str = UNASKED_LEFT_OUT
    """The treatment of questions that were not asked, in the means."""
    coefficient: str = "pearson"
    correlated: str = OF_LABELS
    """OF_LABELS, or OF_ANSWERS."""
    group: str = ""
    labels: str = "mean"
    """The rule by which several raters' answers become one label."""
    interval: str = BY_LEVEL
    """BY_LEVEL, or ONE_LOOK."""


@dataclass(frozen=True)
class CollectedRow:
    """One row of the first table, as it is shown."""

    language: str
    dataset: str
    counts: Sequence[int]
    is_total: bool


@dataclass(frozen=True)
class HeatTable:
    columns: Sequence[str]
    rows: Sequence[HeatRow]


@dataclass(frozen=True, kw_only=True)
class AnswersPage(ResultsPage):
    choices: AnswersChoices
    collected: Sequence[Collected]
    means: Sequence[MeanLabel]
    correlations: Sequence[QuestionCorrelation]
    title: str
    """Title of the question whose labels are shown by system."""
    systems: HeatTable
    question_means: Sequence[MeansRow]
    all_questions: HeatTable
    """The `question_means` as they are shown."""
    questions: HeatTable
    titles: Mapping[str, str]
    """Titles of questions, languages and counts, for a printed table."""

    @property
    def looks(self) -> str:
        return "every" if _holds_always(self.snapshot, self.choices) else "one"

    @property
    def for_one_look(self) -> str:
        """Return the query of this page with intervals for a single look."""
        return self.choices.address(interval=ONE_LOOK)

    @property
    def for_every_look(self) -> str:
        return self.choices.address(interval=BY_LEVEL)

    @property
    def has_means(self) -> bool:
        """Return whether a system has a mean label."""
        return any(part.means for part in self.parts)

    @property
    def chosen_summaries(self) -> Bools:
        return self.snapshot.summaries.of_dataset(self.choices.dataset)

    @property
    def counted(self) -> Sequence[str]:
        return tuple(COUNTED.values())

    @property
    def has_datasets(self) -> bool:
        return any(each.dataset not in ("", ALL) for each in self.collected)

    @property
    def collected_rows(self) -> list[CollectedRow]:
        """The rows of the first table; the total only where it says more than the one row."""
        shown = self.collected if len(self.collected) > 2 else self.collected[:1]
        return [
            CollectedRow(
                "All" if each.language == ALL else language_name(each.language),
                "" if each.dataset == ALL else each.dataset or "none named",
                tuple(each.counts.values()),
                each.language == ALL,
            )
            for each in shown
        ]

    @property
    def why_left_out(self) -> str:
        """Return what articles lack that are left out of the means."""
        return LEFT_OUT[self.choices.articles].removeprefix("articles ")

    @property
    def is_unasked_no(self) -> bool:
        return self.choices.unasked == AS_NO

    @property
    def left_out(self) -> int:
        """Articles left out of the column of all together."""
        return next((sum(each.left_out.values()) for each in self.means if each.group == ALL), 0)


def _holds_always(snapshot: Snapshot, choices: AnswersChoices) -> bool:
    """Return whether the intervals hold at every look. Raises DomainError for an unknown choice."""
    check_choice("interval", choices.interval, (BY_LEVEL, ONE_LOOK))
    return snapshot.is_live and choices.interval == BY_LEVEL


def answers_page(snapshot: Snapshot, choices: AnswersChoices) -> AnswersPage:
    """Return the page for these choices. Raises DomainError for a choice that does not exist.

    Where groups of raters differ beyond chance and none is chosen, each has tables of its own labels: a
    mixture would be nobody's answers. What was collected is counted over all.
    """
    groups = groups_apart(snapshot.summaries, snapshot.human, choices.group)
    if not groups:
        return whole_page(snapshot, choices)
    apart = [whole_page(snapshot, replace(choices, group=group)) for group in groups]
    return side_by_side(apart, choices, collected=collected(snapshot.summaries, snapshot.human))


def whole_page(snapshot: Snapshot, choices: AnswersChoices) -> AnswersPage:
    """Return the page with one table of each kind. Without a chosen group of raters, all are mixed.

    The systems' means are in columns by language, or by dataset if there is one language. Raises as
    `answers_page`.
    """
    summaries = snapshot.summaries
    check_choice("dataset", choices.dataset, (ALL, *summaries.dataset_names))
    check_choice("articles", choices.articles, tuple(ARTICLES))
    check_choice("rows", choices.rows, tuple(ROWS))
    check_choice("unasked", choices.unasked, tuple(UNASKED))
    check_choice("coefficient", choices.coefficient, BETWEEN_QUESTIONS)
    check_choice("correlated", choices.correlated, tuple(CORRELATED))
    labels = snapshot.labels(choices.group, choices.labels)
    in_means = _labels_in_means(snapshot, choices)
    shown = next((each for each in in_means if each.key == choices.question), in_means[0])
    chosen = summaries.of_dataset(choices.dataset)
    groups = _groups(snapshot, chosen)
    always = _holds_always(snapshot, choices)
    means = list(system_means(summaries, shown, groups, articles=choices.articles, at_every_look=always))
    of_questions = question_means(
        summaries,
        in_means,
        chosen,
        rows=choices.rows,
        articles=choices.articles,
        at_every_look=always,
    )
    if choices.correlated == OF_ANSWERS:
        correlations = answer_correlations(snapshot.human, labels, choices.coefficient, chosen, choices.group)
    else:
        correlations = question_correlations(labels, choices.coefficient, chosen)
    found = collected(summaries, snapshot.human, choices.group)
    return AnswersPage(
        snapshot=snapshot,
        choices=choices,
        controls=_controls(snapshot, choices, labels, shown),
        collected=found,
        means=means,
        correlations=correlations,
        title=shown.title,
        systems=_systems_table(means, shown, groups),
        question_means=of_questions,
        all_questions=_all_questions_table(of_questions, in_means),
        questions=_questions_table(labels, correlations),
        titles=_titles(snapshot, labels, found) | {each.name: _row_title(each) for each in of_questions},
        definitions=each_once(
            [each.definition for each in means]
            + [each.definition for row in of_questions for each in row.means if each]
            + [each.result.definition for each in correlations]
        ),
    )


_FILLED: PerSnapshot[str, Snapshot] = PerSnapshot(1)


def _labels_in_means(snapshot: Snapshot, choices: AnswersChoices) -> Sequence[Labels]:
    """Return the labels of each question, with questions that were not asked as the reader chose."""
    if choices.unasked == UNASKED_LEFT_OUT:
        return snapshot.labels(choices.group, choices.labels)
    filled = _FILLED.result(snapshot, AS_NO, lambda: replace(snapshot, human=unasked_as_no(snapshot.human)))
    labels = filled.labels(choices.group, choices.labels)
    return [replace(each, definition=f"{each.definition} {DEFINITION}") for each in labels]


def _groups(snapshot: Snapshot, chosen: Bools) -> dict[str, Bools]:
    """Return the columns of the systems' means: their summaries (summaries,) among the chosen."""
    summaries = snapshot.summaries
    groups = {ALL: chosen}
    if len(summaries.language_names) > 1:
        groups |= {each: chosen & summaries.in_language(each) for each in summaries.language_names}
    elif len(summaries.dataset_names) > 1:
        groups |= {each: chosen & summaries.of_dataset(each) for each in summaries.dataset_names}
    return {name: members for name, members in groups.items() if members.any()}


def _controls(
    snapshot: Snapshot, choices: AnswersChoices, labels: Sequence[Labels], shown: Labels
) -> list[Control]:
    coefficients = [(name, COEFFICIENTS[name].label) for name in BETWEEN_QUESTIONS]
    rows = list(ROWS.items()) if n_places(snapshot.summaries) > 1 else []
    unasked = list(UNASKED.items()) if can_be_unasked(snapshot.human) else []
    return [
        Control("question", "Question", [(each.key, each.title) for each in labels], shown.key),
        dataset_control(snapshot, choices.dataset),
        Control("articles", "Systems on", list(ARTICLES.items()), choices.articles),
        Control("rows", "All questions by", rows, choices.rows),
        Control("unasked", "Questions not asked", unasked, choices.unasked),
        Control("coefficient", "Between questions", coefficients, choices.coefficient),
        Control("correlated", "Correlate", list(CORRELATED.items()), choices.correlated),
        raters_control(snapshot, choices.group),
        labels_control(choices.labels),
    ]


def _systems_table(means: Sequence[MeanLabel], labels: Labels, groups: Mapping[str, Bools]) -> HeatTable:
    by_place = {(each.system, each.group): each for each in means}
    low, high = labels.scale.ends or (np.nan, np.nan)
    rows = [
        HeatRow(system, "", [_mean_cell(by_place.get((system, group)), low, high) for group in groups])
        for system in sorted({each.system for each in means})
    ]
    return HeatTable([_group_title(each) for each in groups], rows)


def _all_questions_table(rows: Sequence[MeansRow], labels: Sequence[Labels]) -> HeatTable:
    ends = [each.scale.ends or (np.nan, np.nan) for each in labels]
    return HeatTable(
        [each.title for each in labels],
        [
            HeatRow(
                _system_title(row),
                _place_title(row),
                [_mean_cell(mean, *of_scale) for mean, of_scale in zip(row.means, ends, strict=True)],
            )
            for row in rows
        ],
    )


def _mean_cell(mean: MeanLabel | None, low: float, high: float) -> HeatCell | None:
    if mean is None:
        return None
    estimate = mean.estimate
    return HeatCell(
        id="",
        value=estimate.value,
        below=estimate.reason or f"n {estimate.labelled:,}",
        heat=None if np.isnan(low) else heat(estimate.value, low, high),
        address="",
        is_chosen=False,
        interval="" if estimate.interval.reason else short_range(estimate.interval),
    )


def _questions_table(labels: Sequence[Labels], found: Sequence[QuestionCorrelation]) -> HeatTable:
    """Return the upper triangle, without the diagonal."""
    by_place = {(each.question, each.other): each for each in found}
    rows = [
        HeatRow(
            first.title, "", [_correlation_cell(by_place.get((first.key, other.key))) for other in labels[1:]]
        )
        for first in labels[:-1]
    ]
    return HeatTable([each.title for each in labels[1:]], rows)


def _correlation_cell(found: QuestionCorrelation | None) -> HeatCell | None:
    if found is None:
        return None
    value = found.result.value
    return HeatCell(
        id="",
        value=value,
        below=found.result.reason or f"n {found.n:,}",
        heat=heat(value),
        address="",
        is_chosen=False,
    )


def _system_title(row: MeansRow) -> str:
    return row.system.capitalize() if row.system == ALL_SYSTEMS else row.system


def _place_title(row: MeansRow) -> str:
    """Return the language and the dataset; empty for all together."""
    if row.language == ALL:
        return ""
    return ", ".join([language_name(row.language), *([row.dataset] if row.dataset not in ("", ALL) else [])])


def _row_title(row: MeansRow) -> str:
    return ", ".join(each for each in (_place_title(row), _system_title(row)) if each)


def _group_title(group: str) -> str:
    return TOGETHER if group == ALL else language_name(group)


def _titles(snapshot: Snapshot, labels: Sequence[Labels], found: Sequence[Collected]) -> dict[str, str]:
    languages = {each: language_name(each) for each in snapshot.summaries.language_names}
    places = {each.place: f"{language_name(each.language)}, {each.dataset}" for each in found if each.dataset}
    return {**places, **languages, ALL: TOGETHER, **COUNTED, **{each.key: each.title for each in labels}}
