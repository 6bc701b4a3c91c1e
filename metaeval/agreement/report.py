"""How well raters agree: the figures of the agreement page, its files, command and API."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from annotation import protocol
from annotation.models import Project
from metaeval.agreement.method import AgreementMethod
from metaeval.agreement.rated_twice import RatedTwice, RatedTwiceByLanguage, rated_twice
from metaeval.agreement.statistics import STATISTICS, agreements, scale_of
from metaeval.judgements import ALL, HumanRatings, QuestionRatings, Summaries
from metaeval.refuse_unknown import refuse_unknown
from metaeval.snapshot import snapshot_of
from metaeval.stats.result import Agreement, or_none


@dataclass(frozen=True)
class AgreementFigure:
    """One statistic of the ratings that answer one question in one language, or in all together."""

    question: protocol.Question
    language: str
    """A language's code, or `ALL`."""
    statistic: str
    scale: str
    agreement: Agreement
    raters: int
    """Raters of the summaries that the value stands on."""
    whose: str
    """Which ratings count, and what becomes of answers such as Unsure: full sentences."""

    @property
    def label(self) -> str:
        return STATISTICS[self.statistic].label

    @property
    def definition(self) -> str:
        """How value and interval were computed, in full sentences."""
        interval = self.agreement.interval
        how = f" {interval.definition}" if interval and interval.definition else ""
        return f"{self.agreement.definition}{how} {self.whose}"

    def as_json(self) -> dict[str, object]:
        """The row that page, API, command and export show; `reason` says why there is no value,
        `interval_reason` why there is no interval though one was asked for."""
        interval = self.agreement.interval
        row: dict[str, object] = {
            "question": self.question.key,
            "language": self.language,
            "statistic": self.statistic,
            "scale": self.scale,
            "value": or_none(self.agreement.value),
            "low": or_none(interval.low) if interval else None,
            "high": or_none(interval.high) if interval else None,
            "units": self.agreement.units,
            "ratings": self.agreement.ratings,
            "raters": self.raters,
            "left_out": dict(self.agreement.left_out),
            "definition": self.definition,
        }
        if self.agreement.reason:
            row["reason"] = self.agreement.reason
        elif interval and interval.reason:
            row["interval_reason"] = interval.reason
        return row


@dataclass(frozen=True, eq=False)
class QuestionAgreement:
    """Agreement on one question, in whatever language and by whatever statistic is wanted of it."""

    summaries: Summaries
    human: HumanRatings
    ratings: QuestionRatings
    group: str

    @property
    def question(self) -> protocol.Question:
        return self.ratings.question

    @cached_property
    def _by_language(self) -> RatedTwiceByLanguage:
        return rated_twice(self.summaries, self.human, self.ratings, self.group)

    @cached_property
    def _places(self) -> dict[str, RatedTwice]:
        return {}

    def in_language(self, language: str) -> RatedTwice:
        if language not in self._places:
            self._places[language] = self._by_language.in_language(language)
        return self._places[language]

    def figures(
        self, language: str, statistics: Sequence[str], method: AgreementMethod
    ) -> list[AgreementFigure]:
        """The statistics of these names, which must exist."""
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
            )
            for name, agreement in found.items()
        ]


def agreement_rows(
    project: Project, *, language: str = "", group: str = "", method: AgreementMethod | None = None
) -> list[dict[str, object]]:
    """The rows of `agreement_report` on the project as it is now, as JSON values.

    `language` keeps one language (or `ALL` together), `group` the ratings of one group of raters. Raises
    DomainError for a language or group that does not exist.
    """
    snapshot = snapshot_of(project)
    figures = agreement_report(
        snapshot.summaries, snapshot.human, language=language, group=group, method=method
    )
    return [figure.as_json() for figure in figures]


def agreement_report(
    summaries: Summaries,
    human: HumanRatings,
    *,
    language: str = "",
    group: str = "",
    method: AgreementMethod | None = None,
) -> list[AgreementFigure]:
    """Every statistic of every question, for all languages together and for each.

    Raises DomainError for a language or group that does not exist.
    """
    languages: Sequence[str] = (ALL, *summaries.language_names)
    refuse_unknown("language", language, ("", *languages))
    return [
        figure
        for agreement in question_agreements(summaries, human, group)
        for chosen in ([language] if language else languages)
        for figure in agreement.figures(chosen, tuple(STATISTICS), method or AgreementMethod())
    ]


def question_agreements(summaries: Summaries, human: HumanRatings, group: str) -> list[QuestionAgreement]:
    """One for each question. Raises DomainError for a group that does not exist."""
    refuse_unknown("group", group, ("", *human.groups))
    return [QuestionAgreement(summaries, human, ratings, group) for ratings in human.questions]


def _whose(human: HumanRatings, question: protocol.Question, group: str) -> str:
    """Which ratings count, and what becomes of answers such as Unsure."""
    of_group = f", of the group {group}" if group else ""
    sentence = f"Counted are {human.described}{of_group}; a question that was not asked is missing."
    scale = question.scale
    if scale.kind == protocol.ScaleKind.NOMINAL and scale.numbers:
        for value in scale.values:
            if value not in scale.numbers:
                sentence += (
                    f" {value.capitalize()} is an answer like the others, which agrees with itself alone."
                )
    return sentence
