"""A rater's qualification as a manager sees it: by language, with rounds and who decided."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.gold.checks import CheckAccuracy, check_accuracy, unseen_gold
from annotation.gold.qualification import Decision, QuestionResult
from annotation.gold.rescoring import RescoredRound, rescored_round
from annotation.gold.rounds import open_round, round_decision, rounds_used_up
from annotation.models import CheckSuspension, Project, Qualification, QualificationRound, Rater
from annotation.protocol import Question


@dataclass(frozen=True)
class RoundRecord:
    """A round with its agreement by question; without one until it is decided."""

    round: QualificationRound
    questions: Sequence[tuple[Question, QuestionResult]]
    rescored: RescoredRound | None = None


@dataclass(frozen=True)
class LanguageRecord:
    """`qualification` is None while the rater still has to pass a round or be qualified by a manager.

    With `manager_decides`, they cannot start another round by themselves.
    """

    language: str
    qualification: Qualification | None
    rounds: Sequence[RoundRecord]
    manager_decides: bool
    checks: CheckAccuracy | None
    check_questions: Sequence[tuple[Question, QuestionResult]]
    suspensions: Sequence[CheckSuspension]
    unseen: int
    """Gold summaries that are left for hidden checks."""


def qualification_record(rater: Rater) -> list[LanguageRecord]:
    """Return the record of each of the rater's languages, and of others in which they had a round."""
    qualifications = {
        each.language: each for each in rater.qualifications.select_related("round", "decided_by")
    }
    rounds: dict[str, list[RoundRecord]] = {}
    for each in rater.rounds.select_related("allowed_by").order_by("number"):
        each.rater = rater
        rounds.setdefault(each.language, []).append(_round_record(each))
    suspensions = list(rater.check_suspensions.all())
    others = sorted(set(rounds) - set(rater.languages))
    accuracy = {language: check_accuracy(rater, language) for language in [*rater.languages, *others]}
    return [
        LanguageRecord(
            language,
            qualifications.get(language),
            rounds.get(language, []),
            manager_decides=language not in qualifications
            and open_round(rater, language) is None
            and rounds_used_up(rater, language),
            checks=checks,
            check_questions=with_questions(rater.project, checks.decision) if checks else [],
            suspensions=[each for each in suspensions if each.language == language],
            unseen=unseen_gold(rater, [language]).count(),
        )
        for language, checks in accuracy.items()
    ]


def _round_record(current: QualificationRound) -> RoundRecord:
    if current.decided_at is None:
        return RoundRecord(current, [])
    results = with_questions(current.rater.project, round_decision(current))
    return RoundRecord(current, results, rescored_round(current))


def with_questions(project: Project, decision: Decision) -> list[tuple[Question, QuestionResult]]:
    """Return the results of a decision beside their questions."""
    questionnaire = project.questionnaire.protocol
    return [(questionnaire.question(each.question), each) for each in decision.results]
