from collections.abc import Sequence
from dataclasses import dataclass, replace

from annotation.declared.settings import setting
from annotation.texts.text_digests import sha256_of
from scoring.contract.evaluator import GENERAL, Evaluator, EvaluatorError, Member, Need
from scoring.contract.items import Item, PoolExample
from scoring.contract.scores import Scored
from scoring.contract.seen import Seen, digest_of_article
from scoring.evaluators.bases.cross_fitting import (
    Fit,
    LabelledScore,
    SameArticles,
    best_cut,
    folds_of,
    isotonic,
    without_fold,
)


class Calibrated(Evaluator):
    """An evaluator's scores on the scale of the human labels: the label to expect for each score.

    Isotonic regression fits the labels best, in squares, among all maps that never fall as the score rises.
    Equal scores count as one with their mean label; between two scores the map is linear. With `output` =
    decision the result is 1 or 0 instead: whether the score reaches the cut that best separates good from bad
    (balanced accuracy). An evaluator without dimensions is calibrated to each dimension that has labels.

    Fitted out of fold by article: the labelled articles are divided into folds with a seed, and a summary's
    value comes from a map fitted to the labels of the other folds, so that no label of its own article
    affects it. The same text under another id is the same article. An article without labels uses the map
    fitted to all. That is why calibrated scores can be compared with the same labels. They still benefit
    from other labels, which is why they are a setup of their own beside the raw one. Labels that a project
    has sealed are never used. Since each fold has its own map, the order of two summaries from different
    folds can change. Articles that the member has learnt from are left out. Members that are calibrated, or
    that combine calibrated scores, are refused: their scores of other articles have learnt from this one's
    labels.
    """

    name = "calibrated"
    title = "Calibrated"
    version = 2
    source = "Zadrozny and Elkan 2002, Transforming Classifier Scores into Accurate Multiclass Probabilities"
    formula = "isotonic regression of the labels on the score, fitted without the summary's fold of articles"
    weaknesses = "Creates ties, so rank correlations can fall; with few labels it follows their noise."
    cost = "No cost beyond the member's run."
    needs = frozenset({Need.SCORES, Need.LABELLED_POOL})
    dimensions: tuple[str, ...] = ()
    batch_size = 2048
    seen_reason = "the member has learnt from this article"
    is_out_of_fold = True

    @dataclass(frozen=True)
    class Params:
        member: str = setting(
            label="Evaluator", help="Evaluator whose scores are calibrated.", phrase="{}", is_setup=True
        )
        output: str = setting(
            "label",
            label="Output",
            help="Expected label from 0 to 1, or the decision good (1) or not (0).",
            choices={"label": "expected label", "decision": "decision"},
            details="decision: 1 from the best cut on, else 0.",
        )
        dimensions: tuple[str, ...] = setting(
            (),
            label="Dimensions",
            help="Dimensions to calibrate to; empty: all with labels.",
            phrase="{} only",
        )
        folds: int = setting(
            5,
            label="Folds",
            help="Parts that the labelled articles are divided into.",
            low=2,
            high=100,
            phrase="{} folds",
        )
        seed: int = setting(
            0, label="Random seed", help="Seed for dividing the articles.", low=0, phrase="seed {}"
        )
        fewest_labels: int = setting(
            20,
            label="Minimum labels",
            help="Labelled, scored summaries that each fit needs.",
            low=2,
            phrase="{} labels at least",
        )
        good_from: float = setting(
            0.5,
            label="Good threshold",
            help="Decision: label, from 0 to 1, from which a summary is good.",
            low=0,
            high=1,
        )

    params: Params

    def headline(self) -> tuple[str, frozenset[str]]:
        return " ".join(["Calibrated", *(member.label for member in self.members)]), frozenset({"member"})

    def use_members(self, members: Sequence[Member]) -> None:
        """Set the member. Raises EvaluatorError if it has learnt from labels out of fold."""
        super().use_members(members)
        for member in members:
            if member.is_out_of_fold:
                raise EvaluatorError(
                    f"parameter 'member': {member.label} is already calibrated, or combines scores that are. "
                    "Its scores of other articles have learnt from this one's labels, which would affect its "
                    "own value. Choose the original evaluator",
                    permanent=True,
                )

    def fit(self, pool: Sequence[PoolExample]) -> None:
        """Learn from the pool. Raises EvaluatorError if a fit has too few labels, or only one kind."""
        if not self.members:
            raise RuntimeError("calibrated is fitted only after use_members(members)")
        [self._member] = self.members
        usable = [replace(each, labels=left) for each in pool if (left := self._unseen_labels(each))]
        self._articles = SameArticles((each.article_id, digest_of_article(each)) for each in usable)
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
        articles = {each.article for found in labelled.values() for each in found}
        self._folds = folds_of(articles, self.params.folds, self.params.seed)
        self._labels = labelled
        self._fits: dict[tuple[str, int | None], Fit] = {}
        for dimension in labelled:
            self._refuse_too_few(dimension)
        self.dimensions = tuple(labelled)
        learnt = [each for each in usable if self._article(each) in articles and self._has_score(each)]
        self._scores_digest = sha256_of([[each.id, self._scores(each)] for each in learnt])
        # The articles themselves are not seen: see `is_out_of_fold`.
        seen = Seen.of(PoolExample(each.id, self._article(each), "", each.labels) for each in learnt)
        self.seen = replace(seen, article_ids=self.seen.article_ids, text_digests=self.seen.text_digests)

    def provenance(self) -> dict[str, object]:
        return {"scores of the labelled": self._scores_digest} if self.dimensions else {}

    def score(self, items: Sequence[Item]) -> list[Scored]:
        if not self.dimensions:
            raise RuntimeError("calibrated scores only after fit(pool)")
        return [self._scored(item) for item in items]

    def _scored(self, item: Item) -> Scored:
        values: dict[str, float | str] = {}
        explanations: dict[str, str] = {}
        articles = self._articles.names(item.article_id or "", digest_of_article(item))
        fold = next((self._folds[each] for each in articles if each in self._folds), None)
        for dimension in self.dimensions:
            score = self._score(dimension, item)
            if score is None:
                values[dimension] = f"no score by {self._member.label}"
            elif item.article_id is None:  # it may be any, so no map is known to have seen no label of it
                values[dimension] = "article_id is missing, so labels of the same article cannot be left out"
            elif len(articles) > 1:
                values[dimension] = "its id and its text belong to different labelled articles"
            else:
                values[dimension] = self._fitted(dimension, fold)(score)
                explanations[dimension] = f"{self._member.label}: {self._sign * score:.4g}"
        return Scored.computed(values, explanations)

    def _fitted(self, dimension: str, fold: int | None) -> Fit:
        """Return the map fitted to all folds but this one; to all folds for None."""
        key = (dimension, fold)
        if key not in self._fits:
            training = without_fold(self._labels[dimension], fold, self._folds)
            self._fits[key] = self._map(training)
        return self._fits[key]

    def _map(self, training: Sequence[LabelledScore]) -> Fit:
        if self.params.output == "label":
            return isotonic(training)
        cut = best_cut(training, self.params.good_from)
        return lambda score: float(score >= cut)

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
        try:
            for fold in range(self.params.folds):
                self._fitted(dimension, fold)
        except ValueError as error:
            raise EvaluatorError(
                f"parameter 'good_from': no cut on {dimension}, since in some fit {error}. "
                "Choose other dimensions or another number",
                permanent=True,
            ) from error

    def _unseen_labels(self, example: PoolExample) -> dict[str, float]:
        """Return the labels on dimensions in which the member has not seen the article."""
        seen_in = self.seen.dimensions_of(example, example.labels.keys())
        return {name: label for name, label in example.labels.items() if name not in seen_in}

    def _labelled(self, dimension: str, pool: Sequence[PoolExample]) -> list[LabelledScore]:
        return [
            LabelledScore(self._article(each), score, each.labels[dimension])
            for each in pool
            if dimension in each.labels and (score := self._score(dimension, each)) is not None
        ]

    def _article(self, example: PoolExample) -> str:
        [article] = self._articles.names(example.article_id, digest_of_article(example))
        return article

    def _score(self, dimension: str, of: Item | PoolExample) -> float | None:
        """Return the member's score, with the sign that makes higher better."""
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
