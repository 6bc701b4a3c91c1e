"""The confusion matrix of a yes/no decision, and its usual rates."""

import math
from dataclasses import dataclass

from metaeval.stats.correlation.coefficients import Single


@dataclass(frozen=True)
class Confusion:
    """The counts of yes and no by people and by a decision on the same summaries.

    Each rate has a reason in place of a value where its denominator is 0.
    """

    true_yes: int
    """Yes by both."""
    false_yes: int
    """Yes by the decision alone."""
    false_no: int
    """Yes by people alone."""
    true_no: int

    @property
    def n(self) -> int:
        return self.true_yes + self.false_yes + self.false_no + self.true_no

    @property
    def kappa(self) -> Single:
        """Cohen's kappa: 2 (TP TN − FP FN) / ((TP + FP)(FP + TN) + (TP + FN)(FN + TN)), -1 to 1.

        0 where the decision is the same for all. J. Cohen, "A coefficient of agreement for nominal scales",
        Educational and Psychological Measurement 20, 1960. Undefined where people and the decision give one
        and the same answer to all.
        """
        tp, fp, fn, tn = self.true_yes, self.false_yes, self.false_no, self.true_no
        return _ratio(
            2 * (tp * tn - fp * fn),
            (tp + fp) * (fp + tn) + (tp + fn) * (fn + tn),
            "people and the evaluator give the same answer to all",
        )

    @property
    def mcc(self) -> Single:
        """Matthews' correlation (φ), -1 to 1.

        (TP TN − FP FN) / √((TP + FP)(TP + FN)(TN + FP)(TN + FN)).

        B. W. Matthews, Biochimica et Biophysica Acta 405, 1975.
        """
        tp, fp, fn, tn = self.true_yes, self.false_yes, self.false_no, self.true_no
        return _ratio(
            tp * tn - fp * fn,
            math.sqrt(tp + fp) * math.sqrt(tp + fn) * math.sqrt(tn + fp) * math.sqrt(tn + fn),
            "people or the evaluator give the same answer to all",
        )

    @property
    def true_yes_rate(self) -> Single:
        """Sensitivity: the share of people's yeses that the decision finds."""
        return _ratio(self.true_yes, self.true_yes + self.false_no, "people say no to all")

    @property
    def true_no_rate(self) -> Single:
        """Specificity: the share of people's noes that the decision finds."""
        return _ratio(self.true_no, self.true_no + self.false_yes, "people say yes to all")

    @property
    def accuracy(self) -> Single:
        return _ratio(self.true_yes + self.true_no, self.n, "no summary was decided")


def _ratio(part: float, whole: float, otherwise: str) -> Single:
    return Single(part / whole, "") if whole else Single(math.nan, otherwise)
