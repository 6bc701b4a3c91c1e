"""A rater's qualification by language, with rounds, and the manager's decisions on it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotation.gold.checks import CheckAccuracy, check_accuracies, unseen_gold
from annotation.gold.qualification import Decision, QuestionResult
from annotation.gold.qualified_languages import qualify_rater, withdraw_qualification
from annotation.gold.rescoring import RescoredRound, rescored_rounds
from annotation.gold.rounds import allow_round, are_used_up, round_decision
from annotation.lookups import one_of
from annotation.models import CheckSuspension, Project, Qualification, QualificationRound, Rater
from annotation.permissions import Permission
from annotation.protocol import Question
from annotation.templatetags.texts import language_name
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest


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
    for each in _round_records(rater):
        rounds.setdefault(each.round.language, []).append(each)
    suspensions = list(rater.check_suspensions.all())
    others = sorted(set(rounds) - set(rater.languages))
    languages = [*rater.languages, *others]
    accuracy = check_accuracies(rater, languages)
    unseen = unseen_gold(rater, languages).order_by().values_list("article__language").annotate(Count("pk"))
    unseen_in = dict(unseen)
    return [
        LanguageRecord(
            language,
            qualifications.get(language),
            rounds.get(language, []),
            manager_decides=language not in qualifications
            and _used_up(rater.project, rounds.get(language, [])),
            checks=(checks := accuracy.get(language)),
            check_questions=with_questions(rater.project, checks.decision) if checks else [],
            suspensions=[each for each in suspensions if each.language == language],
            unseen=unseen_in.get(language, 0),
        )
        for language in languages
    ]


def _round_records(rater: Rater) -> list[RoundRecord]:
    rounds = list(rater.rounds.select_related("allowed_by").order_by("number"))
    for each in rounds:
        each.rater = rater
    rescored = rescored_rounds([each for each in rounds if each.decided_at is not None])
    found = {each.round.pk: each for each in rescored}
    return [
        RoundRecord(each, with_questions(rater.project, _decision(found[each.pk])), found[each.pk])
        if each.pk in found
        else RoundRecord(each, [])
        for each in rounds
    ]


def _decision(rescored: RescoredRound) -> Decision:
    return round_decision(rescored.round) if rescored.round.results else rescored.today


def _used_up(project: Project, rounds: Sequence[RoundRecord]) -> bool:
    """Return whether none of a language's rounds is open and they are used up."""
    passed = [each.round.passed for each in reversed(rounds)]
    return None not in passed and are_used_up(project, passed)


def with_questions(project: Project, decision: Decision) -> list[tuple[Question, QuestionResult]]:
    """Return the results of a decision beside their questions."""
    questionnaire = project.questionnaire.protocol
    return [(questionnaire.question(each.question), each) for each in decision.results]


@require_safe
def rater_qualification(request: SignedInRequest, slug: str, rater_id: int) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_PEOPLE)
    rater = _rater(project, rater_id)
    context = {"rater": rater, "languages": qualification_record(rater)}
    return render(request, "annotation/gold/rater_qualification.html", context)


def _deciding(decide: Callable[[Rater, User, str], object], outcome: str) -> Callable[..., HttpResponse]:
    """Return a view that makes this decision on a rater in the posted language, and says `outcome`."""

    @require_POST
    def decision(request: SignedInRequest, slug: str, rater_id: int) -> HttpResponse:
        rater = _rater(open_project(request, slug, Permission.MANAGE_PEOPLE), rater_id)
        language = request.POST.get("language", "")
        decide(rater, request.user, language)
        messages.success(request, outcome.format(rater=rater, language=language_name(language)))
        return redirect("rater_qualification", slug, rater_id)

    return decision


def _rater(project: Project, rater_id: int) -> Rater:
    rater = one_of(project.raters.select_related("user"), rater_id, "rater")
    rater.project = project
    return rater


rater_qualify = _deciding(qualify_rater, "{rater} is now qualified in {language}.")
rater_allow_round = _deciding(allow_round, "{rater} can do another gold round in {language}.")
rater_unqualify = _deciding(
    withdraw_qualification, "{rater} needs another gold round in {language}. Past ratings still count."
)
