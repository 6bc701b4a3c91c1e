"""Where agreement beyond chance is low although raters nearly always agree: skewed answers."""

from dataclasses import dataclass

import numpy as np

from annotation import protocol
from annotation.templatetags.texts import answer_label
from metaeval.agreement.method import AgreementMethod
from metaeval.agreement.report import QuestionAgreement
from metaeval.method import NONE
from metaeval.templatetags.results import figure

SKEWED = 0.75
"""Share of the commonest answer from which on answers are skewed."""
APART = 0.25
"""By how much pairwise agreement and alpha then differ before that is explained."""


@dataclass(frozen=True)
class Commonest:
    """The answer that is given most often to summaries with two ratings or more."""

    question: protocol.Question
    answer: str
    share: float
    alpha: float
    ac: float
    pairwise: float

    @property
    def note(self) -> str:
        return f"{self.share:.0%} answer {self.answer}"

    @property
    def hides_agreement(self) -> bool:
        """Whether alpha is far below pairwise agreement because the answers are skewed."""
        is_nominal = self.question.scale.kind == protocol.ScaleKind.NOMINAL
        return is_nominal and self.share >= SKEWED and self.pairwise - self.alpha >= APART

    @property
    def explained(self) -> str:
        """One sentence for the reader; empty where there is nothing to explain."""
        if not self.hides_agreement:
            return ""
        return (
            f"Two raters give the same answer in {self.pairwise:.0%} of pairs, yet α is {figure(self.alpha)}:"
            f" {self.share:.0%} of the answers are {self.answer}, so raters who answer at random in these"
            f" shares would agree nearly as often; Gwet's AC1, which expects less agreement by chance on such"
            f" answers, is {figure(self.ac)}."
        )


def commonest_answer(agreement: QuestionAgreement, language: str) -> Commonest | None:
    """None where no summary has two ratings."""
    totals = agreement.in_language(language).totals
    if not totals.sum():
        return None
    alpha, ac, pairwise = agreement.figures(
        language,
        ("krippendorff_alpha", "gwet_ac", "pairwise_agreement"),
        AgreementMethod(interval=NONE),
    )
    most = int(np.argmax(totals))
    return Commonest(
        agreement.question,
        answer_label(agreement.ratings.values[most]),
        float(totals[most] / totals.sum()),
        alpha.agreement.value,
        ac.agreement.value,
        pairwise.agreement.value,
    )
