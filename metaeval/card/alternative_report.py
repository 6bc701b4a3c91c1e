"""The alternative annotator test: can an evaluator replace a rater?"""

import math
from dataclasses import dataclass, replace

import numpy as np

from annotation import protocol
from metaeval.comparison.comparison import GUARD, Comparison
from metaeval.snapshot.arrays import HumanRatings, QuestionRatings, SetupScores
from metaeval.snapshot.label_rules import labels_by
from metaeval.stats.arrays import Floats
from metaeval.stats.labels.alternative_annotator import AlternativeAnnotator, alternative_annotator
from metaeval.stats.labels.rescale import rescale

EPSILONS = {0.2: "experts", 0.15: "skilled raters", 0.1: "crowd workers"}
"""The margins recommended by the test's authors, and for which raters."""
UNCHANGED = "Scores lie on the raters' scale and are used as the evaluator's answers."
BY_CUT = (
    "Scores are turned into yes and no by the threshold that agrees best with the raters of other articles"
    " (ten folds)."
)
BY_LINE = (
    "Scores are turned into points by the least-squares line of labels on scores of other articles (ten"
    " folds)."
)

ROUNDED = "They are rounded to the nearest point, as raters give only points."
NOT_AMONG_THE_ANSWERS = (
    "scores are not answers of the scale, and only yes/no answers can be derived from scores"
)


@dataclass(frozen=True)
class AlternativeFigure:
    """The test of one evaluator on one question."""

    epsilon: float
    test: AlternativeAnnotator
    definitions: tuple[str, ...]
    """How the test works, how scores became answers, and what counts: full sentences."""


def alternative_figure(
    comparison: Comparison,
    human: HumanRatings,
    ratings: QuestionRatings,
    evaluator: SetupScores,
    *,
    group: str = "",
    epsilon: float = 0.2,
) -> AlternativeFigure:
    """Return the test of `evaluator` on the question of `ratings`.

    The test uses the summaries that `comparison` counts. Answers without a number, such as Unsure, are left
    out. Nominal questions are measured by accuracy, others by the negative RMSE. `epsilon` is the margin (see
    `EPSILONS`). Raises KeyError if the evaluator does not score the question's dimension.
    """
    scores = evaluator.scores_on(ratings.question.dimension)
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
        test = replace(test, winning_rate=math.nan, advantage=math.nan, raters=0, reason=reason)
    return AlternativeFigure(
        epsilon=epsilon,
        test=replace(test, left_out=comparison.seen | dict(test.left_out)),
        definitions=(
            test.definition,
            how,
            f"Counted are {human.described}{f', of the group {group}' if group else ''}; answers without"
            " a number, such as Unsure, are left out.",
            human.guideline,
            GUARD,
        ),
    )


def _answers(
    comparison: Comparison, human: HumanRatings, ratings: QuestionRatings, scores: Floats, group: str
) -> tuple[Floats, str, str]:
    """Return (summaries,) the evaluator's answers, how they were derived, and why they cannot be."""
    scale = ratings.question.scale
    given = np.where(comparison.counted, scores, np.nan)
    if _is_on_scale(given[~np.isnan(given)], scale):
        answers, how = given, UNCHANGED
    else:
        labels = labels_by("mean", human, ratings, len(scores), group)
        if scale.kind == protocol.ScaleKind.NOMINAL and not labels.is_yes_no:
            return np.full(len(scores), np.nan), "", NOT_AMONG_THE_ANSWERS
        everywhere = np.ones(len(scores), dtype=bool)
        answers = rescale(comparison.summaries.rows(everywhere, labels, given))
        how = BY_CUT if labels.is_yes_no else BY_LINE
    if scale.kind == protocol.ScaleKind.ORDINAL:
        answers, how = np.clip(np.round(answers), scale.low, scale.high), f"{how} {ROUNDED}"
    return answers, f"{how}{_most_frequent(answers)}", ""


def _most_frequent(answers: Floats) -> str:
    """Return the share of the most frequent answer: a constant evaluator passes if raters hardly vary."""
    values, times = np.unique(answers[~np.isnan(answers)], return_counts=True)
    if not len(times):
        return ""
    most = times.argmax()
    share = times[most] / times.sum()
    return f" Its most frequent answer is {values[most]:.3g}, on {share:.0%} of the summaries."


def _is_on_scale(scores: Floats, scale: protocol.Scale) -> bool:
    """Return whether every score is a possible answer: a nominal scale's number, or between the ends."""
    if scale.kind == protocol.ScaleKind.NOMINAL:
        return bool(np.isin(scores, list((scale.numbers or {}).values())).all())
    if scale.low is None or scale.high is None:
        return False
    return bool(((scores >= scale.low) & (scores <= scale.high)).all())
