from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import TYPE_CHECKING

from annotation.declared.settings import setting
from annotation.imports.reading.blank_texts import is_blank
from scoring.contract.evaluator import GENERAL, Need
from scoring.contract.items import Item
from scoring.contract.scores import EMPTY_SUMMARY, OUT_OF_MEMORY, Scored, shares_in_words, shares_read
from scoring.evaluators.bases.model_evaluator import (
    ModelEvaluator,
    ModelParams,
    empty_summary_setting,
    model_setting,
)
from scoring.texts.answer_match import answer_f1
from scoring.texts.cloze_questions import cloze_questions, most_questions_setting
from scoring.texts.sentences import LIBRARIES, sentences_of

if TYPE_CHECKING:
    from scoring.neural.extractive_qa import ExtractiveReader
    from scoring.neural.summaqa import ReaderAnswer

NO_QUESTION = "no question: none given, or no name and no number in the article"

Question = tuple[str, str]
"""A sentence with MASKED in it, and what stood there."""


class SummaQA(ModelEvaluator):
    """Success of a model that reads only the summary at filling gaps in the article's sentences: in [0, 1].

    Each name or number of the article gives a question: its sentence with the word MASKED in its place. A
    model for extractive question answering searches the summary for the answer. The measure is its confidence
    (the probability of the answer's begin times that of its end) or the F1 of its words with the expected
    answer; the score is the mean over the article's questions. Questions and answers that come with an
    example are used unchanged. A summary too long for the model is cut at its end.

    Otherwise a rule makes the questions from runs of capitalised words, except the first word of a sentence,
    and numbers. The authors take the entities of a tagger for English (spaCy) instead. An article in which
    the rule finds none is not scored (0 with the authors), nor, by default, is an empty summary (a small
    positive probability with the authors).
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
        "Ignores false statements and content without names or numbers. The probability is also high if "
        "the model is sure of a wrong answer. The rule for questions takes every noun in German, and only"
        " numbers in scripts without capital letters (Chinese, Arabic), where articles often have no "
        "question. F1 splits answers at blanks and ignores a, an and the: made for English."
    )
    cost = "One pass of the model over question and summary per question."
    weights = (
        "The authors use google-bert/bert-large-uncased-whole-word-masking-finetuned-squad (1.3 GB), as it "
        "is on the hub; it reads English. Any extractive question answering model serves."
    )
    needs = frozenset({Need.ARTICLE})
    libraries = (*ModelEvaluator.libraries, *LIBRARIES)

    @dataclass(frozen=True)
    class Params(ModelParams):
        model: str = model_setting("google-bert/bert-large-uncased-whole-word-masking-finetuned-squad")
        measure: str = setting(
            "probability",
            label="Measure",
            help="Probability of the right answer, or its word overlap.",
            choices={"probability": "probability", "f1": "F1"},
            details="The authors' avg_prob and avg_fscore.",
        )
        answer_text: str = setting(
            "summary",
            label="Answer text",
            help="F1: form of the predicted answer.",
            choices={"summary": "as in the summary", "pieces": "joined word pieces"},
            phrase="answers {}",
            details="pieces: joined by blanks as the authors do, so that an answer with a split word hardly "
            "ever matches.",
        )
        most_questions: int = most_questions_setting(0, "article")
        empty_summary: str = empty_summary_setting()

    params: Params

    @cached_property
    def _reader(self) -> "ExtractiveReader":
        from scoring.neural.extractive_qa import ExtractiveReader

        return ExtractiveReader(self.folder(), self.params.precision, two_segments=False)

    def problem(self, item: Item) -> str | None:
        if item.questions is None:
            return super().problem(item)
        return EMPTY_SUMMARY if is_blank(item.summary) and not self.scores_empty else None

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
        text = sentences_of(item.article or "", item.language, item.article_sentences)
        return cloze_questions(text, self.params.most_questions or None)

    def _scored(self, answered: "Sequence[tuple[str, str, ReaderAnswer | None]]") -> Scored:
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
