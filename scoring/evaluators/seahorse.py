import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from annotation.declared.settings import setting
from scoring.contract.evaluator import EvaluatorError
from scoring.contract.items import Item
from scoring.evaluators.bases.label_probability_evaluator import LabelAnswer, LabelEvaluator, LabelParams
from scoring.evaluators.bases.model_evaluator import model_setting
from scoring.weights.model_card import ModelCard, RegisteredAs, card_of, read_card
from scoring.weights.model_files import MissingWeights

if TYPE_CHECKING:
    from scoring.neural.label_probability import Judged
    from scoring.neural.pair_classifier import PairClassifier

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

    An mT5 trained on raters' answers reads article and summary and writes 1 for yes or 0 for no. There is
    one model for each question; `question` says which one `model` answers, so that its scores are compared
    with the raters' answers to that question. The score is the share of 1 among both answers at the first
    step. No official script was published; public ones take the probability among the whole vocabulary
    (measure vocabulary), or the answer itself (measure decision). They also cut the end of a prompt beyond
    2,048 tokens, and with it the whole summary of a long article (long_article cut_end); here the article's
    end is cut by default. A model trained with Touchstone (T5, mT5 or an encoder) brings its questions and
    prompts along: it scores all questions that it has learnt, whatever `question` and `prompt` say. A
    registered model scores the dimension that it was registered with. Not scored are items without an
    article and, by default, empty summaries, for which the model would also give a number.
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
    dimensions: tuple[str, ...] = ("attribution",)

    @dataclass(frozen=True)
    class Params(LabelParams):
        model: str = model_setting("google/seahorse-large-q4")
        question: str = setting(
            "q4",
            label="Question",
            help="The question that the model was trained to answer.",
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

    def __init__(self, params: Params) -> None:
        super().__init__(params)
        self._card: ModelCard | None = None
        with suppress(MissingWeights):  # raised again before scoring
            self._card = card_of(params.model)
        self.dimensions = self._card.dimensions if self._card else (QUESTIONS[params.question],)

    @classmethod
    def registered_as(cls, model: str, dimension: str) -> RegisteredAs:
        """Return what the card says: the question that an authors' model answers, or the given dimension."""
        authors = AUTHORS_MODEL.fullmatch(model)
        known = {dimension: question for question, dimension in QUESTIONS.items()}
        answered = QUESTIONS[authors["question"]] if authors else dimension
        if not answered:
            raise ValueError(
                "dimension: found none, expected the dimension of the model's question, such as attribution"
            )
        if dimension not in ("", answered):
            raise ValueError(f"dimension: found {dimension!r}, expected {answered!r}, which {model} scores")
        return RegisteredAs((answered,), {"question": known[answered]} if answered in known else {})

    def headline(self) -> tuple[str, frozenset[str]]:
        named = ", ".join(each.replace("_", " ") for each in self.dimensions)
        return f"{self.title}, {named}", frozenset({"question"})

    @property
    def prompts(self) -> Mapping[str, str]:
        return self._card.settings["prompts"] if self._card and self._card.settings else super().prompts

    def read(self, prompt: str, items: Sequence[Item]) -> list[LabelAnswer]:
        return super().read(prompt, items) if self._writes else self._classified(prompt, items)

    @cached_property
    def _writes(self) -> bool:
        """Return whether the model writes its answers; else it has a head for them."""
        from scoring.neural.loading import load_config

        folder = self.folder()
        card = read_card(folder)
        if card and card.evaluator != self.name:
            raise MissingWeights(f"{self.params.model} was trained for the evaluator {card.evaluator}.")
        return bool(load_config(folder).is_encoder_decoder)

    @cached_property
    def _classifier(self) -> "PairClassifier":
        from scoring.neural.pair_classifier import PairClassifier

        if self.params.measure not in ("labels", "decision") or self.params.long_article == "cut_end":
            raise EvaluatorError(
                f"{self.params.model} does not write its answers, so the measure must be labels or decision, "
                "and long articles are cut or read in parts.",
                permanent=True,
            )
        _, labels, _ = self.params.asked
        return PairClassifier(self.folder(), self.params.precision, self.params.max_length, labels)

    def _classified(self, prompt: str, items: Sequence[Item]) -> list[LabelAnswer]:
        from scoring.neural.text_pairs import pair_in

        in_parts = self.params.long_article != "cut"
        pairs = [pair_in(prompt, item.article or "", item.summary) for item in items]
        grids = [self._classifier.pairs.grid([one], [other], in_parts=in_parts) for one, other in pairs]
        found = iter(self._classifier.probabilities([pair for grid in grids for pair in grid.rows[0]]))
        return [
            LabelAnswer(
                [self._judged(next(found)) for _ in grid.rows[0]],
                (("article", grid.premises_share), ("summary", grid.hypotheses_share)),
            )
            for grid in grids
        ]

    def _judged(self, probabilities: Sequence[float] | None) -> "Judged | None":
        if probabilities is None:
            return None
        _, labels, positive = self.params.asked
        if self.params.measure == "labels":
            return probabilities[labels.index(positive)] / sum(probabilities), ""
        chosen = labels[max(range(len(labels)), key=lambda place: probabilities[place])]
        return float(chosen == positive), chosen
