"""Skewed answers, which keep agreement beyond chance low although raters nearly always agree."""

from dataclasses import dataclass

import numpy as np

from annotation import protocol
from annotation.templatetags.texts import answer_label
from metaeval.agreement.method import AgreementMethod
from metaeval.agreement.report import QuestionAgreement
from metaeval.stats.method import NONE
from metaeval.templatetags.results import figure

SKEWED = 0.75
"""Answers are skewed from this share of the most frequent answer."""
GAP = 0.25
"""The page explains alpha if pairwise agreement exceeds it by this much."""


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
            f"Two raters agree in {self.pairwise:.0%} of pairs, yet α is {figure(self.alpha)}. Because"
            f" {self.share:.0%} of the answers are {self.answer}, random answers would agree nearly as often."
            f" Gwet's AC1, which expects less chance agreement on such answers, is {figure(self.ac)}."
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
