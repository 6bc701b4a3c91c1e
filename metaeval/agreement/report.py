"""Agreement between raters: the figures of the page, its files, the command and the API."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from annotation import protocol
from annotation.errors import DomainError
from annotation.models import Project
from annotation.templatetags.texts import answer_label
from metaeval.agreement.method import BY_LANGUAGE, BY_WEEK, AgreementMethod
from metaeval.agreement.parts import SECOND_PER_WEEK, summaries_by
from metaeval.agreement.ratings_per_unit import RatingsPerUnit, RatingsPerUnitByLanguage, ratings_per_unit
from metaeval.agreement.statistics import STATISTICS, agreements, scale_of
from metaeval.live.strangers import refuse_resamples
from metaeval.snapshot.arrays import ALL, HumanRatings, QuestionRatings, Summaries
from metaeval.snapshot.rater_groups import warning_of_mixing
from metaeval.snapshot.snapshot import Snapshot, snapshot_of
from metaeval.stats.check_choice import check_choice
from metaeval.stats.method import NONE
from metaeval.stats.result import Agreement, reasons, value_and_ends
from metaeval.templatetags.results import figure as shown_figure

SKEWED = 0.75
"""Answers are skewed from this share of the most frequent answer. They keep agreement beyond chance low."""
GAP = 0.25
"""The page explains alpha if pairwise agreement exceeds it by this much."""


@dataclass(frozen=True)
class AgreementFigure:
    """One statistic of agreement on one question, in one language or in all."""

    question: protocol.Question
    language: str
    """A language's code, or `ALL`."""
    statistic: str
    scale: str
    agreement: Agreement
    raters: int
    """Raters of the summaries that the value is based on."""
    whose: str
    """The ratings that count, and the treatment of answers such as Unsure, in full sentences."""
    warning: str
    """Full sentence on groups of raters that are mixed although they differ; empty if there are none."""

    @property
    def label(self) -> str:
        return STATISTICS[self.statistic].label

    @property
    def definition(self) -> str:
        """Return the definitions of value and interval, in full sentences."""
        interval = self.agreement.interval
        how = f" {interval.definition}" if interval and interval.definition else ""
        return f"{self.agreement.definition}{how} {self.whose} {self.warning}".rstrip()

    def as_json(self) -> dict[str, object]:
        """Return the row of a file, with `reason` or `interval_reason` if value or interval is missing."""
        reason, interval = self.agreement.reason, self.agreement.interval
        return {
            "question": self.question.key,
            "language": self.language,
            "statistic": self.statistic,
            "scale": self.scale,
            **value_and_ends(self.agreement.value, interval),
            "units": self.agreement.units,
            "ratings": self.agreement.ratings,
            "raters": self.raters,
            "left_out": dict(self.agreement.left_out),
            "definition": self.definition,
            **({"warning": self.warning} if self.warning else {}),
            **reasons(reason, None if reason else interval),
        }


@dataclass(frozen=True, eq=False)
class QuestionAgreement:
    """Agreement on one question, by any statistic in any language."""

    summaries: Summaries
    human: HumanRatings
    ratings: QuestionRatings
    group: str

    @property
    def question(self) -> protocol.Question:
        return self.ratings.question

    @cached_property
    def _by_language(self) -> RatingsPerUnitByLanguage:
        return ratings_per_unit(self.summaries, self.human, self.ratings, self.group)

    @cached_property
    def _languages(self) -> dict[str, RatingsPerUnit]:
        return {}

    def in_language(self, language: str) -> RatingsPerUnit:
        if language not in self._languages:
            self._languages[language] = self._by_language.in_language(language)
        return self._languages[language]

    def figures(
        self, language: str, statistics: Sequence[str], method: AgreementMethod
    ) -> list[AgreementFigure]:
        """Return the statistics with these names. Raises KeyError for an unknown name."""
        twice = self.in_language(language)
        found = agreements(twice, self.ratings, statistics, method)
        return [
            AgreementFigure(
                question=self.question,
                language=language,
                statistic=name,
                scale=scale_of(self.ratings, method),
                agreement=agreement,
                raters=twice.raters,
                whose=_whose(self.human, self.question, self.group),
                warning=warning_of_mixing(self.summaries, self.human, self.group, self.question.key),
            )
            for name, agreement in found.items()
        ]


def agreement_rows(
    project: Project,
    snapshot: Snapshot | None = None,
    *,
    by: str = BY_LANGUAGE,
    language: str = "",
    group: str = "",
    method: AgreementMethod | None = None,
) -> list[dict[str, object]]:
    """Return `agreement_report` on the project's current ratings or on a `snapshot` of them, as JSON values.

    It is told apart by one of PARTS, which names a column, with the interval of the campaign's state. Raises
    DomainError as it does, for a language together with other parts, and for too many resamples of published
    results.
    """
    snapshot, method = snapshot or snapshot_of(project), method or AgreementMethod()
    summaries = summaries_by(project, snapshot, by)
    if language and by != BY_LANGUAGE:
        raise DomainError(f"language: not together with by={by}")
    refuse_resamples(snapshot, method.resamples)
    chosen = method.in_state(is_live=snapshot.is_live)
    report = agreement_report(summaries, snapshot.human, language=language, group=group, method=chosen)
    rows = [figure.as_json() for figure in report]
    if by != BY_LANGUAGE:
        rows = [{by if name == "language" else name: value for name, value in row.items()} for row in rows]
    if by == BY_WEEK:
        rows = [row | {"definition": f"{row['definition']} {SECOND_PER_WEEK}"} for row in rows]
    return rows


def agreement_report(
    summaries: Summaries,
    human: HumanRatings,
    *,
    language: str = "",
    group: str = "",
    method: AgreementMethod | None = None,
) -> list[AgreementFigure]:
    """Return every statistic of every question, for all languages together and for each.

    `language` selects one language (or `ALL` for all together), `group` one group of raters. The ratings are
    taken as final, so the interval of a state is that for a single look. Raises DomainError for a language or
    group that does not exist.
    """
    chosen_method = (method or AgreementMethod()).in_state(is_live=False)
    languages: Sequence[str] = (ALL, *summaries.language_names)
    check_choice("language", language, ("", *languages))
    return [
        figure
        for agreement in question_agreements(summaries, human, group)
        for chosen in ([language] if language else languages)
        for figure in agreement.figures(chosen, tuple(STATISTICS), chosen_method)
    ]


def question_agreements(summaries: Summaries, human: HumanRatings, group: str) -> list[QuestionAgreement]:
    """Return the agreement on each question. Raises DomainError for an unknown group."""
    check_choice("group", group, human.group_choices)
    return [QuestionAgreement(summaries, human, ratings, group) for ratings in human.questions]


@dataclass(frozen=True)
class CommonAnswer:
    """The most frequent answer to summaries with two ratings or more."""

    question: protocol.Question
    answer: str
    share: float
    alpha: float
    ac: float
    pairwise: float

    @property
    def note(self) -> str:
        return f"{self.share:.0%} of answers are {self.answer}"

    @property
    def hides_agreement(self) -> bool:
        """Return whether skewed answers keep alpha far below pairwise agreement."""
        is_nominal = self.question.scale.kind == protocol.ScaleKind.NOMINAL
        return is_nominal and self.share >= SKEWED and self.pairwise - self.alpha >= GAP

    @property
    def explained(self) -> str:
        """One explanation for readers; empty if there is nothing to explain."""
        if not self.hides_agreement:
            return ""
        return (
            f"Two raters agree in {self.pairwise:.0%} of pairs, yet α is {shown_figure(self.alpha)}. Because"
            f" {self.share:.0%} of the answers are {self.answer}, random answers would agree nearly as often."
            f" Gwet's AC1, which expects less chance agreement on such answers, is {shown_figure(self.ac)}."
        )


def commonest_answer(agreement: QuestionAgreement, language: str) -> CommonAnswer | None:
    """Return the most frequent answer; None if no summary has two ratings."""
    totals = agreement.in_language(language).totals
    if not totals.sum():
        return None
    alpha, ac, pairwise = agreement.figures(
        language, ("krippendorff_alpha", "gwet_ac", "pairwise_agreement"), AgreementMethod(interval=NONE)
    )
    most = int(np.argmax(totals))
    return CommonAnswer(
        agreement.question,
        answer_label(agreement.ratings.values[most]),
        float(totals[most] / totals.sum()),
        alpha.agreement.value,
        ac.agreement.value,
        pairwise.agreement.value,
    )


def _whose(human: HumanRatings, question: protocol.Question, group: str) -> str:
    """Return which ratings count, and how answers such as Unsure are treated: full sentences."""
    sentence = f"Counted are {human.described_of(group)}; a question that was not asked is missing."
    scale = question.scale
    if scale.kind == protocol.ScaleKind.NOMINAL and scale.numbers:
        for value in scale.values:
            if value not in scale.numbers:
                sentence += f" {value.capitalize()} counts as an answer that agrees only with itself."
    return sentence
