import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, ClassVar

from annotation.declared.settings import setting
from scoring.contract.evaluator import GENERAL, Need
from scoring.evaluators.bases.joint_evaluator import (
    SENTENCES,
    WHOLE,
    JointEvaluator,
    JointParams,
    SequencePlace,
)
from scoring.evaluators.bases.model_evaluator import model_setting
from scoring.texts.sentences import LIBRARIES
from scoring.weights.model_card import read_card
from scoring.weights.model_files import MissingWeights

if TYPE_CHECKING:
    from scoring.neural.joint_inputs import JointReader

JOINT_LIMIT = 380
"""The most tokens of a sequence, unless the model's settings state a limit."""
BATCH = 8
"""Sentences over which the released script normalises a layer."""
BY_DIMENSION = {"coherence": WHOLE, "consistency": SENTENCES, "fluency": SENTENCES, "relevance": WHOLE}
"""SummEval's question -> the score that the released script compares with it."""
FUSIONS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "arithmetic_mean": fmean,
    "geometric_mean": lambda scores: math.prod(scores) ** (1 / len(scores)),
    "min": min,
    "max": max,
}


class Umse(JointEvaluator):
    """The probability that the summary belongs to its reference, to its article, or to both: 0 to 1.

    One encoder reads summary and other text as one sequence of at most 380 tokens, cut together if they are
    longer, after keys and values learnt as a prefix of every layer. It was trained without ratings, on
    matching and mismatched pairs. The scores by article and by reference are fused. The released script takes
    the score of the whole summary for coherence and relevance and the mean over its sentences for consistency
    and fluency, and so do these dimensions. The paper gives each scenario its own order of the prefix; since
    attention is a sum over keys, the order changes nothing and is omitted. An empty summary is not scored by
    default, and never has a score by sentences.

    A network that Touchstone trained (manage.py train umse) may have its prefix in the input instead, where
    the order counts, and its own limit of tokens. It scores the scenarios that it was trained for. Its input
    is the paper's, [CLS] prefix summary [SEP] other text, with the marks and types of tokens of its encoder's
    family. Where it reads the mean over the tokens, the prefix is not in it.
    """

    name = "umse"
    title = "UMSE"
    version = 1
    source = "Gao et al. 2023, UMSE: Unified Multi-scenario Summarization Evaluation (Findings of ACL)"
    formula = "softmax(estimator(mix of normalised layers, first token))[1]"
    weaknesses = (
        "Reads about 300 tokens of a long article. The cut changes abruptly if the shorter of two texts "
        "exceeds half of the limit. The authors chose their checkpoint by its correlation with SummEval's"
        " ratings, so its results there are too good. Coherence and relevance are the same number, and so"
        " are consistency and fluency."
    )
    cost = (
        "One pass of the encoder over the joined texts for the whole summary and for each of its "
        "sentences, in each of the fused scenarios."
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
        model: str = model_setting("umse")
        scenario: str = setting(
            "sum_doc_ref",
            label="Input",
            help="Texts that the summary is judged by.",
            choices={"sum_doc_ref": "article and reference", "sum_ref": "reference", "sum_doc": "article"},
            phrase="with {}",
        )
        fusion: str = setting(
            "arithmetic_mean",
            label="Fusion",
            help="Combination of the scores by article and by reference.",
            choices={
                "arithmetic_mean": "arithmetic mean",
                "geometric_mean": "geometric mean",
                "min": "lower score",
                "max": "higher score",
                "none": "one joint input",
            },
            details="The released script takes the arithmetic mean. none: all three texts are read as one "
            "sequence, for which the released code never trains the model.",
        )
        granularity: str = setting(
            "by_dimension",
            label="Granularity",
            help="Score the whole summary, the mean over its sentences, or by dimension.",
            choices={
                "by_dimension": "by dimension",
                WHOLE: "whole summary",
                SENTENCES: "mean over sentences",
            },
            details="by_dimension: as the released script. The others give one general score.",
        )
        layer_norm: str = setting(
            "per_item",
            label="Layer normalisation",
            help="Tokens that a layer normalises together.",
            choices={"per_item": "per summary", "as_released": "as released"},
            phrase="normalised {}",
            details="The tokens over which a layer is normalised before layers are mixed. per_item: those of "
            "this summary or sentence. as_released: sentences of the same summary are normalised together, "
            "eight at a time, and whole summaries alone, as the released script does, so that a sentence's "
            "score depends on those beside it.",
        )

    params: Params

    @property
    def scenarios(self) -> tuple[str, ...]:
        if self.params.scenario == "sum_doc_ref" and self.params.fusion != "none":
            return "sum_ref", "sum_doc"
        return super().scenarios

    @property
    def units(self) -> Mapping[str, str]:
        return (
            BY_DIMENSION if self.params.granularity == "by_dimension" else {GENERAL: self.params.granularity}
        )

    @cached_property
    def model(self) -> "JointReader":
        folder = self.folder()
        card = read_card(folder)
        if card and card.settings:
            return self._trained(folder, card.settings)
        from scoring.neural.joint_model import JointModel

        return JointModel(
            folder,
            self.params.precision,
            settings_name="umse_hparams.json",
            joint_limit=JOINT_LIMIT,
            outputs=2,
            with_prefix=True,
        )

    def _trained(self, folder: Path, shape: Mapping[str, Any]) -> "JointReader":
        """Return the network that Touchstone trained."""
        if self.params.layer_norm != "per_item":
            raise MissingWeights(
                f"The model in {folder} normalises no layers together, so layer_norm must be per_item."
            )
        from scoring.neural.trained_umse import TrainedUmse

        return TrainedUmse(folder, shape, self.params.precision)

    def batch(self, index: int, place: SequencePlace) -> Hashable:
        if self.params.layer_norm == "as_released" and place.unit == SENTENCES:
            return index, place._replace(number=place.number // BATCH)
        return super().batch(index, place)

    def judged(self, outputs: Sequence[float]) -> float:
        """Return the probability of the second of two classes."""
        return (1 + math.tanh((outputs[1] - outputs[0]) / 2)) / 2

    def fused(self, scores: Sequence[float]) -> float:
        return scores[0] if len(scores) == 1 else FUSIONS[self.params.fusion](scores)
