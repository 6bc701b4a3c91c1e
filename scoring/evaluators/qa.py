import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from scoring.contract import GENERAL, OUT_OF_MEMORY, Item, Need, Scored, shares_in_words, shares_read
from scoring.model_evaluator import WEIGHTS_DOC, ModelEvaluator, ModelParams
from scoring.params import param
from scoring.texts.answer_match import answer_f1, answer_words
from scoring.texts.cloze_questions import answer_spans
from scoring.texts.sentences import LIBRARIES, sentences

if TYPE_CHECKING:
    from scoring.neural.answer_search import SpanRule
    from scoring.neural.extractive_qa import ExtractiveReader
    from scoring.neural.question_generation import QuestionWriter, Written

NO_CANDIDATE = "no question: no name and no number in the summary"
NO_WRITER = "no question given, and no question_model to write one"
NO_QUESTION = "no question that is answered as expected from the summary"

_FIELD = re.compile(r"\{(context|answer|highlighted)\}")


@dataclass(frozen=True, slots=True)
class Question:
    """With the answer it was made for, and what share of the prompt its writer has read."""

    text: str
    expected: str
    share_read: float = 1.0


@dataclass(frozen=True, slots=True)
class Answered:
    question: Question
    from_summary: str
    from_article: str


class QuestionAnswering(ModelEvaluator):
    """Whether article and summary answer questions about the summary alike: F1 of the answers, in [0, 1].

    For each name or number in the summary a model writes a question with that answer. Another model answers
    it from the summary and from the article, each time with a span of the text. The score is the mean, over
    questions, of the F1 of the two answers' words (QAGS), or of the article's answer and the name or number
    the question was made for (FEQA: `compare` = expected). A question without an answer in the article
    counts 0; one without an answer in the summary is not asked.

    What is QAGS: one model for both texts, questions on the whole summary, ten answers at most, equal
    questions asked once, those dropped that have no answer in the summary or (an option in its code) not the
    expected one. What is not: its answers are all entities and noun phrases of a tagger for English, ten of
    them at random, where ours are the first ones that a rule finds (runs of capitalised words, save a
    sentence's first, and numbers); it takes ten questions for each and keeps the twenty likeliest, where ours
    is the likeliest one. No program is public for the question answering baseline of Maynez et al., nor for
    the row in UMSE's table: expect other numbers.

    Questions and answers that come with an example are asked as they are, and none is dropped for its answer.
    A summary without any question is unscored.
    """

    name = "qa"
    title = "QA (QAGS, FEQA)"
    version = 1
    source = (
        "Wang, Cho and Lewis 2020, Asking and Answering Questions to Evaluate the Factual Consistency of "
        "Summaries (QAGS); Durmus, He and Diab 2020, FEQA; the kind of baseline in Maynez et al. 2020, On "
        "Faithfulness and Factuality in Abstractive Summarization"
    )
    formula = "mean over questions of F1(answer from the article, answer from the summary)"
    weaknesses = (
        "Says nothing of what the summary leaves out. As good as its two models: a bad question or a missed "
        "answer looks like a false statement. Names and numbers only; in scripts without capital letters "
        "numbers only, in German every noun. F1 splits answers at blanks and leaves out a, an and the: "
        "made for English. A sentence's first word is never asked for."
    )
    cost = (
        "For each question a generation with beams, one pass of the answering model over the summary, and "
        "one over each window of the article."
    )
    weights = (
        "QAGS: a BERT-large for SQuAD 2.0, such as deepset/bert-large-uncased-whole-word-masking-squad2 "
        "(1.3 GB), and a BART-large trained to write questions on NewsQA, which exists as a fairseq file "
        "only. By default lmqg/t5-base-squad-qg (900 MB) writes them. Another writer needs its own `prompt`."
    )
    needs = frozenset({Need.ARTICLE})
    libraries = (*ModelEvaluator.libraries, *LIBRARIES)

    @dataclass(frozen=True)
    class Params(ModelParams):
        model: str = param(
            "deepset/bert-large-uncased-whole-word-masking-squad2",
            doc="The model that answers. " + WEIGHTS_DOC,
            is_weights=True,
        )
        question_model: str = param(
            "lmqg/t5-base-squad-qg",
            doc="The sequence-to-sequence model that writes questions; empty where all examples have theirs. "
            + WEIGHTS_DOC,
            is_weights=True,
        )
        prompt: str = param(
            "generate question: {highlighted}",
            doc="What the writing model is given: {context} is the summary, {answer} the answer, "
            "{highlighted} the summary with <hl> before and after the answer. For FEQA's model it is "
            "{context} [SEP] {answer}.",
        )
        compare: str = param(
            "answers",
            choices=("answers", "expected"),
            doc="The article's answer with the summary's, as QAGS; or with the expected one, as FEQA.",
        )
        round_trip: bool = param(
            True, doc="Drop a written question if the answer from the summary is not the expected one."
        )
        no_answer: bool = param(
            True,
            doc="Whether the model may find no answer: yes for models trained on SQuAD 2, no for SQuAD 1.",
        )
        most_questions: int = param(10, low=0, doc="Questions for a summary at most, the first; 0 is all.")
        beams: int = param(10, low=1, doc="Beams of the search for a question; 1 is greedy.")
        longest_question: int = param(64, low=4, doc="In the writing model's tokens.")
        longest_answer: int = param(30, low=1, doc="In the answering model's tokens.")
        window: int = param(
            384, low=32, doc="Tokens of an input, question included, at most the model's own limit."
        )
        stride: int = param(128, low=1, doc="Tokens from the beginning of one window to that of the next.")

    params: Params

    @cached_property
    def _reader(self) -> "ExtractiveReader":
        from scoring.neural.extractive_qa import ExtractiveReader

        return ExtractiveReader(self.folder(), self.params.precision)

    @cached_property
    def _writer(self) -> "QuestionWriter":
        from scoring.neural.question_generation import QuestionWriter

        given = self.params
        folder = self.folder("question_model")
        return QuestionWriter(folder, given.precision, given.beams, given.longest_question)

    @property
    def _rule(self) -> "SpanRule":
        from scoring.neural.answer_search import SpanRule

        given = self.params
        return SpanRule(given.window, given.stride, given.longest_answer, given.no_answer)

    def problem(self, item: Item) -> str | None:
        if not self.params.question_model and item.questions is None:
            return super().problem(item) or NO_WRITER
        return super().problem(item)

    def score_readable(self, items: Sequence[Item]) -> list[Scored]:
        from scoring.neural.answer_search import find_answers

        questions = self._questions(items)
        pairs = [
            (question.text, text)
            for item, each in zip(items, questions, strict=True)
            for question in each or ()
            for text in (item.summary, item.article or "")
        ]
        found = iter(find_answers(self._reader, pairs, self._rule))
        return [
            Scored.unscored(self.dimensions, OUT_OF_MEMORY)
            if each is None
            else self._scored(item, [(question, next(found), next(found)) for question in each])
            for item, each in zip(items, questions, strict=True)
        ]

    def _questions(self, items: Sequence[Item]) -> list[list[Question] | None]:
        """For each item its questions; None where writing them ran out of memory."""
        wanted = [self._prompts(item) if item.questions is None else [] for item in items]
        prompts = [prompt for each in wanted for prompt, _ in each]
        written = iter(self._writer.questions(prompts) if prompts else ())
        return [
            _distinct([(next(written), answer) for _, answer in each])
            if item.questions is None
            else [Question(*pair) for pair in zip(item.questions, item.answers or (), strict=True)]
            for item, each in zip(items, wanted, strict=True)
        ]

    def _prompts(self, item: Item) -> list[tuple[str, str]]:
        """(what the writing model is given, the answer) for each name or number of the summary."""
        text = item.summary_sentences
        if text is None:
            text = sentences(item.summary, item.language)
        found = []
        for number, sentence in enumerate(text):
            for start, end in answer_spans(sentence):
                answer = sentence[start:end]
                marked = f"{sentence[:start]}<hl> {answer} <hl>{sentence[end:]}"
                fields = {
                    "answer": answer,
                    "context": " ".join(text),
                    "highlighted": " ".join((*text[:number], marked, *text[number + 1 :])),
                }
                found.append((_filled(self.params.prompt, fields), answer))
        return found[: self.params.most_questions or None]

    def _scored(self, item: Item, answers: "Sequence[tuple[Question, str | None, str | None]]") -> Scored:
        asked: list[Answered] = []
        for question, from_summary, from_article in answers:
            if from_summary is None or from_article is None:
                return Scored.unscored(self.dimensions, OUT_OF_MEMORY)
            asked.append(Answered(question, from_summary, from_article))
        if not asked:
            return Scored.unscored(self.dimensions, NO_CANDIDATE)
        counted = [each for each in asked if self._counts(each, was_given=item.questions is not None)]
        shares = shares_read([("summary", each.question.share_read) for each in asked])
        said = "\n".join([*map(_in_words, asked), *([shares_in_words(shares)] if shares else [])])
        if not counted:
            reasons = dict.fromkeys(self.dimensions, NO_QUESTION)
            return Scored({GENERAL: math.nan}, reasons, {GENERAL: said}, shares)
        value = math.fsum(map(self._agreement, counted)) / len(counted)
        return Scored({GENERAL: value}, explanations={GENERAL: said}, shares_read=shares)

    def _counts(self, answered: Answered, *, was_given: bool) -> bool:
        if self.params.round_trip and not was_given:
            return answer_words(answered.from_summary) == answer_words(answered.question.expected)
        return bool(answered.from_summary) or self.params.compare == "expected"

    def _agreement(self, answered: Answered) -> float:
        expects = self.params.compare == "expected"
        return answer_f1(
            answered.from_article, answered.question.expected if expects else answered.from_summary
        )


def _filled(template: str, fields: dict[str, str]) -> str:
    return _FIELD.sub(lambda found: fields[found[1]], template)


def _distinct(written: "Sequence[tuple[Written | None, str]]") -> list[Question] | None:
    """The questions that are not empty, of equal ones the first."""
    found: dict[str, Question] = {}
    for each, answer in written:
        if each is None:
            return None
        if each.question:
            found.setdefault(each.question, Question(each.question, answer, each.share_read))
    return list(found.values())


def _in_words(answered: Answered) -> str:
    return (
        f"{answered.question.text} - summary: {answered.from_summary or '(nothing)'}; article: "
        f"{answered.from_article or '(nothing)'} (expected: {answered.question.expected})"
    )
