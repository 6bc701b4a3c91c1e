import re
from dataclasses import dataclass

from scoring.label_evaluator import LabelEvaluator, LabelParams
from scoring.model_evaluator import WEIGHTS_DOC
from scoring.params import param

QUESTIONS = {
    "q1": "comprehensibility",
    "q2": "repetition",
    "q3": "grammar",
    "q4": "attribution",
    "q5": "main_ideas",
    "q6": "conciseness",
}
"""SEAHORSE's questions in its order, as the dimensions that raters' answers to them are labels of."""
AUTHORS_MODEL = re.compile(r"(.*/)?seahorse-\w+-(?P<question>q[1-6])(@.*)?")


class Seahorse(LabelEvaluator):
    """The probability that SEAHORSE's learnt metric answers one of its six questions with yes: in [0, 1].

    An mT5 tuned on raters' answers reads article and summary and writes 1 for yes or 0 for no; there is
    one model for each question, and `question` says which one `model` answers, so that its scores are
    compared with the raters' answers to that question. The score is the share of 1 among both answers at
    the first step. No official script was published; public ones take the probability among the whole
    vocabulary (measure vocabulary), or the answer itself (measure decision). They also cut the end of a
    prompt beyond 2,048 tokens, and with it the whole summary of a long article (long_article cut_end);
    here the article's end is cut by default. An empty summary, for which the model would give a number
    too, is unscored unless asked for; an item without article is unscored.
    """

    name = "seahorse"
    title = "SEAHORSE"
    version = 1
    source = (
        "Clark et al. 2023, SEAHORSE: A Multilingual, Multifaceted Dataset for Summarization Evaluation; "
        "prompt of its model cards"
    )
    formula = "exp(z1) / (exp(z0) + exp(z1)), z the logits of the answers at the decoder's first step"
    weaknesses = (
        "Tuned on German, English, Spanish, Russian, Turkish and Vietnamese; mT5 reads 101 languages, so "
        "that others get scores as well, of which nobody has shown that they are good. The models have seen "
        "SEAHORSE's training articles: judge them on its test split or other data only. Questions 1 to 3 do "
        "not need an article, yet the models were tuned with it. Probabilities are not calibrated."
    )
    cost = "One pass of mT5's encoder over article and summary together, and one step of its decoder."
    weights = (
        "google/seahorse-large-q1 to -q6 (mT5 large, 1.2 billion parameters, 4.9 GB each) and "
        "google/seahorse-xxl-q1 to -q6 (13 billion, 52 GB each), one for each question. They were published "
        "as pickled files, to be written anew once with: manage.py weights convert. float16 overflows in "
        "mT5; bfloat16 does not."
    )
    dimensions = ("attribution",)

    @dataclass(frozen=True)
    class Params(LabelParams):
        model: str = param("google/seahorse-large-q4", doc=WEIGHTS_DOC, is_weights=True)
        question: str = param(
            "q4",
            choices=tuple(QUESTIONS),
            doc="Which question the model answers: "
            + ", ".join(f"{question} {dimension}" for question, dimension in QUESTIONS.items())
            + ". It names the dimension of the scores and moves no number.",
        )

        def __post_init__(self) -> None:
            super().__post_init__()
            authors = AUTHORS_MODEL.fullmatch(self.model)
            if authors and authors["question"] != self.question:
                raise ValueError(
                    f"parameter 'question': found {self.question!r}, expected {authors['question']!r}, which "
                    f"{self.model} answers"
                )

    params: Params

    def __init__(self, params: Params) -> None:
        super().__init__(params)
        self.dimensions = (QUESTIONS[params.question],)
