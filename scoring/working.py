"""What a worker does with a run: claim a batch, score it, record it, and so on."""

import logging
import time
from collections import OrderedDict
from contextlib import suppress
from functools import partial

from django.db import OperationalError

from scoring.contract import Evaluator, EvaluatorError, Item, Need, Scored, score_unseen
from scoring.endpoints.at_work import for_claim
from scoring.endpoints.budgets import BudgetInUse, OutOfBudget
from scoring.evaluators import UnknownEvaluator, load_evaluator
from scoring.fingerprints import fingerprint
from scoring.items import StoredCorpus, inputs_digest, items_of
from scoring.members import members_of
from scoring.models import Batch, Run, SetUp
from scoring.params import read_params
from scoring.pool import stored_pool
from scoring.renewing import renewed
from scoring.runs import (
    Claim,
    claim_batch,
    fail_run,
    hand_back,
    pause_run,
    postpone_batch,
    record_scores,
    renew_claim,
)
from scoring.waking import wake

SLICE_S = 5.0
"""Seconds after which a worker lets other runs and tasks have their turn."""
MOST_ATTEMPTS = 5
"""Claims of one batch before its summaries are left unscored."""
HOPELESS_BATCHES = 3
"""Batches given up one after the other before the run is."""
NOT_ANSWERED = "not answered in the batch"
"""Of runs whose requests are handed in: these are never asked one by one, at full price."""
BUDGET_PAUSE_S = 5.0
"""After which a batch looks again whether requests of others have left some of the budget."""
RECORDING_ATTEMPTS, RECORDING_PAUSE_S = 3, 0.5
LOADED_EVALUATORS = 2
"""Evaluators kept ready in a process, with their weights."""

_loaded: OrderedDict[str, Evaluator] = OrderedDict()
logger = logging.getLogger(__name__)


def work_on_run(run_id: int, slice_s: float = SLICE_S) -> None:
    """Score batches of the run until there is none to take or its slice is over; then ask for a new turn."""
    run = Run.objects.select_related("setup__project").filter(pk=run_id).first()
    if run is None or not run.is_unfinished or run.hand_ins.open().exists():
        return
    try:
        evaluator = evaluator_of(run.setup)
    except EvaluatorError as error:
        fail_run(run_id, str(error))
        return
    except Exception as error:
        logger.exception("Run %s could not start.", run_id)
        fail_run(run_id, unexpected(error))
        return
    turn_ends = time.monotonic() + slice_s
    sends = run.delivery == Run.Delivery.NOW
    while claim := claim_batch(run_id):
        if not _work_on_batch(evaluator, claim, sends=sends):
            return
        if time.monotonic() > turn_ends:
            wake(run)
            return


def evaluator_of(setup: SetUp) -> Evaluator:
    """The evaluator of this setup, fitted, from this process's store or made anew.

    Raises EvaluatorError where it would not be the one that was planned: it is gone, takes other parameters,
    or has another fingerprint here.
    """
    if setup.fingerprint in _loaded:
        _loaded.move_to_end(setup.fingerprint)
        return _loaded[setup.fingerprint]
    evaluator = fitted(setup)
    if fingerprint(evaluator) != setup.fingerprint:
        raise EvaluatorError(
            "The numbers would not be those that were planned: the version of the evaluator or of a library, "
            "the weights or the pool's texts are different on this worker. Start a new run instead.",
            permanent=True,
        )
    _loaded[setup.fingerprint] = evaluator
    if len(_loaded) > LOADED_EVALUATORS:
        _loaded.popitem(last=False)
    return evaluator


def fitted(setup: SetUp) -> Evaluator:
    """The setup's evaluator as this version has it, fitted to the setup's examples and corpus.

    Raises EvaluatorError if it is gone, takes other parameters or lacks examples.
    """
    try:
        evaluator_class = load_evaluator(setup.evaluator)
        evaluator = evaluator_class(read_params(evaluator_class, setup.params))
    except (UnknownEvaluator, ValueError) as error:
        raise EvaluatorError(str(error), permanent=True) from error
    needs = evaluator.needs_for(evaluator.params)
    if Need.SCORES in needs:
        evaluator.appoint(members_of(setup.project, evaluator.params))
    if Need.LABELLED_POOL in needs:
        evaluator.fit(stored_pool(setup, needs, evaluator.members))
    if Need.CORPUS in needs:
        evaluator.survey(StoredCorpus(setup.corpus, needs, evaluator.members))
    return evaluator


def _work_on_batch(evaluator: Evaluator, claim: Claim, *, sends: bool) -> bool:
    """Whether another batch of the run may be taken at once. With `sends` False only the store is read."""
    items: dict[int, Item] = {}
    try:
        items = items_of(claim.summary_ids, evaluator.needs_for(evaluator.params), evaluator.members)
        if claim.attempt > MOST_ATTEMPTS:
            _give_up(evaluator, claim, items, "the worker stopped each time, perhaps short of memory")
            return True
        with renewed(partial(renew_claim, claim), f"batch {claim.batch_id}"):
            if sends:
                scored = score_items(for_claim(evaluator, claim), items)
            else:
                scored = _from_store(evaluator, claim, items, NOT_ANSWERED)
            _record(claim, items, scored)
    except OutOfBudget as pause:
        pause_run(claim.run_id, str(pause), claim)
    except BudgetInUse as wait:
        logger.info("Batch %s waits: %s", claim.batch_id, wait)
        hand_back(claim, BUDGET_PAUSE_S)
        return False
    except EvaluatorError as error:
        _after_failure(evaluator, claim, items, error)
    except MemoryError:
        _after_failure(evaluator, claim, items, EvaluatorError("out of memory", permanent=False))
    except OperationalError:  # the database was busy or away; nothing of the batch is written
        logger.exception("Batch %s of run %s will be tried again.", claim.batch_id, claim.run_id)
        postpone_batch(claim)
    except Exception as error:
        logger.exception("Run %s failed.", claim.run_id)
        fail_run(claim.run_id, unexpected(error), claim)
    return True


def score_items(evaluator: Evaluator, items: dict[int, Item]) -> dict[int, Scored]:
    """Summary id -> result."""
    return dict(zip(items, score_unseen(evaluator, list(items.values())), strict=True))


def _after_failure(evaluator: Evaluator, claim: Claim, items: dict[int, Item], error: EvaluatorError) -> None:
    if error.permanent:
        fail_run(claim.run_id, str(error), claim)
    elif claim.attempt < MOST_ATTEMPTS:
        logger.warning("Batch %s, attempt %s: %s", claim.batch_id, claim.attempt, error)
        postpone_batch(claim)
    elif _hopeless(claim):
        fail_run(claim.run_id, f"{HOPELESS_BATCHES + 1} batches failed one after the other: {error}", claim)
    else:
        _give_up(evaluator, claim, items, str(error))


def _give_up(evaluator: Evaluator, claim: Claim, items: dict[int, Item], reason: str) -> None:
    """Leave the batch's summaries unscored, all but those whose replies have come."""
    full_reason = f"{reason} ({min(claim.attempt, MOST_ATTEMPTS)} attempts)"
    _record(claim, items, _from_store(evaluator, claim, items, full_reason))


def _from_store(evaluator: Evaluator, claim: Claim, items: dict[int, Item], reason: str) -> dict[int, Scored]:
    """Results from stored replies alone; those of which any is missing are left unscored for `reason`."""
    scored = {pk: Scored.unscored(evaluator.dimensions, reason) for pk in items}
    from_store = for_claim(evaluator, claim, sends=False)
    if from_store is not evaluator:
        for pk, item in items.items():
            with suppress(EvaluatorError):
                scored |= score_items(from_store, {pk: item})
    return scored


def _record(claim: Claim, items: dict[int, Item], scored: dict[int, Scored]) -> None:
    inputs = {pk: inputs_digest(item) for pk, item in items.items()}
    for _ in range(RECORDING_ATTEMPTS - 1):
        try:
            record_scores(claim, scored, inputs)
            return
        except OperationalError:  # a deadlock or a busy database; the scores may have been paid for
            logger.warning("Scores of batch %s are written again.", claim.batch_id, exc_info=True)
            time.sleep(RECORDING_PAUSE_S)
    record_scores(claim, scored, inputs)


def _hopeless(claim: Claim) -> bool:
    """Whether the run's latest batches were all given up: something is wrong with more than one summary."""
    latest = Batch.objects.filter(run=claim.run_id, state=Batch.State.DONE).order_by("-finished_at")
    attempts = list(latest.values_list("attempts", flat=True)[:HOPELESS_BATCHES])
    return len(attempts) == HOPELESS_BATCHES and min(attempts) >= MOST_ATTEMPTS


def unexpected(error: Exception) -> str:
    """For people: what they can tell whoever reads the worker's log."""
    first_line = (str(error).splitlines() or [""])[0][:200]
    return f"Unexpected {type(error).__name__}: {first_line} (the worker's log has the details)"
