"""Rules by which answers of one rating contradict each other.

A contradiction is no error: the answers are valid and count. It only says where to look.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext_noop

from annotation.protocol import SEAHORSE, Questionnaire, Sheet


@dataclass(frozen=True)
class ContradictionRule:
    """`answer` contradicts each of `others`. Answers are pairs of question key and value."""

    answer: tuple[str, str]
    others: tuple[tuple[str, str], ...]
    reason: str
    """The reason why they contradict each other: a full sentence."""

    @property
    def questions(self) -> tuple[str, ...]:
        """The keys of all questions in it, in the order of the questionnaire."""
        return (*(key for key, _ in self.others), self.answer[0])


RULES: Mapping[str, Sequence[ContradictionRule]] = {
    SEAHORSE.key: (
        ContradictionRule(
            ("conciseness", "yes"),
            (("attribution", "no"), ("main_ideas", "no")),
            gettext_noop(
                "A summary that concisely represents the article holds its main ideas and nothing else."
            ),
        ),
    )
}
"""Rules by the key of the questionnaire. Source: Clark et al. 2023 check SEAHORSE's ratings by this rule."""


@dataclass(frozen=True)
class Contradiction:
    answers: tuple[tuple[str, str], ...]
    """Titles of questions and their answers."""
    questions: tuple[str, ...]
    """The keys of these questions."""
    reason: str


def rules_of(questionnaire_key: str) -> Sequence[ContradictionRule]:
    """Return the rules for a questionnaire; most have none."""
    return RULES.get(questionnaire_key, ())


def contradictions(questionnaire: Questionnaire, sheet: Sheet) -> list[Contradiction]:
    """Return where the answers of `sheet`, which may be unfinished, contradict each other."""
    found = []
    for rule in rules_of(questionnaire.key):
        against = tuple(key for key, value in rule.others if sheet.get(key) == value)
        if against and sheet.get(rule.answer[0]) == rule.answer[1]:
            keys = (*against, rule.answer[0])
            answers = tuple((questionnaire.question(key).title, sheet[key]) for key in keys)
            found.append(Contradiction(answers, keys, rule.reason))
    return found
