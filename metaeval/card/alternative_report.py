"""The alternative annotator test: can an evaluator replace a rater?"""

import math
from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from annotation import protocol
from metaeval.card.verdicts import CANNOT_TELL, NO, NOT_SHOWN, NOT_TESTED, TONES, YES
from metaeval.comparison.comparison import GUARD, Comparison
from metaeval.snapshot.arrays import HumanRatings, QuestionRatings, SetupScores
from metaeval.snapshot.label_rules import labels_by
from metaeval.stats.arrays import Floats
from metaeval.stats.labels.alternative_annotator import AlternativeAnnotator
from metaeval.stats.labels.rescale import rescale
from metaeval.stats.labels.trivial_annotator import (
    DEFINITION,
    AnnotatorRatings,
    TrivialAnnotator,
    best_constant,
    trivial_annotator,
)

EPSILONS = {0.2: "experts", 0.15: "skilled raters", 0.1: "crowd workers"}
"""The margins recommended by the test's authors, and for which raters."""
SHUFFLES, SEED = 20, 0
UNCHANGED = "Scores lie on the raters' scale and are used as the evaluator's answers."
BY_FIT = (
    "Scores are turned into answers by the isotonic regression of labels on scores of other articles (ten"
    " folds), which never turns an evaluator round."
)
ROUNDED = "They are rounded to the nearest answer, as raters give only those."
NOT_AMONG_THE_ANSWERS = (
    "scores are not answers of the scale, and only yes/no answers can be derived from scores"
)
SHUFFLED = f"There are {SHUFFLES} shuffles (seed {SEED}), each turned into answers as the scores are."
RULE = (
    "'Yes' needs three things: the evaluator passes, the intervals of its lead over both trivial annotators"
    f" lie above 0, and neither of them passes. If one of them passes as well, the answer is '{CANNOT_TELL}':"
    " the raters' answers are too skewed, or differ too much, for this question."
)


@dataclass(frozen=True)
class AlternativeFigure:
    """The test of one evaluator on one question, beside that of trivial annotators."""

    epsilon: float
    test: AlternativeAnnotator
    constant_answer: float
    """The constant that does best; nan if the test cannot be applied."""
    constant: TrivialAnnotator | None
    """The annotator who always gives this answer; None if the test cannot be applied."""
    shuffled: TrivialAnnotator | None
    """The annotator with shuffled scores; None if the test cannot be applied."""
    definitions: tuple[str, ...]
    """Definitions of the test, of answers made of scores, and of what counts, in full sentences."""

    @property
    def trivial(self) -> tuple[tuple[str, TrivialAnnotator], ...]:
        """The trivial annotators by name; none if the test cannot be applied."""
        if self.constant is None or self.shuffled is None:
            return ()
        return (
            (f"constant answer {self.constant_answer:.3g}", self.constant),
            ("shuffled scores", self.shuffled),
        )

    @property
    def verdict(self) -> str:
        """Return the verdict on replacing a rater by the evaluator, by `RULE`."""
        if not self.trivial:
            return NOT_TESTED
        if not self.test.passes:
            return NO
        if any(each.passes for _, each in self.trivial):
            return CANNOT_TELL
        return YES if all(each.is_beaten for _, each in self.trivial) else NOT_SHOWN

    @property
    def tone(self) -> str:
        """The look of the verdict."""
        return TONES[self.verdict]


def alternative_figures(
    comparison: Comparison,
    human: HumanRatings,
    ratings: QuestionRatings,
    evaluator: SetupScores,
    *,
    group: str = "",
    epsilons: Collection[float] = tuple(EPSILONS),
) -> tuple[AlternativeFigure, ...]:
    """Return the test of `evaluator` on the question of `ratings`, at each margin (see `EPSILONS`).

    The test uses the summaries that `comparison` counts. Answers without a number, such as Unsure, are left
    out. Nominal questions are measured by accuracy, others by the negative RMSE. Raises KeyError if the
    evaluator does not score the question's dimension.
    """
    scores = evaluator.scores_on(ratings.question.dimension).values
    is_nominal = ratings.question.scale.kind == protocol.ScaleKind.NOMINAL
    numbers = ratings.numbers[ratings.answers]
    counted = human.of_group(ratings, group) & comparison.counted[ratings.summaries] & ~np.isnan(numbers)
    tested = AnnotatorRatings(
        ratings.summaries[counted],
        ratings.raters[counted],
        numbers[counted],
        comparison.summaries.articles,
        "accuracy" if is_nominal else "negative_rmse",
    )
    answering = _Answering(comparison, human, ratings, evaluator.higher_is_better, group)
    answers, how, reason = answering.answers(scores)
    draws = [] if reason else [answering.answers(each)[0] for each in answering.shuffled(scores)]
    definitions = (
        DEFINITION,
        SHUFFLED,
        RULE,
        f"{how}{_most_frequent(answers)}",
        f"Counted are {human.described_of(group)}; answers without a number, such as Unsure, are left out.",
        human.guideline,
        GUARD,
    )
    figures = []
    for epsilon in epsilons:
        test = tested.test(answers, epsilon)
        if reason:
            test = replace(test, winning_rate=math.nan, advantage=math.nan, raters=0, reason=reason)
        applies = not test.reason
        constant = best_constant(tested, answers, epsilon) if applies else math.nan
        figures.append(
            AlternativeFigure(
                epsilon=epsilon,
                test=replace(test, left_out=comparison.seen | dict(test.left_out)),
                constant_answer=constant,
                constant=trivial_annotator(tested, answers, [np.full(len(answers), constant)], epsilon)
                if applies
                else None,
                shuffled=trivial_annotator(tested, answers, draws, epsilon) if applies else None,
                definitions=(test.definition, *definitions),
            )
        )
    return tuple(figures)


@dataclass(frozen=True, eq=False)
class _Answering:
    """The rule by which scores on a question become answers on its scale."""

    comparison: Comparison
    human: HumanRatings
    ratings: QuestionRatings
    higher_is_better: bool
    group: str

    def answers(self, scores: Floats) -> tuple[Floats, str, str]:
        """Return (summaries,) the answers, how they were derived, and why they cannot be."""
        scale = self.ratings.question.scale
        given = np.where(self.comparison.counted, scores, np.nan)
        if _is_on_scale(given[~np.isnan(given)], scale):
            answers, how = given, UNCHANGED
        else:
            labels = labels_by("mean", self.human, self.ratings, len(scores), self.group)
            if scale.kind == protocol.ScaleKind.NOMINAL and not labels.is_yes_no:
                return np.full(len(scores), np.nan), "", NOT_AMONG_THE_ANSWERS
            everywhere = np.ones(len(scores), dtype=bool)
            rows = self.comparison.summaries.rows(everywhere, labels, given)
            answers, how = rescale(rows, higher_is_better=self.higher_is_better), BY_FIT
            if labels.is_yes_no:
                answers, how = np.round(answers), f"{how} {ROUNDED}"
        if scale.kind == protocol.ScaleKind.ORDINAL:
            answers, how = np.clip(np.round(answers), scale.low, scale.high), f"{how} {ROUNDED}"
        return answers, how, ""

    def shuffled(self, scores: Floats) -> list[Floats]:
        """Return copies of the scores with those of counted summaries shuffled, SHUFFLES of (summaries,)."""
        rng = np.random.default_rng(SEED)
        places = np.flatnonzero(self.comparison.counted & ~np.isnan(scores))
        copies = [scores.copy() for _ in range(SHUFFLES)]
        for copy in copies:
            copy[places] = scores[rng.permutation(places)]
        return copies


def _most_frequent(answers: Floats) -> str:
    """Return the share of the most frequent answer."""
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
