"""A worker's steps with an API batch: collect requests, submit them, check, store the replies.

Nothing is paid twice if a worker is killed. It uploads the file of requests, which costs nothing, and records
its name before it starts a batch. A worker that finds a recorded file without a batch first searches the
endpoint for one. Only a worker that stalls for longer than its lease just before it starts the batch can
cause a second one.
"""

import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from django.db import OperationalError, transaction
from django.utils import timezone

from annotation.database.portions import portions
from scoring.contract.evaluator import EvaluatorError
from scoring.contract.requests import Request, Usage
from scoring.endpoints.known_models import NO_BATCHES, model_at
from scoring.endpoints.prices import most_used
from scoring.evaluators.bases.asking_evaluator import AskingEvaluator
from scoring.inputs.items import CHUNK, items_of
from scoring.llm.batch_api import BatchFiles, BatchReplies, BatchState, BatchStatus, UnknownBatch
from scoring.llm.capabilities import unable
from scoring.models import ApiBatch, Run, StoredReply
from scoring.replies.budgets import BudgetInUse, OutOfBudget, refuse_unpriced, release, reserve
from scoring.replies.stored_replies import StoredReplies, stored
from scoring.runs.api_batches import add_api_batches, after_api_batch, extend_reservation, reservation_holder
from scoring.runs.asking import files_for, store_for
from scoring.runs.lifecycle import fail_run, locked_run, pause_run
from scoring.runs.worker import evaluator_of, unexpected_error_message
from scoring.workers.lease_keeper import keep_leased
from scoring.workers.wake_ups import wake

MOST_REQUESTS, MOST_BYTES = 20_000, 50_000_000
"""Limits of a lot, below those of endpoints, so that it fits in a worker's memory with its replies."""


Lot = tuple[list[int], list[str]]
"""Ids of summaries, and the digests of the requests about them to submit together."""


def lots_of(run: Run, evaluator: AskingEvaluator, files: BatchFiles) -> Iterator[Lot]:
    """Yield all requests to submit, each once, in lots."""
    lot: Lot = ([], [])
    lot_bytes, taken = 0, set[str]()
    for batch in run.batches.unfinished().order_by("number"):
        asked = requests_of(evaluator, files, batch.summary_ids)
        there = stored(run.setup.project_id, asked, run.pk)
        missing = {
            digest: request
            for digest, request in asked.items()
            if digest not in there and digest not in taken
        }
        if not missing:
            continue
        size = len(files.lines(missing))
        if lot[1] and (len(lot[1]) + len(missing) > MOST_REQUESTS or lot_bytes + size > MOST_BYTES):
            yield lot
            lot, lot_bytes = ([], []), 0
        lot[0].extend(batch.summary_ids)
        lot[1].extend(missing)
        lot_bytes += size
        taken |= missing.keys()
    if lot[1]:
        yield lot


def requests_in(api_batch: ApiBatch, evaluator: AskingEvaluator, files: BatchFiles) -> dict[str, Request]:
    """Return the batch's requests by digest, without those whose texts changed since collection."""
    wanted = set(api_batch.requests)
    found: dict[str, Request] = {}
    for summary_ids in portions(api_batch.summary_ids, CHUNK):
        asked = requests_of(evaluator, files, summary_ids)
        found |= {digest: request for digest, request in asked.items() if digest in wanted}
    return found


def requests_of(
    evaluator: AskingEvaluator, files: BatchFiles, summary_ids: Sequence[int]
) -> dict[str, Request]:
    """Return the requests needed to score these summaries, by digest."""
    items = items_of(summary_ids, evaluator.needs_for(evaluator.params), evaluator.members)
    return {
        request.digest(files.address): request
        for item in items.values()
        if evaluator.is_asked_about(item)
        for request in evaluator.requests(item)
    }


MOST_ATTEMPTS = 8
"""Attempts to submit requests before the run fails."""
SHORTEST_PAUSE_S, LONGEST_PAUSE_S = 5.0, 600.0
PAUSE_SHARE = 0.1
"""Pause until the next check, as a share of the time since submission."""
PATIENCE = timedelta(days=3)
"""Time after which no answer is expected; endpoints promise a day."""
SHOWN_REASONS, LONGEST_REASON = 5, 200
NO_REASON = "the endpoint gives no reason"

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Work:
    """A claimed API batch with what is needed to process it."""

    api_batch: ApiBatch
    evaluator: AskingEvaluator
    files: BatchFiles
    store: StoredReplies

    @property
    def run(self) -> Run:
        return self.api_batch.run


def work_on_api_batch(api_batch_id: int) -> None:
    """Take the next step with an API batch, unless another worker holds it."""
    api_batch = ApiBatch.objects.select_related("run__setup__project").filter(pk=api_batch_id).claim()
    if api_batch is None:
        return
    run = api_batch.run
    if not api_batch.input_file and not run.is_unfinished:
        if run.status == Run.Status.CANCELLED:
            _end(api_batch, ApiBatch.State.CANCELLED)
        else:
            api_batch.release()
        return
    try:
        with keep_leased(api_batch.renew, str(api_batch)):
            _work_on(_work(api_batch))
    except OutOfBudget as pause:
        api_batch.release()
        pause_run(run.pk, str(pause))
    except BudgetInUse as wait:
        api_batch.release(LONGEST_PAUSE_S, failure=str(wait))
    except EvaluatorError as error:
        _after_failure(api_batch, error)
    except (OperationalError, MemoryError) as error:
        logger.exception("%s will be retried.", api_batch)
        _after_failure(api_batch, EvaluatorError(unexpected_error_message(error), permanent=False))
    except Exception as error:
        logger.exception("%s failed.", api_batch)
        _after_failure(api_batch, EvaluatorError(unexpected_error_message(error), permanent=True))


def _work(api_batch: ApiBatch) -> _Work:
    setup = api_batch.run.setup
    evaluator = evaluator_of(setup)
    if not isinstance(evaluator, AskingEvaluator) or (address := evaluator.address) is None:
        raise EvaluatorError(NO_BATCHES, permanent=True)
    model = model_at(setup.project_id, address)
    files = files_for(model, address)
    store = store_for(evaluator, model, address, api_batch.run_id, reservation_holder(api_batch))
    return _Work(api_batch, evaluator, files, store)


def _work_on(work: _Work) -> None:
    if work.api_batch.state == ApiBatch.State.UNDER_WAY:
        _check(work)
        return
    Run.objects.filter(pk=work.run.pk, status=Run.Status.QUEUED).update(
        status=Run.Status.RUNNING, started_at=timezone.now()
    )
    if work.api_batch.number is None and not _collect(work):
        return
    if work.api_batch.input_file:
        _find_or_start(work)
    elif _upload(work):
        _start(work)


def _collect(work: _Work) -> bool:
    """Collect the requests and return whether there are any. Further lots become API batches of their own."""
    api_batch = work.api_batch
    lots = list(lots_of(work.run, work.evaluator, work.files))
    with transaction.atomic():
        run = locked_run(api_batch.run_id)
        if run is None or not api_batch.held.exists():
            return False
        if not lots:
            api_batch.delete()
            wake(run)
            return False
        api_batch.summary_ids, api_batch.requests = lots[0]
        api_batch.number = len(api_batch.requests)
        api_batch.save(update_fields=["summary_ids", "requests", "number"])
        add_api_batches(run, api_batch.round, lots[1:])
    return True


def _upload(work: _Work) -> bool:
    """Reserve the money and upload the file; False if no requests are left."""
    api_batch = work.api_batch
    asked = requests_in(api_batch, work.evaluator, work.files)
    there = stored(work.run.setup.project_id, asked, work.run.pk)
    asked = {digest: request for digest, request in asked.items() if digest not in there}
    if not asked:
        _end(api_batch, ApiBatch.State.DONE, number=0)
        return False
    address = work.files.address
    if work.files.abilities and (words := unable(work.files.abilities, asked.values(), address.model)):
        raise EvaluatorError(words, permanent=True)
    _reserve(work, asked)
    try:
        file = work.files.upload(asked)
    except EvaluatorError:
        release(work.run.pk, reservation_holder(api_batch))
        raise
    api_batch.input_file, api_batch.requests, api_batch.number = file, list(asked), len(asked)
    return bool(
        work.api_batch.held.update(input_file=file, requests=api_batch.requests, number=api_batch.number)
    )


def _reserve(work: _Work, asked: Mapping[str, Request]) -> None:
    """Reserve the most that the requests can cost, at the full price, since batch prices are unknown."""
    holder = reservation_holder(work.api_batch)
    release(work.run.pk, holder)  # left by an earlier attempt
    if (price := work.store.price) is None:
        refuse_unpriced(work.run.pk, work.files.address.model)
        return
    count = work.evaluator.tokens_at_most
    cost = sum((price.cost(most_used(request, count)) for request in asked.values()), Decimal(0))
    reserve(work.run.pk, holder, [cost], f"the {len(asked):,} requests to submit")
    extend_reservation(work.api_batch, timezone.now() + PATIENCE)


def _find_or_start(work: _Work) -> None:
    """Find the batch of a file uploaded before, or start one."""
    if name := work.files.find(work.api_batch.input_file):
        _mark_submitted(work, name)
    elif work.run.is_unfinished:
        _start(work)
    else:
        release(work.run.pk, reservation_holder(work.api_batch))
        work.api_batch.release(input_file="")


def _start(work: _Work) -> None:
    try:
        name = work.files.start(work.api_batch.input_file)
    except EvaluatorError as error:
        if error.permanent:  # the endpoint rejected it
            release(work.run.pk, reservation_holder(work.api_batch))
            work.api_batch.held.update(input_file="")
        raise
    _mark_submitted(work, name)


def _mark_submitted(work: _Work, name: str) -> None:
    work.api_batch.release(
        SHORTEST_PAUSE_S,
        state=ApiBatch.State.UNDER_WAY,
        remote_id=name,
        submitted_at=timezone.now(),
        attempts=0,
        failure="",
    )


def _check(work: _Work) -> None:
    api_batch, now = work.api_batch, timezone.now()
    status = work.files.status(api_batch.remote_id)
    if status.state is not BatchState.UNDER_WAY:
        _store_replies(work, status)
        return
    cancel_requested_at = api_batch.cancel_requested_at
    if work.run.status == Run.Status.CANCELLED and not cancel_requested_at:
        _cancel(work)
        cancel_requested_at = now
    waited_s = (now - (cancel_requested_at or api_batch.submitted_at or now)).total_seconds()
    extend_reservation(api_batch, now + PATIENCE)
    work.api_batch.release(
        min(LONGEST_PAUSE_S, max(SHORTEST_PAUSE_S, waited_s * PAUSE_SHARE)),
        answered=status.answered,
        refused=status.refused,
        checked_at=now,
        cancel_requested_at=cancel_requested_at,
        attempts=0,
        failure="",
    )


def _cancel(work: _Work) -> None:
    try:
        work.files.cancel(work.api_batch.remote_id)
    except EvaluatorError as error:
        if not error.permanent:
            raise
        logger.warning("%s cannot be cancelled: %s", work.api_batch, error)  # it may just have ended


def _store_replies(work: _Work, status: BatchStatus) -> None:
    """Store the replies and count their cost, a few at a time, then end the API batch."""
    api_batch = work.api_batch
    asked = requests_in(api_batch, work.evaluator, work.files)
    changed = {digest: Request("") for digest in api_batch.requests if digest not in asked}
    fetched = work.files.fetch(status, asked | changed)
    own = StoredReply.objects.filter(project=work.run.setup.project, run=work.run)
    came = [(digest, reply) for digest, reply in fetched.replies.items() if digest in asked]
    for lot in portions(came, CHUNK):
        there = set(own.filter(request__in=[digest for digest, _ in lot]).values_list("request", flat=True))
        if new := [(asked[digest], reply) for digest, reply in lot if digest not in there]:
            work.store.keep(new)
    if lost := [
        fetched.replies[digest].usage or Usage(0, 0) for digest in changed if digest in fetched.replies
    ]:
        work.store.count_lost(
            Usage(sum(each.prompt_tokens for each in lost), sum(each.completion_tokens for each in lost))
        )
    failure = status.words or NO_REASON if status.state is BatchState.FAILED else ""
    _end(
        api_batch,
        ApiBatch.State(status.state.value),
        failure=failure,
        run_fails=f"The endpoint rejected the batch: {failure}",
        answered=len(came),
        refused=len(api_batch.requests) - len(came),
        reasons=_reasons(api_batch, fetched, changed),
        checked_at=timezone.now(),
    )


def _reasons(api_batch: ApiBatch, fetched: BatchReplies, changed: Mapping[str, Request]) -> dict[str, int]:
    """Count the requests without a readable reply, by reason; the most frequent reasons."""
    counts = Counter(words[:LONGEST_REASON] for words in fetched.failures.values())
    counts["the summary's texts changed after submission"] += len(changed.keys() & fetched.replies.keys())
    counts["the endpoint gave no answer"] += sum(
        digest not in fetched.replies and digest not in fetched.failures for digest in api_batch.requests
    )
    return {words: number for words, number in counts.most_common(SHOWN_REASONS) if number}


def _end(
    api_batch: ApiBatch,
    state: str,
    *,
    run_fails: str = "",
    is_lost: bool = False,
    **told: object,
) -> None:
    """End the API batch; if FAILED, fail the run with the message `run_fails`.

    With `is_lost` its money stays reserved, since it may have been spent.
    """
    with transaction.atomic():
        run = locked_run(api_batch.run_id)
        if not api_batch.finish(state=state, **told) or run is None:
            return
        if not is_lost:
            release(run.pk, reservation_holder(api_batch))
        if state == ApiBatch.State.FAILED:
            fail_run(run.pk, run_fails)
        else:
            after_api_batch(run, api_batch.round)


def _after_failure(api_batch: ApiBatch, error: EvaluatorError) -> None:
    """Retry later; give up if the endpoint does not know the batch or PATIENCE is over."""
    logger.warning("%s, attempt %s: %s", api_batch, api_batch.attempts, error)
    overdue = api_batch.submitted_at is not None and timezone.now() > api_batch.submitted_at + PATIENCE
    if overdue or isinstance(error, UnknownBatch):
        message = str(error)
        _end(api_batch, ApiBatch.State.FAILED, run_fails=message, is_lost=True, failure=message)
        return
    pause_s = LONGEST_PAUSE_S
    if not error.permanent:
        pause_s = min(pause_s, SHORTEST_PAUSE_S * 2 ** min(api_batch.attempts - 1, 10))
    api_batch.release(pause_s, failure=str(error))
    is_submitted = api_batch.state == ApiBatch.State.UNDER_WAY
    if error.permanent or (not is_submitted and api_batch.attempts >= MOST_ATTEMPTS):
        fail_run(api_batch.run_id, str(error))
