"""The statistics of agreement, by name, and how each is computed from the ratings."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotation import protocol
from metaeval.agreement.intervals import intervals
from metaeval.agreement.method import OWN_SCALE, AgreementMethod
from metaeval.agreement.ratings_per_unit import RatingsPerUnit
from metaeval.snapshot.arrays import QuestionRatings
from metaeval.stats.agreement.agreement_counts import FEWER_THAN_TWO
from metaeval.stats.agreement.cohen_kappa import cohen_kappa
from metaeval.stats.agreement.count_statistic import CountStatistic
from metaeval.stats.agreement.fleiss_kappa import FLEISS
from metaeval.stats.agreement.gwet import GWET
from metaeval.stats.agreement.krippendorff import ALPHA
from metaeval.stats.agreement.pairwise_agreement import ALL_AGREE, PAIRWISE
from metaeval.stats.agreement.rater_against_rest import rater_against_rest
from metaeval.stats.agreement.split_half import split_half
from metaeval.stats.arrays import Floats
from metaeval.stats.result import Agreement


@dataclass(frozen=True)
class Statistic:
    label: str
    counted: CountStatistic | None = None
    """The computation from counts of answers, if they suffice."""
    of_raters: Callable[[RatingsPerUnit, QuestionRatings, str], Agreement] | None = None
    """The computation if it matters who gave each rating; the text is the scale."""
    needs_order: bool = False
    """True if scales other than nominal need answers with an order."""


def _cohen(twice: RatingsPerUnit, ratings: QuestionRatings, scale: str) -> Agreement:
    units, raters, answers = twice.long
    return cohen_kappa(
        units,
        raters,
        answers,
        n_answers=len(ratings.values),
        weights="none" if scale == "nominal" else "quadratic",
        numbers=ratings.numbers if scale == "interval" else None,
    )


def _against_rest(twice: RatingsPerUnit, ratings: QuestionRatings, _scale: str) -> Agreement:
    units, raters, answers = twice.long
    numbers = ratings.numbers if _has_order(ratings) else None
    return rater_against_rest(units, raters, answers, n_answers=len(ratings.values), numbers=numbers)


def _split_half(twice: RatingsPerUnit, ratings: QuestionRatings, _scale: str) -> Agreement:
    units, raters, answers = twice.long
    if np.isnan(ratings.numbers).all():
        return _undefined(twice, "Split-half correlation.", "its answers have no numeric values")
    return split_half(units, raters, ratings.numbers[answers])


STATISTICS: dict[str, Statistic] = {
    "krippendorff_alpha": Statistic("Krippendorff's α", ALPHA, needs_order=True),
    "gwet_ac": Statistic("Gwet's AC1 or AC2", GWET, needs_order=True),
    "pairwise_agreement": Statistic("Pairwise agreement", PAIRWISE),
    "all_agree_share": Statistic("All agree", ALL_AGREE),
    "fleiss_kappa": Statistic("Fleiss' κ", FLEISS),
    "cohen_kappa": Statistic("Cohen's κ", of_raters=_cohen, needs_order=True),
    "rater_against_rest": Statistic("Rater against the rest", of_raters=_against_rest),
    "split_half": Statistic("Split-half correlation", of_raters=_split_half),
}


def agreements(
    twice: RatingsPerUnit, ratings: QuestionRatings, names: Sequence[str], method: AgreementMethod
) -> dict[str, Agreement]:
    """Return these statistics by name, with the intervals that `method` asks for."""
    scale = scale_of(ratings, method)
    found: dict[str, Agreement] = {}
    for name in names:
        statistic = STATISTICS[name]
        if statistic.needs_order and scale != "nominal" and not _has_order(ratings):
            answers = ", ".join(ratings.values)
            found[name] = _undefined(
                twice,
                f"{statistic.label} ({scale}).",
                f"the answers {answers} have no order, so their scale can only be nominal",
            )
        elif statistic.counted:
            found[name] = _of_counts(twice, ratings, statistic.counted, scale)
        elif statistic.of_raters:
            found[name] = statistic.of_raters(twice, ratings, scale)
    left_out = {FEWER_THAN_TWO: twice.rated_once} if twice.rated_once else {}
    counted = {name: STATISTICS[name].counted for name in names}
    around = intervals(twice, found, counted, scale, _numbers(ratings, scale), method)
    return {
        name: replace(each, left_out={**left_out, **each.left_out}, interval=around.get(name))
        for name, each in found.items()
    }


def scale_of(ratings: QuestionRatings, method: AgreementMethod) -> str:
    return method.scale if method.scale != OWN_SCALE else ratings.question.scale.kind.value


def _has_order(ratings: QuestionRatings) -> bool:
    return ratings.question.scale.kind != protocol.ScaleKind.NOMINAL


def _numbers(ratings: QuestionRatings, scale: str) -> Floats:
    return ratings.numbers if scale == "interval" else np.arange(len(ratings.values), dtype=np.float64)


def _of_counts(
    twice: RatingsPerUnit, ratings: QuestionRatings, statistic: CountStatistic, scale: str
) -> Agreement:
    value = float(statistic.values(twice.units, scale, _numbers(ratings, scale))[0])
    return Agreement(
        value=value,
        units=twice.n_units,
        ratings=twice.n_ratings,
        definition=statistic.definition(scale),
        reason=statistic.reason(value, twice.n_units),
    )


def _undefined(twice: RatingsPerUnit, definition: str, reason: str) -> Agreement:
    return Agreement(
        value=math.nan, units=twice.n_units, ratings=twice.n_ratings, definition=definition, reason=reason
    )
