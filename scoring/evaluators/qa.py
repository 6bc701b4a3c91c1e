import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from annotation.declared.settings import setting
from scoring.contract.evaluator import GENERAL, Need
from scoring.contract.items import Item
from scoring.contract.scores import OUT_OF_MEMORY, Scored, shares_in_words, shares_read
from scoring.evaluators.bases.model_evaluator import ModelEvaluator, ModelParams, model_setting
from scoring.texts.answer_match import answer_f1, answer_words
from scoring.texts.cloze_questions import answer_spans, most_questions_setting
from scoring.texts.sentences import LIBRARIES, sentences_of

if TYPE_CHECKING:
    from scoring.neural.extractive_qa import ExtractiveReader
    from scoring.neural.question_generation import QuestionWriter, Written

NO_CANDIDATE = "no question: no name and no number in the summary"
NO_WRITER = "no question given, and no question_model to write one"
NO_QUESTION = "no question that is answered as expected from the summary"

_FIELD = re.compile(r"\{(context|answer|highlighted)\}")


Question = tuple[str, str, float]
"""The question, its expected answer, and the share of its prompt that was read."""


@dataclass(frozen=True, slots=True)
class Answered:
    text: str
    expected: str
    share_read: float
    from_summary: str
    from_article: str


class QuestionAnswering(ModelEvaluator):
    """Agreement of the article's and the summary's answers to questions about the summary: F1, in [0, 1].

    For each name or number in the summary a model writes a question with that answer. Another model answers
    it from the summary and from the article, each time with a span of the text. The score is the mean, over
    questions, of the F1 of the two answers' words (QAGS), or of the article's answer and the name or number
    the question was made for (FEQA: `compare` = expected). A question without an answer in the article counts
    0; one without an answer in the summary is dropped.

    As in QAGS: one model for both texts, questions on the whole summary, at most ten answers, equal questions
    asked once, and questions dropped that have no answer in the summary or (an option in its code) not the
    expected one. Unlike QAGS: its answers are all entities and noun phrases of a tagger for English, ten of
    them at random, while here they are the first ones that a rule finds (runs of capitalised words, except a
    sentence's first, and numbers); it writes ten questions for each and keeps the twenty likeliest, here the
    likeliest one. No program is public for the question answering baseline of Maynez et al., nor for the row
    in UMSE's table: expect other numbers.

    Questions and answers that come with an example are used unchanged, and none is dropped for its answer. A
    summary without any question is not scored.
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
        "Ignores what the summary leaves out. Depends on its two models: a bad question or a missed "
        "answer looks like a false statement. Uses only names and numbers; in scripts without capital "
        "letters only numbers, in German every noun. F1 splits answers at blanks and ignores a, an and "
        "the: made for English. A sentence's first word is never asked for."
    )
    cost = (
        "Per question, one generation with beam search, one pass of the answering model over the summary,"
        " and one per window of the article."
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
        model: str = model_setting(
            "deepset/bert-large-uncased-whole-word-masking-squad2",
            help="Model that answers: its folder or Hugging Face id.",
            label="Answering model",
        )
        question_model: str = model_setting(
            "lmqg/t5-base-squad-qg",
            help="Model that writes questions; empty if every example has questions.",
            label="Question model",
            may_be_empty=True,
        )
        prompt: str = setting(
            "generate question: {highlighted}",
            label="Question prompt",
            help="Input of the question model, with {context}, {answer} or {highlighted} filled in.",
            details="{context} is the summary, {answer} the answer, {highlighted} the summary with <hl> "
            "before and after the answer. For FEQA's model it is {context} [SEP] {answer}.",
        )
        compare: str = setting(
            "answers",
            label="Compared answers",
            help="Compare the article's answer with the summary's or the expected one.",
            choices={"answers": "QAGS comparison", "expected": "FEQA comparison"},
            details="answers: the summary's answer, as QAGS; expected: the answer that the question was "
            "written for, as FEQA.",
        )
        round_trip: bool = setting(
            True,
            label="Round trip",
            help="Drop a question if the summary does not answer it as expected.",
            phrase="round trip",
        )
        no_answer: bool = setting(
            True, label="Unanswerable", help="The model may find no answer (SQuAD 2, not SQuAD 1)."
        )
        most_questions: int = most_questions_setting(10, "summary")
        beams: int = setting(
            10, label="Beams", help="Width of the search for a question; 1: greedy.", low=1, phrase="{} beams"
        )
        longest_question: int = setting(
            64, label="Longest question", help="The most tokens of a question.", low=4
        )

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

    def problem(self, item: Item) -> str | None:
        if not self.params.question_model and item.questions is None:
            return super().problem(item) or NO_WRITER
        return super().problem(item)

    def score_readable(self, items: Sequence[Item]) -> list[Scored]:
        from scoring.neural.answer_search import find_answers

        questions = self._questions(items)
        pairs = [
            (question[0], text)
            for item, each in zip(items, questions, strict=True)
            for question in each or ()
            for text in (item.summary, item.article or "")
        ]
        found = iter(find_answers(self._reader, pairs, may_be_none=self.params.no_answer))
        return [
            Scored.unscored(self.dimensions, OUT_OF_MEMORY)
            if each is None
            else self._scored(item, [(question, next(found), next(found)) for question in each])
            for item, each in zip(items, questions, strict=True)
        ]

    def _questions(self, items: Sequence[Item]) -> list[list[Question] | None]:
        """Return each item's questions; None if writing them ran out of memory."""
        wanted = [self._prompts(item) if item.questions is None else [] for item in items]
        prompts = [prompt for each in wanted for prompt, _ in each]
        written = iter(self._writer.questions(prompts) if prompts else ())
        return [
            _distinct([(next(written), answer) for _, answer in each])
            if item.questions is None
            else [(*pair, 1.0) for pair in zip(item.questions, item.answers or (), strict=True)]
            for item, each in zip(items, wanted, strict=True)
        ]

    def _prompts(self, item: Item) -> list[tuple[str, str]]:
        """Return (prompt of the question model, answer) for each name or number of the summary."""
        text = sentences_of(item.summary, item.language, item.summary_sentences)
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
            asked.append(Answered(*question, from_summary, from_article))
        if not asked:
            return Scored.unscored(self.dimensions, NO_CANDIDATE)
        counted = [each for each in asked if self._counts(each, was_given=item.questions is not None)]
        shares = shares_read([("summary", each.share_read) for each in asked])
        said = "\n".join([*map(_in_words, asked), *([shares_in_words(shares)] if shares else [])])
        if not counted:
            reasons = dict.fromkeys(self.dimensions, NO_QUESTION)
            return Scored({GENERAL: math.nan}, reasons, {GENERAL: said}, shares)
        value = math.fsum(map(self._agreement, counted)) / len(counted)
        return Scored({GENERAL: value}, explanations={GENERAL: said}, shares_read=shares)

    def _counts(self, answered: Answered, *, was_given: bool) -> bool:
        if self.params.round_trip and not was_given:
            return answer_words(answered.from_summary) == answer_words(answered.expected)
        return bool(answered.from_summary) or self.params.compare == "expected"

    def _agreement(self, answered: Answered) -> float:
        expects = self.params.compare == "expected"
        return answer_f1(answered.from_article, answered.expected if expects else answered.from_summary)


def _filled(template: str, fields: dict[str, str]) -> str:
    return _FIELD.sub(lambda found: fields[found[1]], template)


def _distinct(written: "Sequence[tuple[Written | None, str]]") -> list[Question] | None:
    """Return the questions that are not empty; of equal ones the first."""
    found: dict[str, Question] = {}
    for each, answer in written:
        if each is None:
            return None
        if each.question:
            found.setdefault(each.question, (each.question, answer, each.share_read))
    return list(found.values())


def _in_words(answered: Answered) -> str:
    return (
        f"{answered.text} - summary: {answered.from_summary or '(nothing)'}; article: "
        f"{answered.from_article or '(nothing)'} (expected: {answered.expected})"
    )
