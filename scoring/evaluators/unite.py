from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from annotation.declared.settings import setting
from scoring.contract.evaluator import Need
from scoring.evaluators.bases.joint_evaluator import JointEvaluator, JointParams
from scoring.evaluators.bases.model_evaluator import model_setting

if TYPE_CHECKING:
    from scoring.neural.joint_inputs import JointReader

JOINT_LIMIT = 512
"""The most tokens of a sequence, unless the model's settings state a limit."""


class Unite(JointEvaluator):
    """A score for the summary by a model trained on ratings of translations: a number without bounds.

    Summary (as translation), article (as source) and reference are read as one sequence. If it exceeds 512
    tokens, the texts are cut together: first the longest, and equally if all are long. The layers of the
    encoder are normalised and mixed by learnt weights, and the vector of the first token goes through the
    estimator. The ratings were standardised, so that 0 is about the average. An empty summary is not scored
    by default.
    """

    name = "unite"
    title = "UniTE"
    version = 1
    source = "Wan et al. 2022, UniTE: Unified Translation Evaluation (ACL); repository NLP2CT/UniTE"
    formula = "estimator(gamma * sum over layers of softmax(w) * normalised layer, first token)"
    weaknesses = (
        "Trained on sentences and their translations; summaries are longer and deliberately omit what a "
        "translation must keep. Little of a long article is read. If the shorter of two texts exceeds "
        "half of the limit, the cut changes abruptly from sparing it to shortening both."
    )
    cost = "One pass of the encoder over all texts joined, per summary and counted reference."
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
        model: str = model_setting("unite")
        scenario: str = setting(
            "src_ref",
            label="Input",
            help="Texts that the model reads beside the summary.",
            choices={"src_ref": "article and reference", "ref": "reference", "src": "article"},
            phrase="with {}",
        )
        attention: str = setting(
            "full",
            label="Attention",
            help="Attention between article and reference; as the model was trained.",
            choices={"full": "full attention", "regional": "regional attention"},
            details="regional: each sees itself and the summary, with article and reference as input. See "
            "attention_excluded_regions in the model's hparams.yaml.",
        )
        positions: str = setting(
            "running",
            label="Positions",
            help="Numbering of positions across texts; as the model was trained.",
            choices={"running": "running positions", "restart": "restarting positions"},
            details="See reset_position_for_each_segment in the model's hparams.yaml.",
        )

    params: Params

    @cached_property
    def model(self) -> "JointReader":
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
