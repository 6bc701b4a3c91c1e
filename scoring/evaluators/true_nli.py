from dataclasses import dataclass

from scoring.label_evaluator import LabelEvaluator, LabelParams
from scoring.model_evaluator import WEIGHTS_DOC
from scoring.params import param


class TrueNli(LabelEvaluator):
    """The probability that the article entails the summary, by the T5 of the TRUE paper: in [0, 1].

    The model reads article and summary and writes 1 for entailed or 0 for not. The score is the share of
    1 among both answers at the first step. In T5's vocabulary 0 is two pieces, the mark of a word's
    beginning and the digit: at the first step it stands for its first piece; measure sequences compares
    both answers to their ends, and does not depend on how they fall into pieces. Measure decision is the
    answer itself, as used to check whether a text follows from its sources. A prompt beyond 2,048 tokens
    is cut at the article's end; the plain form (long_article cut_end) loses the summary of a long
    article. An empty summary, for which the model would give a number too, is unscored unless asked for;
    an item without article is unscored.
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
        "English only: T5's vocabulary lacks most letters of other scripts, and scores of other languages "
        "mean little. Trained on premises of a few sentences; it speaks of factual consistency alone, and a "
        "copied sentence is best."
    )
    cost = "One pass of T5's encoder over article and summary together, and one step of its decoder."
    weights = (
        "google/t5_xxl_true_nli_mixture (T5 1.1 XXL, 11 billion parameters, 45 GB), published as pickled "
        "files, to be written anew once with: manage.py weights convert. It was tuned on SNLI, MNLI, FEVER, "
        "SciTail, PAWS and VitaminC, where the paper's own model has ANLI."
    )

    @dataclass(frozen=True)
    class Params(LabelParams):
        model: str = param("google/t5_xxl_true_nli_mixture", doc=WEIGHTS_DOC, is_weights=True)

    params: Params
