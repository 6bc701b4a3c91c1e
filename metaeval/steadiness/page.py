"""The pages on steadiness: all evaluators that ask a language model, and one with all that was found."""

from dataclasses import dataclass

from django.db.models import QuerySet

from annotation.models import Project
from metaeval.steadiness.report import (
    Consistency,
    ConsistencyReport,
    DriftReport,
    consistency_of,
    consistency_report,
    drift_report,
)
from scoring.errors import InvalidRun
from scoring.models import EvaluatorSetup, Reasking, ReaskingSchedule
from scoring.steadiness.reading import Notice, notice_of, notices_of, replies_of_each
from scoring.steadiness.starting import Asked, asking_setups, to_ask


@dataclass(frozen=True)
class Row:
    """One evaluator in the list."""

    setup: EvaluatorSetup
    consistency: Consistency | None
    last_drift: Reasking | None
    notice: Notice | None
    schedule: ReaskingSchedule | None


@dataclass(frozen=True)
class Part:
    """One of the two questions on an evaluator's page, its answer, and what asking (again) takes."""

    kind: str
    unfinished: Reasking | None
    failed: Reasking | None
    """The latest, if it failed."""
    asked: Asked | None
    problem: str
    """Why it cannot be asked; empty where it can."""


@dataclass(frozen=True)
class SteadinessPage:
    setup: EvaluatorSetup
    consistency: ConsistencyReport | None
    drift: DriftReport | None
    notice: Notice | None
    schedule: ReaskingSchedule | None
    parts: tuple[Part, Part]
    history: tuple[Reasking, ...]

    @property
    def is_asking(self) -> bool:
        return any(part.unfinished for part in self.parts)


def steadiness_rows(project: Project) -> list[Row]:
    """Their number costs no further query."""
    setups = list(asking_setups(project).defer("provenance", "pool", "corpus"))
    latest: dict[tuple[int, str], Reasking] = {}
    for reasking in _ended().filter(setup__in=setups):
        latest.setdefault((reasking.setup_id, reasking.kind), reasking)
    replies = replies_of_each([each for each in latest.values() if each.kind == Reasking.Kind.CONSISTENCY])
    notices = notices_of(setups)
    schedules = {each.setup_id: each for each in ReaskingSchedule.objects.filter(setup__in=setups)}
    rows = []
    for setup in setups:
        consistency = latest.get((setup.pk, Reasking.Kind.CONSISTENCY))
        rows.append(
            Row(
                setup,
                consistency_of(consistency, replies[consistency.pk]) if consistency else None,
                latest.get((setup.pk, Reasking.Kind.DRIFT)),
                notices.get(setup.pk),
                schedules.get(setup.pk),
            )
        )
    return rows


def steadiness_page(setup: EvaluatorSetup) -> SteadinessPage:
    consistency = _latest(setup, Reasking.Kind.CONSISTENCY)
    drift = _latest(setup, Reasking.Kind.DRIFT)
    return SteadinessPage(
        setup=setup,
        consistency=consistency_report(consistency) if consistency else None,
        drift=drift_report(drift) if drift else None,
        notice=notice_of(setup),
        schedule=ReaskingSchedule.objects.filter(setup=setup).first(),
        parts=(_part(setup, Reasking.Kind.CONSISTENCY), _part(setup, Reasking.Kind.DRIFT)),
        history=tuple(setup.reaskings.select_related("started_by")),
    )


def _ended() -> QuerySet[Reasking]:
    """Those that came to an end and did not fail, the latest first."""
    return Reasking.objects.filter(ended_at__isnull=False, failure="")


def _latest(setup: EvaluatorSetup, kind: Reasking.Kind) -> Reasking | None:
    return _ended().filter(setup=setup, kind=kind).first()


def _part(setup: EvaluatorSetup, kind: Reasking.Kind) -> Part:
    latest = setup.reaskings.filter(kind=kind).first()
    asked, problem = None, ""
    try:
        asked = to_ask(setup, kind)
    except InvalidRun as error:
        problem = str(error)
    return Part(
        kind=kind.value,
        unfinished=latest if latest and latest.is_unfinished else None,
        failed=latest if latest and latest.failure else None,
        asked=asked,
        problem=problem,
    )
