from dataclasses import dataclass

from scoring.label_evaluator import (
    LABELS_DOC,
    POSITIVE_DOC,
    PROMPT_DOC,
    LabelEvaluator,
    LabelParams,
)
from scoring.model_evaluator import WEIGHTS_DOC
from scoring.params import param

FORMS: dict[str, tuple[str, tuple[str, ...], str]] = {
    "two_labels": ("premise: {article} hypothesis: {summary}", ("0", "1"), "1"),
    "three_labels": ("xnli: premise: {article} hypothesis: {summary}", ("0", "1", "2"), "0"),
}
"""Prompt, labels, and the label that means entailment."""
AS_FORM = " Empty: as `form` has it."


class XnliMt5(LabelEvaluator):
    """The probability that the article entails the summary, by an mT5 tuned on XNLI: in [0, 1].

    SEAHORSE's multilingual baseline. Its weights were not released and its labels not stated, so that `model`
    has no default; `form` says how the model at hand was tuned. two_labels, taken to be SEAHORSE's: the
    prompt of its own metric, 1 for entailment and 0 for none. three_labels, of public models: the prompt
    begins with "xnli:", and 0 is entailment, 1 neutral, 2 contradiction. The score is the share of the answer
    entailment among all answers at the first step. A prompt beyond 2,048 tokens is cut at the article's end;
    the plain form (long_article cut_end) loses the summary of a long article. An empty summary, for which the
    model would give a number too, is unscored unless asked for; an item without article is unscored.
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
        "A model asked in a form it was not tuned in gives numbers without meaning. XNLI has premises of one "
        "sentence in 15 languages; whole articles and other languages are a stretch. It speaks of factual "
        "consistency alone, and a copied sentence is best."
    )
    cost = "One pass of mT5's encoder over article and summary together, and one step of its decoder."
    weights = (
        "SEAHORSE's mT5 XXL was not released. Public: "
        "alan-turing-institute/mt5-large-finetuned-mnli-xtreme-xnli (1.2 billion parameters, 4.9 GB) with "
        "form=three_labels. Pickled files have to be written anew once with: manage.py weights convert."
    )

    @dataclass(frozen=True)
    class Params(LabelParams):
        model: str = param(doc=WEIGHTS_DOC, is_weights=True)
        form: str = param(
            "two_labels", choices=tuple(FORMS), doc="How the model was tuned: its prompt and its labels."
        )
        prompt: str = param("", doc=PROMPT_DOC + AS_FORM)
        labels: tuple[str, ...] = param((), doc=LABELS_DOC + AS_FORM)
        positive: str = param("", doc=POSITIVE_DOC + AS_FORM)

        @property
        def asked(self) -> tuple[str, tuple[str, ...], str]:
            prompt, labels, positive = FORMS[self.form]
            return self.prompt or prompt, self.labels or labels, self.positive or positive

    params: Params
