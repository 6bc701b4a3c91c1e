import re
from dataclasses import dataclass

from annotation.declared.settings import setting
from scoring.evaluators.bases.label_probability_evaluator import LabelEvaluator, LabelParams
from scoring.evaluators.bases.model_evaluator import model_setting

QUESTIONS = {
    "q1": "comprehensibility",
    "q2": "repetition",
    "q3": "grammar",
    "q4": "attribution",
    "q5": "main_ideas",
    "q6": "conciseness",
}
"""SEAHORSE's questions -> the dimensions that raters' answers label."""
AUTHORS_MODEL = re.compile(r"(.*/)?seahorse-\w+-(?P<question>q[1-6])(@.*)?")


class Seahorse(LabelEvaluator):
    """The probability that SEAHORSE's learnt metric answers one of its six questions with yes: in [0, 1].

    An mT5 trained on raters' answers reads article and summary and writes 1 for yes or 0 for no. There is one
    model for each question; `question` says which one `model` answers, so that its scores are compared with
    the raters' answers to that question. The score is the share of 1 among both answers at the first step. No
    official script was published; public ones take the probability among the whole vocabulary (measure
    vocabulary), or the answer itself (measure decision). They also cut the end of a prompt beyond 2,048
    tokens, and with it the whole summary of a long article (long_article cut_end); here the article's end is
    cut by default. Not scored are items without an article and, by default, empty summaries, for which the
    model would also give a number.
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
        "Trained on German, English, Spanish, Russian, Turkish and Vietnamese; mT5 reads 101 languages, "
        "but scores of the others are untested. The models have seen SEAHORSE's training articles: "
        "evaluate them on its test split or other data only. Questions 1 to 3 need no article, yet the "
        "models were trained with it. Probabilities are not calibrated."
    )
    cost = "One pass of mT5's encoder over article and summary together, and one step of its decoder."
    weights = (
        "google/seahorse-large-q1 to -q6 (mT5 large, 1.2 billion parameters, 4.9 GB each) and "
        "google/seahorse-xxl-q1 to -q6 (13 billion, 52 GB each), one for each question: pickled files, to"
        " be converted once with manage.py weights convert. float16 overflows in mT5; bfloat16 does not."
    )
    dimensions = ("attribution",)

    @dataclass(frozen=True)
    class Params(LabelParams):
        model: str = model_setting("google/seahorse-large-q4")
        question: str = setting(
            "q4",
            label="Question",
            help="Which question the model was trained to answer.",
            choices={question: dimension.replace("_", " ") for question, dimension in QUESTIONS.items()},
            details="It names the dimension of the scores and changes no score.",
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

    def headline(self) -> tuple[str, frozenset[str]]:
        return f"{self.title}, {QUESTIONS[self.params.question].replace('_', ' ')}", frozenset({"question"})

    def __init__(self, params: Params) -> None:
        super().__init__(params)
        self.dimensions = (QUESTIONS[params.question],)
