import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from scoring.contract import (
    GENERAL,
    Evaluator,
    EvaluatorError,
    Item,
    Member,
    Need,
    PoolExample,
    Scored,
    Seen,
)
from scoring.digests import sha256_of
from scoring.out_of_fold import Cut, Fit, Isotonic, Labelled, folds_of, without_fold
from scoring.params import param


class Calibrated(Evaluator):
    """An evaluator's scores on the scale of the human labels: what people say of summaries with that score.

    Isotonic regression: of all maps that never fall as the score rises, the one nearest to the labels in
    squares; equal scores count as one with their mean label, and between two scores the map is a straight
    line. With `output` = decision it is 1 or 0 instead: whether the score reaches the cut that tells good
    from bad best (balanced accuracy). An evaluator of no dimension in particular is calibrated to each
    dimension that has labels.

    Out of fold by article: the labelled articles are dealt out into folds with a seed, and a summary's value
    comes from a map fitted to the labels of the other folds alone, so no label of its own article ever shapes
    it; an article without labels is judged by the map fitted to all. That is why its articles can be compared
    with the same labels. Compared with raw scores it still has the help of other labels, as its name says; it
    is a setup of its own beside the raw one, never in its place. Labels that a project has sealed teach it
    nothing. Since each fold has its own map, the order of two summaries from different folds can change.
    Articles from which the member has learnt stay out. What is calibrated already, or joins scores that are,
    is refused: its scores of other articles have learnt from this one's labels.
    """

    name = "calibrated"
    title = "Calibrated"
    version = 1
    source = "Zadrozny and Elkan 2002, Transforming Classifier Scores into Accurate Multiclass Probabilities"
    formula = "isotonic regression of the labels on the score, fitted without the summary's fold of articles"
    weaknesses = (
        "Ties what it cannot tell apart, so rank correlations can fall; with few labels it follows "
        "their noise."
    )
    cost = "Nothing beyond the member's run."
    needs = frozenset({Need.SCORES, Need.LABELLED_POOL})
    dimensions: tuple[str, ...] = ()
    batch_size = 2048
    seen_reason = "the member has learnt from this article"
    is_out_of_fold = True

    @dataclass(frozen=True)
    class Params:
        member: str = param(doc="The evaluator whose scores are calibrated.", is_setup=True)
        output: str = param(
            "label",
            choices=("label", "decision"),
            doc="label: the label to be expected, from 0 to 1; decision: 1 from the best cut on, else 0.",
        )
        dimensions: tuple[str, ...] = param(
            (), doc="Dimensions to calibrate to; empty: all that have labels."
        )
        folds: int = param(5, low=2, high=100, doc="Parts into which the labelled articles are dealt out.")
        seed: int = param(0, low=0, doc="Seed of the dealing.")
        fewest_labels: int = param(
            20, low=2, doc="Labelled summaries with a score that every fit needs at least."
        )
        good_from: float = param(
            0.5, low=0, high=1, doc="With decision: from which label on, on 0 to 1, a summary is good."
        )

    params: Params

    def appoint(self, members: Sequence[Member]) -> None:
        """Raises EvaluatorError for a member that has learnt from labels out of fold."""
        super().appoint(members)
        for member in members:
            if member.is_out_of_fold:
                raise EvaluatorError(
                    f"parameter 'member': {member.label} is calibrated already, or joins scores that are. "
                    "Its scores of other articles have learnt from this one's labels, which would then shape "
                    "its own value. Name the evaluator behind it",
                    permanent=True,
                )

    def fit(self, pool: Sequence[PoolExample]) -> None:
        """Raises EvaluatorError where some fit would have too few labels, or labels of one kind only."""
        if not self.members:
            raise RuntimeError("calibrated is fitted only after appoint(members)")
        [self._member] = self.members
        usable = [each for each in pool if each.article_id not in self.seen.article_ids]
        labelled = {
            dimension: found
            for dimension in sorted(
                set(self.params.dimensions) or {name for each in usable for name in each.labels}
            )
            if (found := self._labelled(dimension, usable))
        }
        if not labelled:
            raise EvaluatorError(
                f"parameter 'member': {self._member.label} has scored no labelled summary on any dimension "
                "that has labels",
                permanent=True,
            )
        articles = {each.article_id for found in labelled.values() for each in found}
        self._folds = folds_of(articles, self.params.folds, self.params.seed)
        self._labels = labelled
        self._fits: dict[tuple[str, int | None], Fit] = {}
        for dimension in labelled:
            self._refuse_too_few(dimension)
        self.dimensions = tuple(labelled)
        learnt = [each for each in usable if each.article_id in articles and self._has_score(each)]
        self._scores_digest = sha256_of([[each.id, self._scores(each)] for each in learnt])
        # The articles themselves are not seen: see `is_out_of_fold`.
        seen = Seen.of(PoolExample(each.id, each.article_id, "", each.labels) for each in learnt)
        self.seen = replace(seen, article_ids=self.seen.article_ids)

    def provenance(self) -> dict[str, object]:
        return {"scores of the labelled": self._scores_digest} if self.dimensions else {}

    def score(self, items: Sequence[Item]) -> list[Scored]:
        if not self.dimensions:
            raise RuntimeError("calibrated scores only after fit(pool)")
        return [self._scored(item) for item in items]

    def _scored(self, item: Item) -> Scored:
        values: dict[str, float] = {}
        reasons: dict[str, str] = {}
        explanations: dict[str, str] = {}
        # An article that is not known may be any, so a map that has seen no label of it cannot be chosen.
        fold = None if item.article_id is None else self._folds.get(item.article_id)
        for dimension in self.dimensions:
            score = self._score(dimension, item)
            if score is None:
                values[dimension], reasons[dimension] = math.nan, f"no score by {self._member.label}"
            elif item.article_id is None:
                values[dimension] = math.nan
                reasons[dimension] = "article_id is missing, so labels of the same article cannot be left out"
            else:
                values[dimension] = self._fitted(dimension, fold)(score)
                explanations[dimension] = f"{self._member.label}: {self._sign * score:.4g}"
        return Scored.computed(values, reasons, explanations)

    def _fitted(self, dimension: str, fold: int | None) -> Fit:
        """The map from labels of all folds but this one; of all for None."""
        key = (dimension, fold)
        if key not in self._fits:
            training = without_fold(self._labels[dimension], fold, self._folds)
            is_cut = self.params.output == "decision"
            self._fits[key] = Cut.of(training, self.params.good_from) if is_cut else Isotonic.of(training)
        return self._fits[key]

    def _refuse_too_few(self, dimension: str) -> None:
        parts = [
            without_fold(self._labels[dimension], fold, self._folds) for fold in range(self.params.folds)
        ]
        fewest = min(map(len, parts))
        if fewest < self.params.fewest_labels or len(self._folds) < self.params.folds:
            raise EvaluatorError(
                f"parameter 'fewest_labels': calibration on {dimension} needs {self.params.fewest_labels} "
                f"labelled summaries with a score in every fit, of at least {self.params.folds} articles. "
                f"There are {len(self._labels[dimension])} of {len(self._folds)} articles, and the smallest "
                f"fit would have {fewest}. Choose other dimensions, a lower number, or wait for more ratings",
                permanent=True,
            )
        if self.params.output == "decision":
            for part in parts:
                try:
                    Cut.of(part, self.params.good_from)
                except ValueError as error:
                    raise EvaluatorError(
                        f"parameter 'good_from': no cut on {dimension}, since in some fit {error}. "
                        "Choose other dimensions or another number",
                        permanent=True,
                    ) from error

    def _labelled(self, dimension: str, pool: Sequence[PoolExample]) -> list[Labelled]:
        return [
            Labelled(each.article_id, score, each.labels[dimension])
            for each in pool
            if dimension in each.labels and (score := self._score(dimension, each)) is not None
        ]

    def _score(self, dimension: str, of: Item | PoolExample) -> float | None:
        """The member's score, turned so that higher is better."""
        scores = self._scores(of)
        score = scores.get(dimension, scores.get(GENERAL))
        return None if score is None else self._sign * score

    @property
    def _sign(self) -> int:
        return 1 if self._member.higher_is_better else -1

    def _scores(self, of: Item | PoolExample) -> dict[str, float]:
        return dict(of.scores.get(self._member.name, {}))

    def _has_score(self, example: PoolExample) -> bool:
        return any(self._score(dimension, example) is not None for dimension in example.labels)
