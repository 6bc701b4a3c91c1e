from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from scoring.contract.evaluator import GENERAL, Need
from scoring.contract.items import Item
from scoring.contract.scores import OUT_OF_MEMORY, Scored, shares_read
from scoring.evaluators.bases.model_evaluator import ModelEvaluator, ModelParams, model_setting
from scoring.texts.compared_texts import (
    against_setting,
    combined,
    compared_texts,
    long_article_setting,
    references_setting,
)

if TYPE_CHECKING:
    from torch import Tensor

    from scoring.neural.text_vectors import TextVectors


class Similarity(ModelEvaluator):
    """Similarity of the summary's meaning to the reference's or the article's: a cosine in [-1, 1].

    A text's vector is the mean of its tokens' vectors in the encoder's last layer, including special tokens,
    as in sentence-transformers. It comes from none of the papers: it is a baseline from an untrained-to-judge
    sentence encoder.
    """

    name = "similarity"
    title = "Embedding similarity"
    version = 1
    source = "after Reimers and Gurevych 2019, Sentence-BERT; pooling and cut as stated here"
    formula = "cos(mean of the summary's token vectors, mean of the other text's token vectors)"
    weaknesses = (
        "Ignores negation and numbers. The vector of a long article is an average of everything in it, "
        "and text beyond the encoder's limit is not read unless the article is read in parts."
    )
    cost = "One pass of the encoder per distinct text."
    weights = (
        "Any BERT-like encoder made for sentences, such as sentence-transformers/all-MiniLM-L6-v2 (90 MB)."
    )
    needs = frozenset({Need.REFERENCES})

    @dataclass(frozen=True)
    class Params(ModelParams):
        model: str = model_setting("sentence-transformers/all-MiniLM-L6-v2")
        against: str = against_setting()
        references: str = references_setting("max")
        long_article: str = long_article_setting()

    params: Params

    @cached_property
    def _vectors(self) -> "TextVectors":
        from scoring.neural.text_vectors import TextVectors

        return TextVectors(self.folder(), self.params.precision)

    def score_readable(self, items: Sequence[Item]) -> list[Scored]:
        against, references = self.params.against, self.params.references
        in_parts = against == "article" and self.params.long_article != "cut"
        targets = [compared_texts(item, against, references) for item in items]
        found = iter(self._vectors.of([text for each in targets for text in each], in_parts=in_parts))
        return [
            self._scored(*summary, [next(found) for _ in each])
            for summary, each in zip(self._vectors.of([item.summary for item in items]), targets, strict=True)
        ]

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
