"""The questions that the guidelines explain, and their examples."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from annotation.guidelines.rendering import RenderedGuidelines
from annotation.protocol import Question


@dataclass(frozen=True)
class ExampleCount:
    """The examples of one question in one language, by answer."""

    language: str
    by_answer: tuple[tuple[str, int], ...]

    @property
    def missing(self) -> tuple[str, ...]:
        """The answers without an example. Unsure needs none."""
        return tuple(answer for answer, count in self.by_answer if not count and answer != "unsure")


@dataclass(frozen=True)
class QuestionCoverage:
    question: Question
    has_section: bool
    languages: tuple[ExampleCount, ...]


def coverage(
    rendered: RenderedGuidelines, questions: Sequence[Question], languages: Sequence[str]
) -> list[QuestionCoverage]:
    """Return for each question whether it has a section, and its examples for raters of each language.

    Examples outside a part for one language count in every language.
    """
    counts = Counter(rendered.examples)
    explained = {section.question for section in rendered.sections}
    return [
        QuestionCoverage(
            question,
            question.key in explained,
            tuple(
                ExampleCount(
                    language,
                    tuple(
                        (
                            answer,
                            sum(
                                count
                                for example, count in counts.items()
                                if (example.question, example.answer) == (question.key, answer)
                                and example.language in ("", language)
                            ),
                        )
                        for answer in question.scale.choices
                    ),
                )
                for language in languages
            ),
        )
        for question in questions
    ]
