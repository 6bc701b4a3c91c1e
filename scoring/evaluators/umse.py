import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import TYPE_CHECKING, ClassVar

from scoring.contract import GENERAL, Need
from scoring.joint_evaluator import (
    BATCHES_DOC,
    LAYER_NORM_DOC,
    SENTENCES,
    WHOLE,
    JointEvaluator,
    JointParams,
)
from scoring.model_evaluator import WEIGHTS_DOC
from scoring.params import param
from scoring.texts.sentences import LIBRARIES

if TYPE_CHECKING:
    from scoring.neural.joint_model import JointModel

JOINT_LIMIT = 380
"""Tokens that all texts of a sequence have together, where the model's settings do not say."""
BY_DIMENSION = {"coherence": WHOLE, "consistency": SENTENCES, "fluency": SENTENCES, "relevance": WHOLE}
"""Which score the released script compares with which question of SummEval."""
FUSIONS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "arithmetic_mean": fmean,
    "geometric_mean": lambda scores: math.prod(scores) ** (1 / len(scores)),
    "min": min,
    "max": max,
}


class Umse(JointEvaluator):
    """How probably the summary is the one that belongs to its reference, to its article, or to both: 0 to 1.

    One encoder reads summary and other text as one sequence of at most 380 tokens, cut together where they
    are longer, behind keys and values learnt as a prefix of every layer. It learnt without ratings, from
    pairs made to match or not to match. Article and reference together are judged by fusing the two scores.
    The released script takes the score of the whole summary for coherence and relevance and the mean over
    its sentences for consistency and fluency, and so do these dimensions. The paper gives each scenario its
    own order of the prefix; attention being a sum over keys, the order changes nothing, and there is none
    here. An empty summary is unscored unless asked for, and has no score by sentences in any case.
    """

    name = "umse"
    title = "UMSE"
    version = 1
    source = "Gao et al. 2023, UMSE: Unified Multi-scenario Summarization Evaluation (Findings of ACL)"
    formula = "softmax(estimator(mix of normalised layers, first token))[1]"
    weaknesses = (
        "Of a long article about 300 tokens are read. The rule of the cut leaps where the shorter of two "
        "texts passes half of the limit. The authors chose their checkpoint by its correlation with "
        "SummEval's ratings, so that its results there are too good. Coherence and relevance are the same "
        "number, consistency and fluency another."
    )
    cost = (
        "One pass of the encoder over the joined texts for the whole summary and for each of its sentences, "
        "in each of the scenarios that are fused."
    )
    weights = (
        "UMSE.ckpt of the authors (RoBERTa large with prefix, 1.5 GB), linked from the repository "
        "ZT-Yao/UMSE: a pickled PyTorch Lightning checkpoint with keys encoder.model.*, "
        "encoder.prefix_encoder.*, layerwise_attention.* and estimator.ff.*, but without the encoder's "
        "configuration and vocabulary: manage.py weights convert UMSE.ckpt --configuration "
        "FacebookAI/roberta-large --to FOLDER."
    )
    libraries = (*JointEvaluator.libraries, *LIBRARIES)
    needs = frozenset({Need.ARTICLE, Need.REFERENCES})
    dimensions = tuple(BY_DIMENSION)
    beside: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "sum_doc_ref": ("article", "references"),
        "sum_ref": ("references",),
        "sum_doc": ("article",),
    }

    @dataclass(frozen=True)
    class Params(JointParams):
        model: str = param("umse", doc=WEIGHTS_DOC, is_weights=True)
        scenario: str = param(
            "sum_doc_ref",
            choices=("sum_doc_ref", "sum_ref", "sum_doc"),
            doc="What the summary is judged by: article and reference, the reference or the article alone.",
        )
        fusion: str = param(
            "arithmetic_mean",
            choices=(*FUSIONS, "none"),
            doc="How scenario sum_doc_ref makes one score of sum_ref and sum_doc; the released script takes "
            "the arithmetic mean. none: all three texts are read as one sequence, for which the released "
            "code never trains the model.",
        )
        granularity: str = param(
            "by_dimension",
            choices=("by_dimension", WHOLE, SENTENCES),
            doc="What is judged: by_dimension as the released script does; or, as one general score, the "
            "whole summary, or the mean over its sentences.",
        )
        layer_norm: str = param(
            "per_item",
            choices=("per_item", "as_released", "batches_of_8"),
            doc=f"{LAYER_NORM_DOC} as_released: sentences of the same summary are normalised together, eight "
            "at a time, and whole summaries alone, as the released script does, so that a sentence's score "
            f"depends on the sentences beside it. {BATCHES_DOC} Sentences then are as in as_released.",
        )

    params: Params

    @property
    def scenarios(self) -> tuple[str, ...]:
        if self.params.scenario == "sum_doc_ref" and self.params.fusion != "none":
            return "sum_ref", "sum_doc"
        return (self.params.scenario,)

    @property
    def units(self) -> Mapping[str, str]:
        return (
            BY_DIMENSION if self.params.granularity == "by_dimension" else {GENERAL: self.params.granularity}
        )

    @cached_property
    def model(self) -> "JointModel":
        from scoring.neural.joint_model import JointModel

        return JointModel(
            self.folder(),
            self.params.precision,
            settings_name="umse_hparams.json",
            joint_limit=JOINT_LIMIT,
            outputs=2,
            with_prefix=True,
        )

    def judged(self, outputs: Sequence[float]) -> float:
        """The probability of the second of two classes."""
        return (1 + math.tanh((outputs[1] - outputs[0]) / 2)) / 2

    def fused(self, scores: Sequence[float]) -> float:
        return scores[0] if len(scores) == 1 else FUSIONS[self.params.fusion](scores)
