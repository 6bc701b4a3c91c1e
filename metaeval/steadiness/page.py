"""The pages on steadiness: all evaluators that ask a language model, and one with all that was found."""

from dataclasses import dataclass

from annotation.models import Project
from metaeval.steadiness.report import ConsistencyReport, DriftReport, consistency_report, drift_report
from scoring.errors import InvalidRun
from scoring.models import EvaluatorSetup, Reasking, ReaskingSchedule
from scoring.steadiness.reading import Notice, notice_of
from scoring.steadiness.starting import Asked, asking_setups, to_ask


@dataclass(frozen=True)
class Row:
    """One evaluator in the list."""

    setup: EvaluatorSetup
    consistency: ConsistencyReport | None
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
    rows = []
    for setup in asking_setups(project):
        consistency = _latest(setup, Reasking.Kind.CONSISTENCY)
        rows.append(
            Row(
                setup,
                consistency_report(consistency) if consistency else None,
                _latest(setup, Reasking.Kind.DRIFT),
                notice_of(setup),
                schedule_of(setup),
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
        schedule=schedule_of(setup),
        parts=(_part(setup, Reasking.Kind.CONSISTENCY), _part(setup, Reasking.Kind.DRIFT)),
        history=tuple(setup.reaskings.select_related("started_by")),
    )


def schedule_of(setup: EvaluatorSetup) -> ReaskingSchedule | None:
    return ReaskingSchedule.objects.filter(setup=setup).first()


def _latest(setup: EvaluatorSetup, kind: Reasking.Kind) -> Reasking | None:
    """The latest that came to an end and did not fail."""
    return setup.reaskings.filter(kind=kind, ended_at__isnull=False, failure="").first()


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
