"""Asking a setup's model again: what is asked, what that costs at most, and who may start it."""

import logging
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Avg, Max, Q, QuerySet
from django.utils import timezone

from annotation.lookups import one_of
from annotation.models import Project
from annotation.permissions import Permission, require
from scoring.asking_evaluator import AskingEvaluator
from scoring.catalogue import asking_evaluators
from scoring.contract import EvaluatorError
from scoring.endpoints.budgets import refuse_budget
from scoring.endpoints.prices import most_used
from scoring.endpoints.remembered import refuse_unlisted
from scoring.errors import InvalidRun, RunBusy
from scoring.items import items_of
from scoring.models import EvaluatorSetup, Reasking, ReaskingSchedule, Score
from scoring.steadiness.drawing import at_random, evenly_over_scores
from scoring.steadiness.purse import price_at
from scoring.waking import wake_for_reasking
from scoring.working import evaluator_of

SUMMARIES = {Reasking.Kind.CONSISTENCY: 30, Reasking.Kind.DRIFT: 20}
REPEATS = {Reasking.Kind.CONSISTENCY: 3, Reasking.Kind.DRIFT: 2}
"""A drift has two, since how far they are from each other says how far apart replies are anyway."""
MOST_DAYS = 365

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Asked:
    """What asking again takes."""

    summary_ids: tuple[int, ...]
    repeats: int
    requests: int
    tokens_at_most: int
    """Of prompts and replies."""
    cost_at_most: Decimal | None
    """US dollars; None where no price is known, or nobody is paid."""


def asking_setups(project: Project) -> QuerySet[EvaluatorSetup]:
    """The project's setups that ask a language model and have scored something."""
    setups = EvaluatorSetup.objects.filter(project=project, evaluator__in=asking_evaluators())
    return setups.filter(pk__in=Score.objects.computed().filter(setup__in=setups).values("setup"))


def asking_setup(project: Project, setup_id: int) -> EvaluatorSetup:
    """The one of them with this id. Raises NotFound."""
    return one_of(asking_setups(project), setup_id, "evaluator that asks a language model and has scored")


def to_ask(setup: EvaluatorSetup, kind: str) -> Asked:
    """What would be asked again now. A drift's summaries stay those of the first time.

    Raises InvalidRun where the evaluator asks nobody, has scored nothing, or is not as it was.
    """
    evaluator = asking_evaluator(setup)
    chosen = _chosen(setup, Reasking.Kind(kind))
    items = items_of(chosen, evaluator.needs_for(evaluator.params))
    requests = [request for item in items.values() for request in evaluator.requests(item)]
    if not requests:
        raise InvalidRun(f"{setup.label} has scored no summary that could be asked again.")
    repeats = REPEATS[Reasking.Kind(kind)]
    uses = [most_used(request, evaluator.tokens_at_most) for request in requests]
    price = price_at(setup, evaluator)
    return Asked(
        summary_ids=tuple(items),
        repeats=repeats,
        requests=len(requests) * repeats,
        tokens_at_most=sum(use.prompt_tokens + use.completion_tokens for use in uses) * repeats,
        cost_at_most=sum((price.cost(use) for use in uses), Decimal(0)) * repeats if price else None,
    )


def start_reasking(
    setup: EvaluatorSetup, kind: str, user: User | None = None, budget: Decimal | None = None
) -> Reasking:
    """Ask a worker to ask the setup's model again; `user` is None for the schedule, which somebody has set.

    It ends before its requests could cost more than `budget`, in US dollars; None: no limit. Raises
    InvalidRun as `to_ask` and `refuse_budget` do and for an address that pages may not name, RunBusy if it is
    being done already; what `require` raises.
    """
    if user is not None:
        require(user, setup.project, Permission.MANAGE_RUNS)
    evaluator = asking_evaluator(setup)
    refuse_unlisted(evaluator)
    if budget is not None:
        refuse_budget(setup.project, evaluator.address, budget)
    asked = to_ask(setup, kind)
    try:
        with transaction.atomic():
            reasking = Reasking.objects.create(
                setup=setup,
                kind=kind,
                summary_ids=list(asked.summary_ids),
                repeats=asked.repeats,
                started_by=user,
                budget=budget,
            )
            wake_for_reasking(reasking)
    except IntegrityError as error:
        raise RunBusy(f"{setup.label} is being asked again already.") from error
    return reasking


def asking_evaluator(setup: EvaluatorSetup) -> AskingEvaluator:
    """The setup's evaluator, which asks a language model. Raises InvalidRun."""
    try:
        evaluator = evaluator_of(setup)
    except EvaluatorError as error:
        raise InvalidRun(str(error)) from error
    if not isinstance(evaluator, AskingEvaluator):
        raise InvalidRun(f"{setup.label} asks no language model.")
    return evaluator


def set_schedule(
    setup: EvaluatorSetup, every_days: int | None, user: User, budget: Decimal | None = None
) -> None:
    """Ask again every so many days, to notice a change; None: no more. `budget` is for each time.

    Raises InvalidRun for a number out of range, as `refuse_budget` does, and for an address that pages may
    not name; what `require` raises.
    """
    require(user, setup.project, Permission.MANAGE_RUNS)
    if every_days is None:
        ReaskingSchedule.objects.filter(setup=setup).delete()
        return
    if not 1 <= every_days <= MOST_DAYS:
        raise InvalidRun(f"days: found {every_days}, expected a whole number from 1 to {MOST_DAYS}")
    evaluator = asking_evaluator(setup)
    refuse_unlisted(evaluator)
    if budget is not None:
        refuse_budget(setup.project, evaluator.address, budget)
    ReaskingSchedule.objects.update_or_create(
        setup=setup, defaults={"every_days": every_days, "set_by": user, "budget": budget}
    )


def start_due() -> None:
    """The sweep: a drift for every schedule whose days are over. One that cannot start is noted as failed."""
    last = Max("setup__reaskings__created_at", filter=Q(setup__reaskings__kind=Reasking.Kind.DRIFT))
    for schedule in ReaskingSchedule.objects.select_related("setup__project").annotate(last=last):
        since = schedule.last or schedule.setup.created_at
        if timezone.now() - since < timedelta(days=schedule.every_days):
            continue
        try:
            start_reasking(schedule.setup, Reasking.Kind.DRIFT, budget=schedule.budget)
        except RunBusy:
            logger.info("%s is being asked again already.", schedule.setup)
        except InvalidRun as error:
            Reasking.objects.create(
                setup=schedule.setup,
                kind=Reasking.Kind.DRIFT,
                summary_ids=[],
                repeats=REPEATS[Reasking.Kind.DRIFT],
                ended_at=timezone.now(),
                failure=str(error),
            )


def _chosen(setup: EvaluatorSetup, kind: Reasking.Kind) -> list[int]:
    if kind == Reasking.Kind.DRIFT:
        first = setup.reaskings.filter(kind=kind).exclude(summary_ids=[]).order_by("pk").first()
        if first is not None:
            return list(first.summary_ids)
    scored = Score.objects.computed().filter(setup=setup).values("summary").annotate(mean=Avg("value"))
    scores = dict(scored.values_list("summary", "mean"))
    if kind == Reasking.Kind.DRIFT:
        return at_random(scores, SUMMARIES[kind], seed=setup.pk)
    return evenly_over_scores(scores, SUMMARIES[kind], seed=setup.pk)
