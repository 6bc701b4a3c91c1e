"""Starting rechecks, by hand or on a schedule."""

import logging
import random
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from itertools import chain, count

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Avg, Max, Q, QuerySet
from django.utils import timezone

from annotation.database.portions import portions
from annotation.lookups import one_of
from annotation.models import Project
from annotation.permissions import Permission, require
from metaeval.rechecks.results import NOTHING_TO_COMPARE
from scoring.contract.evaluator import EvaluatorError
from scoring.contract.requests import Request, Usage
from scoring.endpoints.known_models import address_asked_by, known_model, refuse_unlisted
from scoring.endpoints.prices import Price, most_used, price_of
from scoring.errors import InvalidRun, RunBusy
from scoring.evaluators.bases.asking_evaluator import AskingEvaluator
from scoring.evaluators.catalogue import asking_evaluators
from scoring.inputs.items import inputs_digest, items_of
from scoring.models import Batch, RecheckSchedule, RecheckScore, Run, Score, Setup, StoredReply
from scoring.replies.budgets import refuse_budget
from scoring.runs.lifecycle import record_end
from scoring.runs.worker import evaluator_of
from scoring.workers.wake_ups import wake

SUMMARIES = {Run.Kind.CONSISTENCY: 30, Run.Kind.DRIFT: 20}
REPEATS = {Run.Kind.CONSISTENCY: 3, Run.Kind.DRIFT: 2}
"""Drift rechecks need two, whose distance shows the model's noise."""
MOST_DAYS = 365
PARTS = 10
"""Equal parts of the range of scores that a consistency recheck draws from."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class RecheckPlan:
    """A recheck as it would be if it were started now."""

    evaluator: AskingEvaluator
    summary_ids: tuple[int, ...]
    repeats: int
    requests: tuple[Request, ...]
    """Requests of one repetition."""
    first: tuple[Score, ...]
    """The setup's scores that a drift recheck compares with new ones."""
    price: Price | None
    """Price of the model; None if unknown or if there is no endpoint."""

    @property
    def requests_in_all(self) -> int:
        return len(self.requests) * self.repeats

    @property
    def tokens_at_most(self) -> int:
        """Tokens of prompts and replies."""
        return sum(use.prompt_tokens + use.completion_tokens for use in self._uses) * self.repeats

    @property
    def cost_at_most(self) -> Decimal | None:
        """US dollars; None without a price."""
        price = self.price
        return sum((price.cost(use) for use in self._uses), Decimal(0)) * self.repeats if price else None

    @property
    def _uses(self) -> list[Usage]:
        return [most_used(request, self.evaluator.tokens_at_most) for request in self.requests]


def asking_setups(project: Project) -> QuerySet[Setup]:
    """Return the project's setups that ask a language model and have scored something."""
    setups = Setup.objects.filter(project=project, evaluator__in=asking_evaluators())
    return setups.filter(pk__in=Score.objects.computed().filter(setup__in=setups).values("setup"))


def asking_setup(project: Project, setup_id: int) -> Setup:
    """Return the one of `asking_setups` with this id. Raises NotFound."""
    return one_of(asking_setups(project), setup_id, "evaluator that asks a language model and has scored")


def plan_recheck(setup: Setup, kind: str) -> RecheckPlan:
    """Plan a recheck without writing anything. All drift rechecks of a setup use the same summaries.

    Raises InvalidRun if the evaluator asks no model, has changed, or has no scores that can be compared.
    """
    evaluator = asking_evaluator(setup)
    chosen = _chosen(setup, kind)
    if not chosen:
        raise InvalidRun(f"{setup.label} has no scores to recheck.")
    items = items_of(chosen, evaluator.needs_for(evaluator.params))
    first: list[Score] = []
    if kind == Run.Kind.DRIFT:  # changed texts have other replies anyway
        scores = Score.objects.filter(setup=setup, summary__in=items)
        first = [each for each in scores if each.inputs == inputs_digest(items[each.summary_id])]
        comparable = {each.summary_id for each in first}
        items = {pk: item for pk, item in items.items() if pk in comparable}
    requests = {pk: asked for pk, item in items.items() if (asked := evaluator.requests(item))}
    if not requests:
        raise InvalidRun(NOTHING_TO_COMPARE)
    address = address_asked_by(evaluator)
    return RecheckPlan(
        evaluator=evaluator,
        summary_ids=tuple(requests),
        repeats=REPEATS[Run.Kind(kind)],
        requests=tuple(chain.from_iterable(requests.values())),
        first=tuple(each for each in first if each.summary_id in requests),
        price=price_of(known_model(setup.project_id, address)) if address else None,
    )


def start_recheck(setup: Setup, kind: str, user: User | None = None, budget: Decimal | None = None) -> Run:
    """Start a recheck of the setup; `user` is None for scheduled ones.

    `budget` is in US dollars, None for no limit. Raises InvalidRun as `plan_recheck`, `refuse_unlisted` and
    `refuse_budget`; RunBusy if a recheck of this kind is in progress; also as `require`.
    """
    if user is not None:
        require(user, setup.project, Permission.MANAGE_RUNS)
    planned = plan_recheck(setup, kind)
    refuse_unlisted(planned.evaluator)
    refuse_budget(setup.project, planned.evaluator.address, budget)
    try:
        with transaction.atomic():
            run = Run.objects.create(
                setup=setup,
                kind=kind,
                created_by=user,
                total=len(planned.summary_ids) * planned.repeats,
                budget=budget,
                models_before=_models_before(setup, planned),
            )
            Batch.objects.bulk_create(_batches(run, planned))
            RecheckScore.objects.bulk_create(
                RecheckScore.copy_of(score, run, repetition=0) for score in planned.first
            )
            wake(run)
    except IntegrityError as error:
        raise RunBusy(f"A recheck of {setup.label} is in progress. Wait until it ends.") from error
    return run


def asking_evaluator(setup: Setup) -> AskingEvaluator:
    """Return the setup's evaluator. Raises InvalidRun unless it asks a language model."""
    try:
        evaluator = evaluator_of(setup)
    except EvaluatorError as error:
        raise InvalidRun(str(error)) from error
    if not isinstance(evaluator, AskingEvaluator):
        raise InvalidRun(f"{setup.label} asks no language model.")
    return evaluator


def set_schedule(setup: Setup, every_days: int | None, user: User, budget: Decimal | None = None) -> None:
    """Schedule a drift recheck every so many days, or none for None. `budget` is for each recheck.

    Raises InvalidRun for a number out of range and as `refuse_unlisted` and `refuse_budget`; also as
    `require`.
    """
    require(user, setup.project, Permission.MANAGE_RUNS)
    if every_days is None:
        RecheckSchedule.objects.filter(setup=setup).delete()
        return
    if not 1 <= every_days <= MOST_DAYS:
        raise InvalidRun(f"days: found {every_days}, expected a whole number from 1 to {MOST_DAYS}")
    evaluator = asking_evaluator(setup)
    refuse_unlisted(evaluator)
    refuse_budget(setup.project, evaluator.address, budget)
    RecheckSchedule.objects.update_or_create(
        setup=setup, defaults={"every_days": every_days, "set_by": user, "budget": budget}
    )


def start_due() -> None:
    """Start every scheduled drift recheck that is due. One that cannot start is stored as failed."""
    last = Max("setup__runs__created_at", filter=Q(setup__runs__kind=Run.Kind.DRIFT))
    for schedule in RecheckSchedule.objects.select_related("setup__project").annotate(last=last):
        since = schedule.last or schedule.setup.created_at
        if timezone.now() - since < timedelta(days=schedule.every_days):
            continue
        try:
            start_recheck(schedule.setup, Run.Kind.DRIFT, budget=schedule.budget)
        except RunBusy:
            logger.info("A recheck of %s is in progress.", schedule.setup)
        except InvalidRun as error:
            with transaction.atomic():
                failed = Run.objects.create(
                    setup=schedule.setup,
                    kind=Run.Kind.DRIFT,
                    status=Run.Status.FAILED,
                    failure=str(error),
                    finished_at=timezone.now(),
                )
                record_end(failed)


def _chosen(setup: Setup, kind: str) -> list[int]:
    if kind == Run.Kind.DRIFT:
        first = setup.runs.filter(kind=kind, batches__isnull=False).order_by("pk").first()
        if first is not None:
            return sorted({pk for ids in first.batches.values_list("summary_ids", flat=True) for pk in ids})
    scored = Score.objects.computed().filter(setup=setup).values("summary").annotate(mean=Avg("value"))
    scores = dict(scored.values_list("summary", "mean"))
    draw = at_random if kind == Run.Kind.DRIFT else evenly_over_scores
    return draw(scores, SUMMARIES[Run.Kind(kind)], seed=setup.pk)


def evenly_over_scores(scores: Mapping[int, float], number: int, seed: int) -> list[int]:
    """Return up to `number` ids, ascending, whose scores are spread evenly over their range.

    The range from the lowest to the highest score is divided into PARTS of equal width. In turn, each part
    contributes one of its ids, drawn with `seed`, while it has any.
    """
    if not scores:
        return []
    low, high = min(scores.values()), max(scores.values())
    parts: dict[int, list[int]] = {}
    for pk, score in sorted(scores.items()):
        place = int((score - low) / (high - low) * PARTS) if high > low else 0
        parts.setdefault(min(place, PARTS - 1), []).append(pk)
    draw = random.Random(seed)
    queues = [draw.sample(ids, len(ids)) for _, ids in sorted(parts.items())]
    dealt = [queue[turn] for turn in range(max(map(len, queues))) for queue in queues if turn < len(queue)]
    return sorted(dealt[:number])


def at_random(ids: Collection[int], number: int, seed: int) -> list[int]:
    """Return up to `number` of the ids, ascending, drawn with `seed` regardless of their scores.

    Drift rechecks compare old replies with new ones. A sample chosen by the old scores would overrepresent
    extreme ones, which regress to the mean, so that an unchanged model would seem to have changed.
    """
    return sorted(random.Random(seed).sample(sorted(ids), min(number, len(ids))))


def _batches(run: Run, planned: RecheckPlan) -> Iterator[Batch]:
    """Yield batches of all summaries for each repetition, which has its own requests."""
    numbers = count()
    for repetition in range(1, planned.repeats + 1):
        for ids in portions(planned.summary_ids, planned.evaluator.batch_size):
            yield Batch(run=run, number=next(numbers), repetition=repetition, summary_ids=ids, size=len(ids))


def _models_before(setup: Setup, planned: RecheckPlan) -> list[str]:
    """Return the model names that the endpoint reported in the stored replies of the compared scores."""
    address = planned.evaluator.address
    if address is None or not planned.first:
        return []
    asked = [request.digest(address) for request in planned.requests]
    stored = StoredReply.objects.filter(project=setup.project, request__in=asked).exclude(model="")
    return sorted(set(stored.values_list("model", flat=True)))
