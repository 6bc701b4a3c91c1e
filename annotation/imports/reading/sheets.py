"""Matching a file's answers to the questions and scales of a questionnaire."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotation.imports.reading.fields import number_text
from annotation.imports.reading.records import AnswerRecord, shown
from annotation.protocol import (
    Question,
    Questionnaire,
    Scale,
    ScaleKind,
    open_questions,
    stopped_by,
    violations,
)

Values = tuple[tuple[str, str], ...]
"""Pairs of question key and value, in the questionnaire's order."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A problem with the answer to `question`, named as in the file."""

    question: str
    found: str
    expected: str


def question_key(name: str) -> str:
    """Return a name as a key: lower-case letters, digits and underscores; empty if it has none."""
    return re.sub(r"[^a-z0-9]+", "_", name.casefold()).strip("_")


def value_on_scale(scale: Scale, found: str) -> str | None:
    """Return the value of `scale` that `found` means, or None.

    Words match in any case, numbers in any spelling (4.0 on a scale 1 to 5). On a nominal scale with numbers,
    a number matches its word (1 for yes).
    """
    if scale.kind != ScaleKind.INTERVAL and scale.admits(found):
        return found
    folded = [value for value in scale.choices if value.casefold() == found.casefold()]
    if folded:
        return folded[0]
    try:
        number = float(found)
    except ValueError:
        return None
    if not math.isfinite(number):
        return None
    if scale.kind == ScaleKind.NOMINAL:
        return next((value for value in scale.values if scale.number(value) == number), None)
    return number_text(number) if scale.admits(number_text(number)) else None


class SheetReader:
    """Reads sheets for one questionnaire, and caches them."""

    def __init__(self, questionnaire: Questionnaire) -> None:
        self._questionnaire = questionnaire
        self._order = {question.key: place for place, question in enumerate(questionnaire.questions)}
        self._read: dict[tuple[bool, tuple[tuple[str, str], ...]], tuple[Values, tuple[Fault, ...]]] = {}

    def question(self, name: str) -> Question | None:
        """Return the question with this key, or else the only one with this dimension."""
        questions = self._questionnaire.questions
        if name in self._order:
            return self._questionnaire.question(name)
        wanted = question_key(name)
        for attribute in ("dimension", "key"):
            found = [each for each in questions if question_key(getattr(each, attribute)) == wanted]
            if len(found) == 1:
                return found[0]
        return None

    def read(
        self, answers: Mapping[str, AnswerRecord], *, complete: bool
    ) -> tuple[Values, tuple[Fault, ...]]:
        """Return the sheet and its faults. A sheet with faults must not be used.

        With `complete`, an unanswered question that should have been asked is a fault.
        """
        given = tuple((name, answer.value) for name, answer in answers.items())
        known = self._read.get((complete, given))
        if known is None:
            known = self._read[complete, given] = self._interpret(given, complete)
        return known

    def comments(self, answers: Mapping[str, AnswerRecord]) -> tuple[tuple[str, str], ...]:
        """Return (question key, comment) of the answers with a comment."""
        commented = [
            (self.question(name), answer.comment) for name, answer in answers.items() if answer.comment
        ]
        return tuple((question.key, comment) for question, comment in commented if question)

    def by_key(self, answers: Mapping[str, AnswerRecord]) -> dict[str, AnswerRecord]:
        """Return the answers of a sheet without faults by question key."""
        named = ((self.question(name), answer) for name, answer in answers.items())
        return {question.key: answer for question, answer in named if question}

    def earlier(
        self, revisions: Sequence[tuple[str, AnswerRecord]]
    ) -> tuple[list[tuple[str, AnswerRecord]], list[tuple[AnswerRecord, Fault]]]:
        """Return earlier revisions by question key, and those that are off their scale."""
        read, faulty = [], []
        for name, answer in revisions:
            question = self.question(name)
            value = question and value_on_scale(question.scale, answer.value)
            if question and value:
                read.append((question.key, answer._replace(value=value)))
            elif question:
                faulty.append((answer, Fault(name, shown(answer.value), question.scale.expected)))
        return read, faulty

    def _interpret(
        self, given: tuple[tuple[str, str], ...], complete: bool
    ) -> tuple[Values, tuple[Fault, ...]]:
        faults: list[Fault] = []
        sheet: dict[str, str] = {}
        called: dict[str, str] = {}
        for name, found in given:
            question = self.question(name)
            if question is None:
                keys = ", ".join(self._order)
                faults.append(Fault(name, f"the question {shown(name)}", f"one of {keys}"))
                continue
            if question.key in called:
                faults.append(
                    Fault(name, shown(found), f"one answer, not also that to {called[question.key]}")
                )
                continue
            called[question.key] = name
            value = value_on_scale(question.scale, found)
            if value is None:
                faults.append(Fault(name, shown(found), question.scale.expected))
            else:
                sheet[question.key] = value
        if not faults:
            faults += [
                Fault(called[each.question], shown(sheet[each.question]), each.message)
                for each in violations(self._questionnaire, sheet)
            ]
        if not faults and complete:
            faults += [
                Fault(question.key, "nothing", f"an answer: {self._why_asked(question, sheet)}")
                for question in open_questions(self._questionnaire, sheet)
            ]
        return tuple(sorted(sheet.items(), key=lambda pair: self._order[pair[0]])), tuple(faults)

    def _why_asked(self, question: Question, sheet: Mapping[str, str]) -> str:
        stopping = [each for each in self._questionnaire.questions if each.stops_rating_on]
        if question.stage == 1 or not stopping or stopped_by(self._questionnaire, sheet):
            return "this question is always asked"
        ends = ", ".join(f"{each.title} is not {' or '.join(each.stops_rating_on)}" for each in stopping)
        return f"it is asked because {ends}"
