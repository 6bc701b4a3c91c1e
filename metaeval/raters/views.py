"""Pages of raters, the list and one, for managers and researchers. They show pseudonyms."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.contradictions.rules import rules_of
from annotation.gold.checks import CheckAccuracy, check_accuracies
from annotation.gold.rounds import round_decision
from annotation.lookups import one_of
from annotation.models import Project, QualificationRound, Rater, Rating
from annotation.permissions import Permission
from annotation.progress.progress import seconds_by_stage
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest
from metaeval.raters.report import (
    RULES,
    RaterOnQuestion,
    RaterPace,
    RaterPair,
    agreements_with_others,
    paces,
    pair_figures,
    question_figures,
    same_answers,
)
from metaeval.snapshot.snapshot import Snapshot, snapshot_of
from metaeval.stats.labels.label_mean import MeanEstimate


@dataclass(frozen=True)
class RaterRow:
    rater: Rater
    ratings: int
    agreement: MeanEstimate | None
    """Agreement with the others over all questions; None without ratings that count."""
    pace: RaterPace


@dataclass(frozen=True)
class RaterList:
    rows: Sequence[RaterRow]
    """Raters who rated, the lowest agreement first; then the others."""
    by_group: bool
    """True if each is compared with the others of the same group."""
    snapshot: Snapshot
    rules: Sequence[str] = RULES

    @property
    def looks(self) -> str:
        """Return 'one' if the page shows intervals, which are for a single look; empty without any."""
        return _looks(row.agreement for row in self.rows)


@dataclass(frozen=True)
class Round:
    """A decided gold round of a rater."""

    number: int
    language: str
    passed: bool
    matched: int
    asked: int


@dataclass(frozen=True)
class RaterStage:
    """The median seconds of one stage; None without times."""

    title: str
    own: float | None
    others: float | None
    """The median over the other raters' medians."""


@dataclass(frozen=True)
class OtherRater:
    rater: Rater
    figures: RaterPair


@dataclass(frozen=True)
class RaterPage:
    row: RaterRow
    questions: Sequence[RaterOnQuestion]
    """One for each question; empty without ratings that count."""
    others: Sequence[OtherRater]
    rounds: Sequence[Round]
    checks: Sequence[CheckAccuracy]
    """Accuracy in the last hidden checks, by language."""
    first_at: datetime | None
    last_at: datetime | None
    stages: Sequence[RaterStage]
    snapshot: Snapshot
    rules: Sequence[str] = RULES

    @property
    def looks(self) -> str:
        """Return 'one' if the page shows intervals, which are for a single look; empty without any."""
        of_questions = [mean for each in self.questions for mean in (each.agreement, each.others)]
        return _looks([*of_questions, *(each.figures.agreement for each in self.others)])


def rater_list(project: Project) -> RaterList:
    """Return the project's raters, removed ones included, with what of theirs counts."""
    snapshot = snapshot_of(project)
    rows = _rows(project, snapshot)
    return RaterList(
        sorted(
            rows.values(),
            key=lambda row: (
                row.agreement is None or bool(row.agreement.reason),
                row.agreement.value if row.agreement and not row.agreement.reason else 0.0,
                row.rater.pseudonym,
            ),
        ),
        by_group=bool(snapshot.human.groups),
        snapshot=snapshot,
    )


def rater_page(rater: Rater) -> RaterPage:
    project = rater.project
    snapshot = snapshot_of(project)
    rows = _rows(project, snapshot)
    place = _place(snapshot, rater)
    ids = snapshot.rater_ids.tolist()
    summaries, human = snapshot.summaries, snapshot.human
    has_ratings = rows[rater.pk].agreement is not None
    ratings = Rating.objects.filter(rater=rater, completed_at__isnull=False).order_by("completed_at")
    moments = ratings.values_list("completed_at", flat=True)
    checks = check_accuracies(rater, rater.languages)
    return RaterPage(
        row=rows[rater.pk],
        questions=question_figures(summaries, human, place) if has_ratings else (),
        others=[
            OtherRater(rows[ids[each.other]].rater, each)
            for each in (pair_figures(summaries, human, place) if has_ratings else ())
        ],
        rounds=[_round(each) for each in rater.rounds.filter(decided_at__isnull=False).order_by("number")],
        checks=[checks[language] for language in rater.languages if language in checks],
        first_at=moments.first(),
        last_at=moments.last(),
        stages=_stages(
            project, rows[rater.pk].pace, [row.pace for pk, row in rows.items() if pk != rater.pk]
        ),
        snapshot=snapshot,
    )


def removal_figures(rater: Rater) -> list[RaterOnQuestion]:
    """Return what removing the rater does to each question's alpha; empty if nothing of theirs counts."""
    snapshot = snapshot_of(rater.project)
    place = _place(snapshot, rater)
    if not any((each.raters == place).any() for each in snapshot.human.questions):
        return []
    return question_figures(snapshot.summaries, snapshot.human, place)


def _looks(means: Iterable[MeanEstimate | None]) -> str:
    return "one" if any(each and not each.interval.reason for each in means) else ""


def _rows(project: Project, snapshot: Snapshot) -> dict[int, RaterRow]:
    """Return the row of each rater, by primary key."""
    ids = snapshot.rater_ids.tolist()
    agreement = agreements_with_others(snapshot.summaries, snapshot.human)
    seconds: dict[int, list[dict[int, float]]] = {}
    counts: dict[int, int] = {}
    ratings = Rating.objects.countable().filter(rater__project=project)
    for rater, stage_times in ratings.values_list("rater", "stage_times"):
        counts[rater] = counts.get(rater, 0) + 1
        if stage_times:
            seconds.setdefault(rater, []).append(seconds_by_stage(stage_times))
    of_place = paces(
        {place: seconds[pk] for place, pk in enumerate(ids) if pk in seconds},
        same_answers(snapshot.human, len(snapshot.summaries)),
    )
    places = {pk: place for place, pk in enumerate(ids)}
    return {
        rater.pk: RaterRow(
            rater,
            counts.get(rater.pk, 0),
            agreement.get(places.get(rater.pk, -1)),
            of_place.get(places.get(rater.pk, -1), RaterPace()),
        )
        for rater in project.raters.order_by("pk")
    }


def _place(snapshot: Snapshot, rater: Rater) -> int:
    """Return the rater's place in the snapshot; -1 for one who joined after it."""
    ids = snapshot.rater_ids.tolist()
    return ids.index(rater.pk) if rater.pk in ids else -1


def _round(decided: QualificationRound) -> Round:
    results = round_decision(decided).results
    return Round(
        decided.number,
        decided.language,
        bool(decided.passed),
        sum(each.matched for each in results),
        sum(each.asked for each in results),
    )


def _stages(project: Project, own: RaterPace, others: Sequence[RaterPace]) -> list[RaterStage]:
    return [
        RaterStage(title, (own.by_stage or {}).get(stage), _median_of(stage, others))
        for stage, title in enumerate(project.questionnaire.protocol.stage_titles, 1)
    ]


def _median_of(stage: int, paces_of_others: Sequence[RaterPace]) -> float | None:
    found = [each.by_stage[stage] for each in paces_of_others if each.by_stage and stage in each.by_stage]
    return median(found) if found else None


@require_safe
def raters(request: SignedInRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_TEXTS_AND_RATINGS)
    context = {"page": rater_list(project), "rules": rules_of(project.questionnaire.key)}
    return render(request, "metaeval/raters/raters.html", context)


@require_safe
def rater(request: SignedInRequest, slug: str, rater_id: int) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_TEXTS_AND_RATINGS)
    found = one_of(project.raters.select_related("project"), rater_id, "rater")
    context = {
        "page": rater_page(found),
        "may_manage": Permission.MANAGE_PEOPLE in project.reader_may,
    }
    return render(request, "metaeval/raters/rater.html", context)


@require_safe
def rater_without(request: SignedInRequest, slug: str, rater_id: int) -> HttpResponse:
    """Show what removing a rater does to agreement, as a part of the page that asks."""
    project = open_project(request, slug, Permission.MANAGE_PEOPLE)
    found = one_of(project.raters.select_related("project"), rater_id, "rater")
    questions = removal_figures(found)
    undefined = dict.fromkeys(each.without.reason for each in questions if each.without.reason)
    return render(
        request, "metaeval/raters/_without.html", {"questions": questions, "undefined": list(undefined)}
    )
