from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from scoring.contract import GENERAL, Need
from scoring.joint_evaluator import WHOLE, JointEvaluator, JointParams
from scoring.model_evaluator import WEIGHTS_DOC
from scoring.params import param

if TYPE_CHECKING:
    from scoring.neural.joint_model import JointModel

JOINT_LIMIT = 512
"""Tokens that all texts of a sequence have together, where the model's settings do not say."""


class Unite(JointEvaluator):
    """What a model learnt from ratings of translations says of the summary: a number without bounds.

    Summary (as translation), article (as source) and reference are read as one sequence; where they are
    longer than its 512 tokens, they are cut together: the longest gives way to the others, and texts that
    are all long lose alike. The layers of the encoder are normalised, mixed by learnt weights, and the
    vector of the first token goes through the estimator. Ratings of translations were standardised, so that
    0 is about the average. An empty summary is unscored unless asked for.
    """

    name = "unite"
    title = "UniTE"
    version = 1
    source = "Wan et al. 2022, UniTE: Unified Translation Evaluation (ACL); repository NLP2CT/UniTE"
    formula = "estimator(gamma * sum over layers of softmax(w) * normalised layer, first token)"
    weaknesses = (
        "Learnt on sentences and their translations: summaries are longer and leave out on purpose what a "
        "translation must keep. Of a long article little is read. Where the shorter of two texts passes half "
        "of the limit, the rule of the cut leaps from sparing it to taking from both."
    )
    cost = "One pass of the encoder over all texts joined, for each summary and each reference that counts."
    weights = (
        "The authors' checkpoints (XLM-RoBERTa large, 2.2 GB), linked from the repository NLP2CT/UniTE: "
        "pickled PyTorch Lightning checkpoints with keys encoder.model.*, layerwise_attention.* and "
        "estimator.ff.*, but without the encoder's configuration and vocabulary: manage.py weights convert "
        "FILE.ckpt --configuration FacebookAI/xlm-roberta-large --to FOLDER. COMET's own UnifiedMetric has "
        "other weights and other numbers."
    )
    needs = frozenset({Need.ARTICLE, Need.REFERENCES})
    beside: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "src_ref": ("article", "references"),
        "ref": ("references",),
        "src": ("article",),
    }

    @dataclass(frozen=True)
    class Params(JointParams):
        model: str = param("unite", doc=WEIGHTS_DOC, is_weights=True)
        scenario: str = param(
            "src_ref",
            choices=("src_ref", "ref", "src"),
            doc="What is read beside the summary: article and reference, the reference or the article alone.",
        )
        attention: str = param(
            "full",
            choices=("full", "regional"),
            doc="Whether article and reference see each other (full) or only the summary and themselves "
            "(regional), for scenario src_ref. As the model was trained: attention_excluded_regions in its "
            "hparams.yaml.",
        )
        positions: str = param(
            "running",
            choices=("running", "restart"),
            doc="Whether positions run through all texts, or restart at 0 in each. As the model was trained: "
            "reset_position_for_each_segment in its hparams.yaml.",
        )

    params: Params

    @property
    def scenarios(self) -> tuple[str, ...]:
        return (self.params.scenario,)

    @property
    def units(self) -> Mapping[str, str]:
        return {GENERAL: WHOLE}

    @cached_property
    def model(self) -> "JointModel":
        from scoring.neural.joint_model import JointModel

        return JointModel(
            self.folder(),
            self.params.precision,
            settings_name="unite_hparams.json",
            joint_limit=JOINT_LIMIT,
            outputs=1,
            regional=self.params.attention == "regional",
            restart=self.params.positions == "restart",
        )

    def judged(self, outputs: Sequence[float]) -> float:
        return outputs[0]

    def fused(self, scores: Sequence[float]) -> float:
        return scores[0]
