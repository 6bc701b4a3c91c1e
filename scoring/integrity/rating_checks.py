"""Checks of ratings, their answers and leases, and of the places that summaries have open."""

from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.db.models import Exists, ExpressionWrapper, F, OuterRef, Q, QuerySet
from django.db.models.fields import BooleanField
from django.db.models.functions import Coalesce, Greatest

from annotation import protocol
from annotation.audit.actions import Action
from annotation.gold.qualified_languages import qualified_languages
from annotation.models import (
    Adjudication,
    Answer,
    Assignment,
    AuditEntry,
    GoldAnswer,
    GoldRating,
    Project,
    ProjectChange,
    Qualification,
    Question,
    Questionnaire,
    Rater,
    Rating,
    Rerating,
    Summary,
)
from annotation.open_places import taken_places, wanted_ratings
from annotation.projects.settings import REDUNDANCY
from scoring.integrity.check import check, in_project, named

HELD_OUT = Q(rater__status__in=[Rater.Status.SUSPENDED, Rater.Status.REMOVED])
PRODUCTION = Q(round__isnull=True, is_check=False)
ENDED = (Assignment.State.DONE, Assignment.State.REOPENED)
"""States of an assignment whose rating is finished."""
CHUNK = 2000
UNKNOWN = ""
"""Stands for a question of another questionnaire, which no sheet may answer."""


@check(
    "open places",
    "A summary has as many open places as it wants ratings, less those that count and those under way; "
    "none if it is withdrawn.",
)
def open_places(project: Project | None) -> Iterator[str]:
    left = Greatest(0, F("ratings_wanted") - taken_places())
    wrong = Q(withdrawn_at__isnull=True) & ~Q(open_places=F("left"))
    wrong |= Q(withdrawn_at__isnull=False, open_places__gt=0)
    yield from named(Summary.objects.annotate(left=left).filter(wrong), "project", project)


@check(
    "wanted ratings",
    "A summary wants as many ratings as the project's settings ask for, unless another rating of it was "
    "requested.",
)
def wanted(project: Project | None) -> Iterator[str]:
    plain = Summary.objects.with_wanted_ratings().filter(
        ~Exists(Rerating.objects.filter(summary=OuterRef("pk")))
    )
    projects = Project.objects.in_bulk(None if project is None else [project.pk])
    rows = in_project(plain, "project", project).order_by("pk")
    for pk, project_id, number, article, system in rows.values_list(
        "pk", "project", "ratings_wanted", "article__external_id", "system__name"
    ).iterator():
        if number != wanted_ratings(projects[project_id], article, system):
            yield f"summary {pk}"


EXCUSES = Q(action__in=[Action.RATER_REINSTATED, Action.RATING_RESTORED]) | Q(
    action=Action.SETTINGS_CHANGED, details__has_any_keys=REDUNDANCY
)
"""Entries of the audit log after which more ratings may count than are wanted."""


@check(
    "ratings of a summary",
    "A summary has no more ratings and leases than it wants, where none was imported or requested, and the "
    "project never restored a rating, reinstated a rater or changed the number of ratings.",
)
def ratings_of_summary(project: Project | None) -> Iterator[str]:
    excused = AuditEntry.objects.filter(EXCUSES, project=OuterRef("project"))
    # Not IS NULL: SQLite would look through all imported ratings, by that index, for each summary.
    of_summary = Rating.objects.filter(summary=OuterRef("pk"))
    imported = of_summary.annotate(assigned=Coalesce("assignment", 0)).filter(assigned=0)
    beyond = (
        Summary.objects.with_wanted_ratings()
        .annotate(taken=taken_places())
        .filter(
            ~Exists(excused),
            ~Exists(imported),
            ~Exists(Rerating.objects.filter(summary=OuterRef("pk"))),
            taken__gt=F("ratings_wanted"),
        )
    )
    yield from named(beyond, "project", project)


@check("gold summaries", "A gold summary wants no ratings, so that nobody gets it as an ordinary one.")
def gold_summaries(project: Project | None) -> Iterator[str]:
    rows = Summary.objects.filter(gold__isnull=False, ratings_wanted__gt=0)
    yield from named(rows, "project", project)


@check(
    "answers",
    "The answers that count of a rating are valid on their scales, and none is to a stage that was not "
    "reached; a finished rating that was made here answers every question that applies.",
)
def answers(project: Project | None) -> Iterator[str]:
    whole = Q(rating__completed_at__isnull=False, rating__assignment__isnull=False)
    rows = (
        in_project(Answer.objects.current(), "rating__summary__project", project)
        .annotate(is_whole=ExpressionWrapper(whole, output_field=BooleanField()))
        .order_by("rating")
        .values_list("rating", "is_whole", "rating__summary__project__questionnaire", "question", "value")
    )
    yield from _invalid("rating", rows)
    empty = Rating.objects.filter(
        ~Exists(Answer.objects.current().filter(rating=OuterRef("pk"))), assignment__isnull=False
    )
    yield from named(empty, "summary__project", project)


@check("gold answers", "The gold answers of a summary are valid, and answer every question that applies.")
def gold_answers(project: Project | None) -> Iterator[str]:
    whole = ExpressionWrapper(Q(pk__isnull=False), output_field=BooleanField())
    rows = (
        in_project(GoldAnswer.objects.all(), "gold__summary__project", project)
        .annotate(is_whole=whole)
        .order_by("gold")
        .values_list("gold", "is_whole", "gold__summary__project__questionnaire", "question", "value")
    )
    yield from _invalid("gold rating", rows)
    yield from named(GoldRating.objects.filter(answers__isnull=True), "summary__project", project)


def _invalid(name: str, rows: "QuerySet[Any, Any]") -> Iterator[str]:
    """Yield the names of invalid sheets.

    The rows are sheet, whether it must be complete, questionnaire, question and value, in order of sheets.
    """
    questions = cache(_questions)

    @lru_cache(maxsize=10_000)
    def is_valid(questionnaire_id: int, sheet: frozenset[tuple[int, str]], is_whole: bool) -> bool:
        keys, questionnaire = questions(questionnaire_id)
        by_key = {keys.get(question, UNKNOWN): value for question, value in sheet}
        if protocol.violations(questionnaire, by_key):
            return False
        return not is_whole or not protocol.open_questions(questionnaire, by_key)

    for (pk, is_whole, questionnaire), given in groupby(rows.iterator(CHUNK), itemgetter(0, 1, 2)):
        sheet = frozenset((question, value) for *_, question, value in given)
        if not is_valid(questionnaire, sheet, bool(is_whole)):
            yield f"{name} {pk}"


def _questions(questionnaire_id: int) -> tuple[dict[int, str], protocol.Questionnaire]:
    keys = Question.objects.filter(questionnaire=questionnaire_id).values_list("pk", "key")
    return dict(keys), Questionnaire.objects.get(pk=questionnaire_id).protocol


@check(
    "locked stages",
    "An unfinished rating has answers only to the stages before the one that is open.",
)
def locked_stages(project: Project | None) -> Iterator[str]:
    early = Answer.objects.filter(
        rating__completed_at__isnull=True, question__stage__gte=F("rating__assignment__stage")
    )
    yield from named(early, "rating__summary__project", project)


@check("revisions", "The answer that counts is the latest revision.")
def revisions(project: Project | None) -> Iterator[str]:
    earlier = Answer.objects.current().filter(
        rating=OuterRef("rating"), question=OuterRef("question"), revision__lt=OuterRef("revision")
    )
    later = Answer.objects.filter(Exists(earlier), is_current=False)
    yield from named(later, "rating__summary__project", project)


@check(
    "finished ratings",
    "A rating is finished exactly if its assignment is done or re-opened, and both name the same rater, "
    "summary and round.",
)
def finished_ratings(project: Project | None) -> Iterator[str]:
    finished = Rating.objects.filter(assignment=OuterRef("pk"), completed_at__isnull=False)
    unrated = Assignment.objects.filter(~Exists(finished), state__in=ENDED)
    yield from named(unrated, "summary__project", project)
    made_here = Rating.objects.filter(assignment__isnull=False).annotate(
        own_round=Coalesce("round", 0), assigned_round=Coalesce("assignment__round", 0)
    )
    differs = (
        ~Q(rater=F("assignment__rater"))
        | ~Q(summary=F("assignment__summary"))
        | ~Q(is_check=F("assignment__is_check"))
        | ~Q(own_round=F("assigned_round"))
        | (Q(completed_at__isnull=False) & ~Q(assignment__state__in=ENDED))
    )
    yield from named(made_here.filter(differs), "summary__project", project)


@check(
    "leases",
    "No suspended or removed rater holds a summary, nobody an ordinary one that is withdrawn, and no "
    "summary of a decided gold round is open.",
)
def leases(project: Project | None) -> Iterator[str]:
    idle = HELD_OUT & Q(round__isnull=True)
    withdrawn = PRODUCTION & Q(state=Assignment.State.OPEN, summary__withdrawn_at__isnull=False)
    decided = Q(round__decided_at__isnull=False)
    held = Assignment.objects.held().filter(idle | withdrawn | decided)
    yield from named(held, "summary__project", project)


@check("qualified raters", "Whoever holds an ordinary summary is qualified in its language.")
def qualified_raters(project: Project | None) -> Iterator[str]:
    own = Qualification.objects.filter(
        rater=OuterRef("rater"), language=OuterRef("summary__article__language")
    )
    held = Assignment.objects.filter(PRODUCTION, ~Exists(own), state=Assignment.State.OPEN)
    yield from named(held, "summary__project", project)


@check(
    "qualified status",
    "A rater with a login has the status qualified exactly if they are qualified in one of their languages.",
)
def qualified_status(project: Project | None) -> Iterator[str]:
    statuses = [Rater.Status.TRAINING, Rater.Status.QUALIFIED]
    members = Rater.objects.filter(user__isnull=False, status__in=statuses).order_by("pk")
    for rater in in_project(members, "project", project).iterator(CHUNK):
        assert isinstance(rater, Rater)
        if bool(qualified_languages(rater)) != (rater.status == Rater.Status.QUALIFIED):
            yield f"rater {rater.pk}"


@check(
    "one project",
    "What belongs together is of one project: article, system and summary, rater and summary, question and "
    "decision.",
)
def one_project(project: Project | None) -> Iterator[str]:
    strange = ~Q(article__project=F("project")) | ~Q(system__project=F("project"))
    yield from named(Summary.objects.filter(strange), "project", project)
    for rows in (Assignment.objects.all(), Rating.objects.all()):
        of_others = rows.filter(~Q(rater__project=F("summary__project")))
        yield from named(of_others, "summary__project", project)
    decisions = Adjudication.objects.filter(~Q(question__questionnaire=F("summary__project__questionnaire")))
    yield from named(decisions, "summary__project", project)


@check("changes", "No recorded change is of a later revision than the project has.")
def changes(project: Project | None) -> Iterator[str]:
    later = ProjectChange.objects.filter(revision__gt=F("project__revision"))
    yield from named(later, "project", project)


RATING_CHECKS = (
    open_places,
    wanted,
    ratings_of_summary,
    gold_summaries,
    answers,
    gold_answers,
    locked_stages,
    revisions,
    finished_ratings,
    leases,
    qualified_raters,
    qualified_status,
    one_project,
    changes,
)
