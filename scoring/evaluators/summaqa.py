from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import TYPE_CHECKING

from scoring.contract import (
    EMPTY_SUMMARY,
    GENERAL,
    OUT_OF_MEMORY,
    Item,
    Need,
    Scored,
    shares_in_words,
    shares_read,
)
from scoring.model_evaluator import WEIGHTS_DOC, ModelEvaluator, ModelParams, empty_summary_param
from scoring.params import param
from scoring.texts.answer_match import answer_f1
from scoring.texts.cloze_questions import cloze_questions
from scoring.texts.sentences import LIBRARIES, sentences

if TYPE_CHECKING:
    from scoring.neural.extractive_qa import ExtractiveReader
    from scoring.neural.summaqa import Reply

NO_QUESTION = "no question: none given, or no name and no number in the article"

Question = tuple[str, str]
"""A sentence with MASKED in it, and what stood there."""


class SummaQA(ModelEvaluator):
    """How well a reader of the summary alone fills gaps in the article's sentences: in [0, 1].

    Each name or number of the article gives a question: its sentence with the word MASKED in its place. A
    model for extractive question answering looks for the answer in the summary. Measured is either how sure
    it is (the probability of the answer's begin times that of its end) or the F1 of its words with the
    expected answer; the score is the mean over the article's questions. Questions and answers that come
    with an example are asked as they are. A summary too long for the model is cut at its end.

    Without them questions are made by a rule, and this is not the authors' way, who take the entities of a
    tagger for English (spaCy): runs of capitalised words, save the first word of the sentence, and numbers.
    An article in which the rule finds none is unscored (the authors give 0), as is an empty summary unless
    asked for (which they give a small positive probability).
    """

    name = "summaqa"
    title = "SummaQA"
    version = 1
    source = (
        "Scialom et al. 2019, Answers Unite! Unsupervised Metrics for Reinforced Summarization Models, and "
        "the authors' code; questions by a rule of our own"
    )
    formula = "mean over questions of P(begin) * P(end), or of the answer's F1"
    weaknesses = (
        "What the summary says wrongly goes unseen, and so does what no name or number stands for. The "
        "probability is high too where the model is sure of a wrong answer. The rule for questions takes "
        "every noun in German, and only numbers in scripts without capital letters (Chinese, Arabic), whose "
        "articles often have no question at all. F1 splits answers at blanks and leaves out a, an and the: "
        "made for English."
    )
    cost = "One pass of the model over question and summary for each question."
    weights = (
        "The authors use google-bert/bert-large-uncased-whole-word-masking-finetuned-squad (1.3 GB), as it "
        "is on the hub; it reads English. Any extractive question answering model serves."
    )
    needs = frozenset({Need.ARTICLE})
    libraries = (*ModelEvaluator.libraries, *LIBRARIES)

    @dataclass(frozen=True)
    class Params(ModelParams):
        model: str = param(
            "google-bert/bert-large-uncased-whole-word-masking-finetuned-squad",
            doc=WEIGHTS_DOC,
            is_weights=True,
        )
        measure: str = param(
            "probability",
            choices=("probability", "f1"),
            doc="The authors' avg_prob or avg_fscore.",
        )
        answer_text: str = param(
            "summary",
            choices=("summary", "pieces"),
            doc="f1: the answer as it stands in the summary; or its word pieces joined by blanks as the "
            "authors do, so that an answer with a split word hardly ever matches.",
        )
        token_types: str = param(
            "one",
            choices=("one", "two"),
            doc="one: the model is not told where the question ends, as in the authors' code; two: it is, as "
            "in its training.",
        )
        most_questions: int = param(
            0, low=0, doc="Questions made for one article at most, the first ones; 0 is all, as the authors."
        )
        empty_summary: str = empty_summary_param()

    params: Params

    @cached_property
    def _reader(self) -> "ExtractiveReader":
        from scoring.neural.extractive_qa import ExtractiveReader

        two = self.params.token_types == "two"
        return ExtractiveReader(self.folder(), self.params.precision, two_segments=two)

    def problem(self, item: Item) -> str | None:
        if item.questions is None:
            return super().problem(item)
        return None if item.summary.strip() or self.scores_empty else EMPTY_SUMMARY

    def score_readable(self, items: Sequence[Item]) -> list[Scored]:
        from scoring.neural.summaqa import replies

        questions = [self._questions(item) for item in items]
        asked = [
            (question, item.summary)
            for item, each in zip(items, questions, strict=True)
            for question, _ in each
        ]
        found = iter(replies(self._reader, asked))
        return [self._scored([(*pair, next(found)) for pair in each]) for each in questions]

    def _questions(self, item: Item) -> list[Question]:
        if item.questions is not None:
            return list(zip(item.questions, item.answers or (), strict=True))
        text = item.article_sentences
        if text is None:
            text = sentences(item.article or "", item.language)
        return cloze_questions(text, self.params.most_questions or None)

    def _scored(self, answered: "Sequence[tuple[str, str, Reply | None]]") -> Scored:
        if not answered:
            return Scored.unscored(self.dimensions, NO_QUESTION)
        values, said, read = [], [], []
        for question, expected, reply in answered:
            if reply is None:
                return Scored.unscored(self.dimensions, OUT_OF_MEMORY)
            answer = reply.from_summary if self.params.answer_text == "summary" else reply.from_pieces
            is_f1 = self.params.measure == "f1"
            values.append(answer_f1(answer, expected) if is_f1 else reply.probability)
            said.append(f"{question} - {answer or '(nothing)'} (expected: {expected})")
            read += [("questions", reply.question_share), ("summary", reply.summary_share)]
        shares = shares_read(read)
        said += [shares_in_words(shares)] if shares else []
        value = fsum(values) / len(values)
        return Scored.computed({GENERAL: value}, explanations={GENERAL: "\n".join(said)}, shares_read=shares)
