"""One summary with all answers, as an adjudicator sees it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.http import QueryDict

from annotation import protocol
from annotation.adjudication.decisions import DecidedAnswer, decisions_on
from annotation.models import Adjudication, Answer, Summary
from annotation.summaries.find_summaries import RatingRow, ratings_of

ANSWER = "answer-"  # + question key
NOTE = "note-"


@dataclass(frozen=True)
class QuestionToDecide:
    question: protocol.Question
    answers: Sequence[tuple[RatingRow, Answer | None]]
    """Each rating with its current answer; None where the question was not asked."""
    decision: Adjudication | None
    earlier: Sequence[Adjudication]
    """Changed and withdrawn decisions, oldest first."""
    value: str
    note: str
    error: str

    @property
    def is_in_dispute(self) -> bool:
        """Return whether raters whose ratings count gave different answers."""
        counted = {answer.value for row, answer in self.answers if answer and not row.left_out}
        return len(counted) > 1


def read_decisions(data: QueryDict, questionnaire: protocol.Questionnaire) -> dict[str, DecidedAnswer]:
    """Return the decided questions of a form. One with neither answer nor note is undecided."""
    given = {
        question.key: DecidedAnswer(
            data.get(ANSWER + question.key, ""), data.get(NOTE + question.key, "").strip()
        )
        for question in questionnaire.questions
    }
    return {key: each for key, each in given.items() if each.value or each.note}


def questions_to_decide(
    summary: Summary,
    given: Mapping[str, DecidedAnswer] | None = None,
    errors: Mapping[str, str] | None = None,
) -> list[QuestionToDecide]:
    """Return every question with its ratings and decisions, or with what was `given` and refused."""
    rows = ratings_of(summary)
    made = list(decisions_on(summary))
    found = []
    for place, question in enumerate(summary.project.questionnaire.protocol.questions):
        of_question = [each for each in made if each.question.key == question.key]
        decision = next((each for each in of_question if each.ended_at is None), None)
        stored = DecidedAnswer(decision.value, decision.note) if decision else DecidedAnswer("")
        shown = stored if given is None else given.get(question.key, DecidedAnswer(""))
        found.append(
            QuestionToDecide(
                question=question,
                answers=[(row, _current(row.answers[place])) for row in rows],
                decision=decision,
                earlier=[each for each in of_question if each.ended_at is not None],
                value=shown.value,
                note=shown.note,
                error=(errors or {}).get(question.key, ""),
            )
        )
    return found


def _current(revisions: Sequence[Answer]) -> Answer | None:
    return next((each for each in revisions if each.is_current), None)
