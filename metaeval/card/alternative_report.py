"""Whether an evaluator may stand in for a rater: the alternative annotator test on a project or on files."""

import math
from dataclasses import dataclass, replace

import numpy as np

from annotation import protocol
from metaeval.comparison import GUARD, Comparison
from metaeval.judgements import Evaluator, HumanRatings, QuestionRatings
from metaeval.label_rules import labels_by
from metaeval.stats.arrays import Floats
from metaeval.stats.labels.alternative_annotator import AlternativeAnnotator, alternative_annotator
from metaeval.stats.labels.onto_scale import onto_scale

EPSILONS = {0.2: "experts", 0.15: "skilled raters", 0.1: "crowd workers"}
"""The margin that the test's authors take, and for whom."""
AS_THEY_ARE = "Scores lie on the raters' scale, and are taken as the evaluator's answers."
BY_CUT = (
    "Scores are turned into yes and no by the cut that agrees best with the raters of other articles (ten"
    " parts, each by the nine others)."
)
BY_LINE = (
    "Scores are turned into points by the least-squares line of labels on scores of other articles (ten"
    " parts, each by the nine others)."
)

ROUNDED = "They are rounded to the nearest point, since raters can give no other."
NOT_AMONG_THE_ANSWERS = (
    "the scores are not among the answers, and only answers to yes/no questions can be made of scores"
)


@dataclass(frozen=True)
class AlternativeFigure:
    """The test of one evaluator on one question."""

    evaluator: Evaluator
    question: protocol.Question
    group: str
    epsilon: float
    test: AlternativeAnnotator
    definitions: tuple[str, ...]
    """Of the test, how scores became answers, whose ratings count, what is left out: full sentences."""

    def as_json(self) -> dict[str, object]:
        """The row that page, API and export show; `reason` says why the test cannot be applied."""
        applies = not self.test.reason
        row: dict[str, object] = {
            "evaluator": self.evaluator.label,
            "fingerprint": self.evaluator.fingerprint,
            "dimension": self.question.dimension,
            "group": self.group,
            "epsilon": self.epsilon,
            "winning_rate": self.test.winning_rate if applies else None,
            "advantage": self.test.advantage if applies else None,
            "passes": self.test.passes if applies else None,
            "n": self.test.summaries,
            "raters": len(self.test.raters),
            "left_out": dict(self.test.left_out),
            "definition": " ".join(self.definitions),
        }
        if not applies:
            row["reason"] = self.test.reason
        return row


def alternative_figure(
    comparison: Comparison,
    human: HumanRatings,
    ratings: QuestionRatings,
    evaluator: Evaluator,
    *,
    group: str = "",
    epsilon: float = 0.2,
) -> AlternativeFigure | None:
    """The test of `evaluator` on the question that `ratings` answer; None if it does not score its dimension.

    Stands on the summaries that `comparison` counts, which leaves out the articles that a compared evaluator
    has seen. Answers without a number, such as Unsure, are left out. On nominal questions alignment is
    accuracy, on points and numbers minus the RMSE. `epsilon` is the margin, see `EPSILONS`.
    """
    scores = evaluator.on(ratings.question.dimension)
    if scores is None:
        return None
    scale = ratings.question.scale
    is_nominal = scale.kind == protocol.ScaleKind.NOMINAL
    numbers = ratings.numbers[ratings.answers]
    counted = human.of_group(ratings, group) & comparison.counted[ratings.summaries] & ~np.isnan(numbers)
    answers, how, reason = _answers(comparison, human, ratings, scores.values, group)
    test = alternative_annotator(
        ratings.summaries[counted],
        ratings.raters[counted],
        numbers[counted],
        answers,
        "accuracy" if is_nominal else "negative_rmse",
        epsilon=epsilon,
    )
    if reason:
        test = replace(test, winning_rate=math.nan, advantage=math.nan, raters=(), reason=reason)
    return AlternativeFigure(
        evaluator=evaluator,
        question=ratings.question,
        group=group,
        epsilon=epsilon,
        test=replace(test, left_out=comparison.seen | dict(test.left_out)),
        definitions=(
            test.definition,
            how,
            f"Counted are {human.described}{f', of the group {group}' if group else ''}; answers that stand"
            " for no number, such as Unsure, are left out.",
            human.guideline,
            GUARD,
        ),
    )


def _answers(
    comparison: Comparison, human: HumanRatings, ratings: QuestionRatings, scores: Floats, group: str
) -> tuple[Floats, str, str]:
    """(summaries,) the evaluator's answers, how scores became them, and why they cannot."""
    scale = ratings.question.scale
    given = np.where(comparison.counted, scores, np.nan)
    if _is_on_scale(given[~np.isnan(given)], scale):
        answers, how = given, AS_THEY_ARE
    else:
        labels = labels_by("mean", human, ratings, len(scores), group)
        if scale.kind == protocol.ScaleKind.NOMINAL and not labels.is_yes_no:
            return np.full(len(scores), np.nan), "", NOT_AMONG_THE_ANSWERS
        known = np.where(comparison.counted, labels.values, np.nan)
        answers = onto_scale(given, known, comparison.summaries.articles, yes_no=labels.is_yes_no)
        how = BY_CUT if labels.is_yes_no else BY_LINE
    if scale.kind == protocol.ScaleKind.ORDINAL:
        answers, how = np.clip(np.round(answers), scale.low, scale.high), f"{how} {ROUNDED}"
    return answers, f"{how}{_commonest(answers)}", ""


def _commonest(answers: Floats) -> str:
    """A warning: where raters hardly tell summaries apart, an evaluator that does not either may pass."""
    values, times = np.unique(answers[~np.isnan(answers)], return_counts=True)
    if not len(times):
        return ""
    most = times.argmax()
    share = times[most] / times.sum()
    return f" Its most frequent answer is {values[most]:.3g}, on {share:.0%} of the summaries."


def _is_on_scale(scores: Floats, scale: protocol.Scale) -> bool:
    """Whether every score is a possible answer: one of a nominal scale's numbers, or between the two ends."""
    if scale.kind == protocol.ScaleKind.NOMINAL:
        return bool(np.isin(scores, list((scale.numbers or {}).values())).all())
    if scale.low is None or scale.high is None:
        return False
    return bool(((scores >= scale.low) & (scores <= scale.high)).all())
