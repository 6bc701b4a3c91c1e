from dataclasses import dataclass

from scoring.evaluators.bases.label_probability_evaluator import LabelEvaluator, LabelParams
from scoring.evaluators.bases.model_evaluator import model_setting


class TrueNli(LabelEvaluator):
    """The probability that the article entails the summary, by the T5 of the TRUE paper: in [0, 1].

    The model reads article and summary and writes 1 for entailed or 0 for not. The score is the share of 1
    among both answers at the first step. In T5's vocabulary 0 is two pieces, the mark of a word's beginning
    and the digit; at the first step its first piece counts. Measure sequences compares both answers to their
    ends, so does not depend on how they are split. Measure decision is the answer itself, as used to check
    whether a text follows from its sources. A prompt beyond 2,048 tokens is cut at the article's end; the
    plain form (long_article cut_end) loses the summary of a long article. Not scored are items without an
    article and, by default, empty summaries, for which the model would also give a number.
    """

    name = "true_nli"
    title = "TRUE NLI"
    version = 1
    source = (
        "Honovich et al. 2022, TRUE: Re-evaluating Factual Consistency Evaluation, and its model's card; a "
        "baseline in Clark et al. 2023, SEAHORSE"
    )
    formula = "exp(z1) / (exp(z0) + exp(z1)), z the logits of the answers at the decoder's first step"
    weaknesses = (
        "English only: T5's vocabulary lacks most letters of other scripts. Trained on premises of a few "
        "sentences. It measures only factual consistency, and a copied sentence scores best."
    )
    cost = "One pass of T5's encoder over article and summary together, and one step of its decoder."
    weights = (
        "google/t5_xxl_true_nli_mixture (T5 1.1 XXL, 11 billion parameters, 45 GB): pickled files, to be "
        "converted once with manage.py weights convert. It was trained on SNLI, MNLI, FEVER, SciTail, "
        "PAWS and VitaminC, while the paper's own model was trained on ANLI."
    )

    @dataclass(frozen=True)
    class Params(LabelParams):
        model: str = model_setting("google/t5_xxl_true_nli_mixture")

    params: Params
