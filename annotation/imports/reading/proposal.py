"""A questionnaire for a file's own questions, with scales inferred from its answers."""

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from annotation.imports.reading.records import AnswerRecord, shown
from annotation.imports.reading.sheets import question_key
from annotation.protocol import LARGEST_NUMBER, Question, Questionnaire, Scale, ScaleKind

MOST_QUESTIONS = 100  # of one file
MOST_WORDS = 20  # different answers in words, beyond which they are free text and no scale
LONGEST_WORD = 32  # characters that an answer may have
MOST_STEPS = 10  # from the lowest to the highest whole number of an ordinal scale
WORDS_WITH_NUMBERS = ({"yes": 1.0, "no": 0.0}, {"true": 1.0, "false": 0.0})
UNSURE = "unsure"
NOT_ANSWERED = {"na", "n/a", "nan", "none", "null", "missing", "-", ".", "?"}
"""Spellings of a missing answer in other programs, which are not part of a scale of numbers."""


class CannotPropose(Exception):
    """No scale can be inferred. `reasons` maps questions to why."""

    def __init__(self, reasons: Mapping[str, str]) -> None:
        self.reasons = dict(reasons)
        super().__init__("; ".join(f"{name}: {reason}" for name, reason in reasons.items()))


@dataclass
class SeenAnswers:
    """Common properties of the answers to one question."""

    words: dict[str, int] = field(default_factory=dict)
    """Different answers in lower case, each with its first line, MOST_WORDS + 1 at most."""
    low: float = math.inf
    high: float = -math.inf
    word: str = ""
    """The first answer that is no number, with its line, for a message."""
    whole: bool = True
    not_answered: str = ""
    """The first spelling of a missing answer, with its line."""
    too_large: str = ""
    """The first number beyond LARGEST_NUMBER, with its line."""

    def add(self, value: str, line: int) -> None:
        if len(self.words) <= MOST_WORDS:
            self.words.setdefault(value.casefold(), line)
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if math.isnan(number):
            self.word = self.word or _in_line(value, line)
            if value.casefold() in NOT_ANSWERED:
                self.not_answered = self.not_answered or _in_line(value, line)
            return
        if abs(number) > LARGEST_NUMBER:
            self.too_large = self.too_large or _in_line(value, line)
        self.low, self.high = min(self.low, number), max(self.high, number)
        self.whole = self.whole and number.is_integer()  # infinity is not

    @property
    def numbers(self) -> bool:
        """Return whether all answers are numbers."""
        return not self.word


class Survey:
    """The questions that a file answers, with their answers."""

    def __init__(self) -> None:
        self.questions: dict[str, SeenAnswers] = {}

    def add(self, answers: Mapping[str, AnswerRecord]) -> None:
        """Add the answers of one rating. Raises CannotPropose beyond MOST_QUESTIONS."""
        for name, answer in answers.items():
            self.questions.setdefault(name, SeenAnswers()).add(answer.value, answer.line)
            if len(self.questions) > MOST_QUESTIONS:
                found = f"found more than {MOST_QUESTIONS} up to line {answer.line:,}"
                raise CannotPropose({"questions": f"{found}, which are no questionnaire"})

    def refuse_free_text(self, name: str, *, interval: bool) -> None:
        """Raise CannotPropose if the answers to a question make no scale, whatever answers follow."""
        seen = self.questions[name]
        if not seen.numbers and (interval or len(seen.words) > MOST_WORDS):
            raise CannotPropose({name: str(_interval(seen) if interval else _scale(seen))})

    def propose(self, *, interval: bool) -> Questionnaire:
        """Return one stage with a question for each of the file's, in order of appearance.

        With `interval` every question has an unbounded interval scale. Otherwise words make a nominal scale,
        whole numbers within a small range an ordinal one from the lowest to the highest that was given, and
        other numbers an interval scale. Raises CannotPropose.
        """
        reasons: dict[str, str] = {}
        questions: dict[str, Question] = {}
        for name, seen in self.questions.items():
            key = question_key(name)
            scale = _interval(seen) if interval else _scale(seen)
            if not key:
                reasons[name] = "the name has no letters a-z or digits to make a key of"
            elif key in questions:
                reasons[name] = f"it has the key of {questions[key].title}"
            elif seen.too_large:
                limits = f"{-LARGEST_NUMBER:g} to {LARGEST_NUMBER:g}"
                reasons[name] = f"found {seen.too_large}, expected numbers from {limits}"
            elif isinstance(scale, str):
                reasons[name] = scale
            else:
                title = name.replace("_", " ").strip().capitalize()
                wording = f"{title} (from an imported file, which has no wording)"
                questions[key] = Question(key, key, title, wording, 1, scale, needs_article=True)
        if reasons:
            raise CannotPropose(reasons)
        return Questionnaire(
            key=f"imported-{_digest(questions.values())}",
            title=_title(questions),
            stage_titles=("Against the article",),
            questions=tuple(questions.values()),
        )


def _in_line(value: str, line: int) -> str:
    return f"{shown(value)} in line {line:,}"


def _interval(seen: SeenAnswers) -> Scale | str:
    return Scale(ScaleKind.INTERVAL) if seen.numbers else f"found {seen.word}, expected numbers"


def _scale(seen: SeenAnswers) -> Scale | str:
    if seen.not_answered and seen.low < seen.high:
        return (
            f"found {seen.not_answered} among numbers; leave empty what was not answered, or name it with "
            "--missing"
        )
    if len(seen.words) == 1 and seen.words.keys() <= {"yes", "no"}:
        return Scale(ScaleKind.NOMINAL, ("yes", "no"), WORDS_WITH_NUMBERS[0])
    if seen.numbers and not (seen.whole and seen.high - seen.low <= MOST_STEPS):
        return Scale(ScaleKind.INTERVAL)
    if len(seen.words) < 2 or (seen.numbers and seen.low == seen.high):
        return f"all answers are {next(iter(seen.words))!r}, and a scale needs two different ones"
    if seen.numbers:
        return Scale(ScaleKind.ORDINAL, low=seen.low, high=seen.high)
    long = next((line for word, line in seen.words.items() if len(word) > LONGEST_WORD), None)
    if long is not None:
        return f"found an answer of more than {LONGEST_WORD} characters in line {long:,}, which is no scale"
    if len(seen.words) > MOST_WORDS:
        last = max(seen.words.values())
        return f"found more than {MOST_WORDS} different words up to line {last:,}, which is no scale"
    for numbers in WORDS_WITH_NUMBERS:
        if set(numbers) <= seen.words.keys() <= {*numbers, UNSURE}:
            unsure = (UNSURE,) if UNSURE in seen.words else ()
            return Scale(ScaleKind.NOMINAL, (*numbers, *unsure), numbers)
    return Scale(ScaleKind.NOMINAL, tuple(sorted(seen.words)))


def _title(questions: Mapping[str, Question]) -> str:
    title = "Imported: " + ", ".join(question.title for question in questions.values())
    return title if len(title) <= 200 else f"{title[:197]}..."


def _digest(questions: Iterable[Question]) -> str:
    """Return a digest, so that the same questions make the same questionnaire in every project."""
    return hashlib.sha256(repr(list(questions)).encode()).hexdigest()[:10]
