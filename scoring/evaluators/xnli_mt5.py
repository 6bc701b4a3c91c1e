from dataclasses import dataclass

from annotation.declared.settings import setting
from scoring.evaluators.bases.label_probability_evaluator import LabelEvaluator, LabelParams
from scoring.evaluators.bases.model_evaluator import model_setting

THREE_LABELS = ("xnli: premise: {article} hypothesis: {summary}", ("0", "1", "2"), "0")
"""Prompt, labels, and the label that means entailment."""


class XnliMt5(LabelEvaluator):
    """The probability that the article entails the summary, by an mT5 tuned on XNLI: in [0, 1].

    SEAHORSE's multilingual baseline. Its weights were not released and its labels not stated, so `model` has
    no default; `form` says how the chosen model was tuned. two_labels, presumably SEAHORSE's: the prompt of
    its own metric, 1 for entailment and 0 for none. three_labels, of public models: the prompt begins with
    "xnli:", and 0 is entailment, 1 neutral, 2 contradiction. The score is the share of the answer entailment
    among all answers at the first step. A prompt beyond 2,048 tokens is cut at the article's end; the plain
    form (long_article cut_end) loses the summary of a long article. Not scored are items without an article
    and, by default, empty summaries, for which the model would also give a number.
    """

    name = "xnli_mt5"
    title = "mT5 XNLI"
    version = 1
    source = (
        "Clark et al. 2023, SEAHORSE, baseline; Conneau et al. 2018, XNLI: Evaluating Cross-lingual Sentence "
        "Representations; Xue et al. 2021, mT5"
    )
    formula = "exp(z of entailment) / sum of exp(z) over the labels, z the logits at the decoder's first step"
    weaknesses = (
        "A model used with the wrong form gives meaningless scores. XNLI has premises of one sentence in "
        "15 languages; whole articles and other languages are untested. It measures only factual "
        "consistency, and a copied sentence scores best."
    )
    cost = "One pass of mT5's encoder over article and summary together, and one step of its decoder."
    weights = (
        "SEAHORSE's mT5 XXL was not released. Public: "
        "alan-turing-institute/mt5-large-finetuned-mnli-xtreme-xnli (1.2 billion parameters, 4.9 GB) with"
        " form=three_labels. Pickled files must be converted once with manage.py weights convert."
    )

    @dataclass(frozen=True)
    class Params(LabelParams):
        model: str = model_setting()
        form: str = setting(
            "two_labels",
            label="Label set",
            help="Prompt and labels that the model was tuned with.",
            choices={"two_labels": "two labels", "three_labels": "three labels"},
            details="three_labels replaces prompt, labels and positive label.",
        )

        @property
        def asked(self) -> tuple[str, tuple[str, ...], str]:
            return THREE_LABELS if self.form == "three_labels" else super().asked

    params: Params
