"""How well raters agree: the figures of the agreement page, its CSV, command and API."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from annotation import protocol
from annotation.models import Project
from metaeval.choices import refuse_unknown
from metaeval.judgements import ALL, HumanRatings, QuestionRatings, Summaries
from metaeval.snapshot import snapshot_of
from metaeval.stats.agreement_counts import FEWER_THAN_TWO, agreement_counts
from metaeval.stats.all_agree_share import all_agree_share
from metaeval.stats.arrays import Bools, Floats, Ints
from metaeval.stats.krippendorff import SCALES, krippendorff_alpha
from metaeval.stats.pairwise_agreement import pairwise_agreement
from metaeval.stats.result import Agreement

OWN_SCALE = "own"
"""In place of a scale: the one that each question has."""


class Statistic(NamedTuple):
    label: str
    compute: Callable[[Ints, str, Floats], Agreement]
    """From counts (units, answers), the scale's name and the answers' numbers (answers,)."""


STATISTICS: dict[str, Statistic] = {
    "krippendorff_alpha": Statistic(
        "Krippendorff's α",
        lambda counts, scale, numbers: krippendorff_alpha(
            counts, scale, numbers if scale == "interval" else None
        ),
    ),
    "pairwise_agreement": Statistic("Pairwise agreement", lambda counts, *_: pairwise_agreement(counts)),
    "all_agree_share": Statistic("All agree", lambda counts, *_: all_agree_share(counts)),
}


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

    def as_json(self) -> dict[str, object]:
        """The row that page, API, command and export show; `reason` says why there is no value."""
        row: dict[str, object] = {
            "question": self.question.key,
            "language": self.language,
            "statistic": self.statistic,
            "scale": self.scale,
            "value": None if math.isnan(self.agreement.value) else self.agreement.value,
            "low": None,
            "high": None,
            "units": self.agreement.units,
            "ratings": self.agreement.ratings,
            "raters": self.raters,
            "left_out": dict(self.agreement.left_out),
            "definition": f"{self.agreement.definition} {self.whose}",
        }
        if self.agreement.reason:
            row["reason"] = self.agreement.reason
        return row


@dataclass(frozen=True, eq=False)
class RatedTwice:
    """The ratings of one question of those summaries that have two or more."""

    counts: Ints
    """(units, answers) how often each summary got each answer."""
    raters: int
    rated_once: int
    """Summaries with one rating only."""
    totals: Ints
    """(answers,) how often each answer was given, also to summaries that were rated once."""

    @property
    def pairs(self) -> Ints:
        """(answers, answers) ordered pairs of ratings of the same summary, a rating not with itself."""
        return self.counts.T @ self.counts - np.diag(self.counts.sum(axis=0))


def agreement_rows(
    project: Project, *, language: str = "", group: str = "", scale: str = OWN_SCALE
) -> list[dict[str, object]]:
    """The rows of `agreement_report` on the project as it is now, as JSON values.

    `language` keeps one language (or `ALL` together), `group` the ratings of one group of raters. Raises
    DomainError for a language, group or scale that does not exist.
    """
    snapshot = snapshot_of(project)
    figures = agreement_report(
        snapshot.summaries, snapshot.human, language=language, group=group, scale=scale
    )
    return [figure.as_json() for figure in figures]


def agreement_report(
    summaries: Summaries,
    human: HumanRatings,
    *,
    language: str = "",
    group: str = "",
    scale: str = OWN_SCALE,
) -> list[AgreementFigure]:
    """Every statistic of every question, for all languages together and for each.

    Raises DomainError for a language, group or scale that does not exist.
    """
    languages: Sequence[str] = (ALL, *summaries.language_names)
    refuse_unknown("language", language, ("", *languages))
    refuse_unknown("group", group, ("", *human.groups))
    refuse_unknown("scale", scale, (OWN_SCALE, *SCALES))
    return [
        figure
        for ratings in human.questions
        for chosen in ([language] if language else languages)
        for figure in _figures(summaries, human, ratings, chosen, group, scale)
    ]


def rated_twice(
    summaries: Summaries, human: HumanRatings, ratings: QuestionRatings, language: str = ALL, group: str = ""
) -> RatedTwice:
    """What agreement on one question is computed from, in one language and of one group of raters."""
    chosen: Bools = summaries.in_language(language)[ratings.summaries] & human.of_group(ratings, group)
    units, raters, answers = ratings.summaries[chosen], ratings.raters[chosen], ratings.answers[chosen]
    times = np.bincount(units, minlength=len(summaries))
    again = times[units] >= 2
    distinct_units, unit_codes = np.unique(units[again], return_inverse=True)
    return RatedTwice(
        counts=agreement_counts(
            unit_codes, answers[again], n_units=len(distinct_units), n_answers=len(ratings.values)
        ),
        raters=len(np.unique(raters[again])),
        rated_once=int((times == 1).sum()),
        totals=np.bincount(answers, minlength=len(ratings.values)),
    )


def _figures(
    summaries: Summaries,
    human: HumanRatings,
    ratings: QuestionRatings,
    language: str,
    group: str,
    scale: str,
) -> list[AgreementFigure]:
    own = ratings.question.scale.kind.value
    used = own if scale == OWN_SCALE else scale
    twice = rated_twice(summaries, human, ratings, language, group)
    left_out = {FEWER_THAN_TWO: twice.rated_once} if twice.rated_once else {}
    figures = []
    for name, statistic in STATISTICS.items():
        if name == "krippendorff_alpha" and own == protocol.ScaleKind.NOMINAL and used != own:
            computed = _no_order(twice, ratings, used)
        else:
            computed = statistic.compute(twice.counts, used, ratings.numbers)
        figures.append(
            AgreementFigure(
                question=ratings.question,
                language=language,
                statistic=name,
                scale=used,
                agreement=replace(computed, left_out=left_out),
                raters=twice.raters,
                whose=_whose(human, ratings.question, group),
            )
        )
    return figures


def _no_order(twice: RatedTwice, ratings: QuestionRatings, scale: str) -> Agreement:
    """Alpha on an ordered scale, of answers that have no order."""
    return Agreement(
        value=math.nan,
        units=len(twice.counts),
        ratings=int(twice.counts.sum()),
        definition=f"Krippendorff's α ({scale}).",
        reason=f"the answers {', '.join(ratings.values)} have no order, so their scale can only be nominal",
    )


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
