from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from scoring.contract import GENERAL, OUT_OF_MEMORY, Item, Need, Scored, shares_read
from scoring.model_evaluator import WEIGHTS_DOC, ModelEvaluator, ModelParams
from scoring.params import param
from scoring.texts.compared_texts import (
    against_param,
    combined,
    compared_texts,
    long_article_param,
    references_param,
)

if TYPE_CHECKING:
    from torch import Tensor

    from scoring.neural.text_vectors import TextVectors


class Similarity(ModelEvaluator):
    """How near the summary's meaning is to the reference's or the article's: a cosine in [-1, 1].

    A text's vector is the mean of its tokens' vectors in the encoder's last layer, special tokens among them,
    as sentence-transformers pools them. None of the papers has it: it is what any sentence encoder gives
    without having been taught to judge, a baseline for those that have.
    """

    name = "similarity"
    title = "Embedding similarity"
    version = 1
    source = "after Reimers and Gurevych 2019, Sentence-BERT; pooling and cut as stated here"
    formula = "cos(mean of the summary's token vectors, mean of the other text's token vectors)"
    weaknesses = (
        "Blind to negation and numbers. The vector of a long article is an average of everything in it, and "
        "what exceeds the encoder's limit is not read unless the article is taken in parts."
    )
    cost = "One pass of the encoder over each distinct text."
    weights = (
        "Any BERT-like encoder made for sentences, such as sentence-transformers/all-MiniLM-L6-v2 (90 MB)."
    )
    needs = frozenset({Need.REFERENCES})

    @dataclass(frozen=True)
    class Params(ModelParams):
        model: str = param("sentence-transformers/all-MiniLM-L6-v2", doc=WEIGHTS_DOC, is_weights=True)
        against: str = against_param()
        references: str = references_param("max")
        long_article: str = long_article_param()

    params: Params

    @classmethod
    def needs_for(cls, params: Any) -> frozenset[Need]:
        return frozenset({Need(params.against)})

    @cached_property
    def _vectors(self) -> "TextVectors":
        from scoring.neural.text_vectors import TextVectors

        return TextVectors(self.folder(), self.params.precision)

    def score_readable(self, items: Sequence[Item]) -> list[Scored]:
        vectors, shares = self._vectors.of([item.summary for item in items])
        against, references = self.params.against, self.params.references
        targets = [compared_texts(item, against, references) for item in items]
        found = iter(self._target_vectors([text for each in targets for text in each]))
        return [
            self._scored(summary, share, [next(found) for _ in each])
            for summary, share, each in zip(vectors, shares, targets, strict=True)
        ]

    def _target_vectors(self, texts: Sequence[str]) -> "list[tuple[Tensor | None, float]]":
        """Vectors [parts, dimensions] of each text, and the share of it that was read."""
        if self.params.against == "article" and self.params.long_article != "cut":
            return [(vectors, 1.0) for vectors in self._vectors.of_parts(texts)]
        return list(zip(*self._vectors.of(texts), strict=True))

    def _scored(
        self, summary: "Tensor | None", summary_share: float, targets: "list[tuple[Tensor | None, float]]"
    ) -> Scored:
        if summary is None or any(vectors is None for vectors, _ in targets):
            return Scored.unscored(self.dimensions, OUT_OF_MEMORY)
        nearness = [
            combined((vectors @ summary[0]).tolist(), self.params.long_article)
            for vectors, _ in targets
            if vectors is not None
        ]
        shares = shares_read(
            [("summary", summary_share), *((self.params.against, share) for _, share in targets)]
        )
        return Scored.computed({GENERAL: combined(nearness, self.params.references)}, shares_read=shares)
