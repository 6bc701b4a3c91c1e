"""A worker's steps in scoring a run: claim a batch, score it, store the scores, repeat."""

import logging
import time
from collections import Counter, OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from django.db import OperationalError, transaction

from annotation.database.bulk_insert import insert_rows
from annotation.models import Changed, ProjectChange, Summary
from annotation.protocol import LARGEST_NUMBER
from annotation.texts.text_digests import sha256_of
from scoring.contract.evaluator import Evaluator, EvaluatorError, Need, score_unseen
from scoring.contract.fingerprints import earlier_fingerprint, fingerprint
from scoring.contract.items import Item
from scoring.contract.params import read_params
from scoring.contract.scores import Scored, shares_in_words
from scoring.evaluators import UnknownEvaluator, load_evaluator
from scoring.inputs.items import StoredCorpus, inputs_digest, items_of
from scoring.inputs.labelled_pool import stored_pool
from scoring.inputs.members import members_of
from scoring.models import Batch, RecheckScore, Run, Score, SetupBase
from scoring.replies.budgets import BudgetInUse, OutOfBudget
from scoring.runs.asking import with_stored_replies
from scoring.runs.claims import claim_batch, postpone_batch, renew_claim, return_batch
from scoring.runs.lifecycle import fail_run, finish_if_complete, locked_run, pause_run
from scoring.workers.lease_keeper import keep_leased
from scoring.workers.wake_ups import wake

LONGEST_REASON = 500  # characters


class NewScore(NamedTuple):
    """A score to store, as the database holds it. Model objects would take twice as long."""

    summary: int
    dimension: str
    value: float | None
    reason: str
    explanation: str
    inputs: str


def record_scores(batch: Batch, scored: Mapping[int, Scored], inputs: Mapping[int, str]) -> bool:
    """Store a claimed batch's scores and finish it; False, with nothing written, if its lease was lost.

    `scored` and `inputs` are by summary id. New rows replace reasons, and values computed from other texts.
    Scores of a recheck are stored separately. The last batch finishes the run.
    """
    rows = _rows(scored, inputs)
    missing = {(row.summary, row.reason) for row in rows if row.reason}
    with transaction.atomic():
        run = locked_run(batch.run_id)
        finished = batch.finish(
            unscored=len({summary_id for summary_id, _ in missing}),
            reasons=Counter(reason for _, reason in missing),
            cut=sum(bool(each.shares_read) for each in scored.values()),
        )
        if run is None or not finished:
            return False
        if batch.repetition:
            insert_rows(
                RecheckScore,
                ("run", "repetition", *NewScore._fields),
                [(run.pk, batch.repetition, *row) for row in _still_there(rows)],
            )
        else:
            _write(run, rows)
            run.setup.project.bump_revision(Changed(ProjectChange.Kind.BATCH, batch.pk))
        finish_if_complete(run)
    return True


def _rows(scored: Mapping[int, Scored], inputs: Mapping[int, str]) -> list[NewScore]:
    return [
        NewScore(
            summary_id,
            dimension,
            *_value_or_reason(each, dimension),
            each.explanations.get(dimension) or shares_in_words(each.shares_read),
            inputs.get(summary_id, ""),
        )
        for summary_id, each in scored.items()
        for dimension in each.values
    ]


def _value_or_reason(scored: Scored, dimension: str) -> tuple[float | None, str]:
    value = scored.values[dimension]
    if abs(value) <= LARGEST_NUMBER:
        return float(value), ""
    reason = scored.reasons.get(dimension) or f"the evaluator gave {value:g}"
    return None, reason[:LONGEST_REASON]


def _write(run: Run, rows: list[NewScore]) -> None:
    """Insert `rows`, replacing reasons and values computed from other texts."""
    there = Score.objects.filter(
        setup=run.setup_id,
        dimension__in={row.dimension for row in rows},
        summary__in={row.summary for row in rows},
    ).values_list("pk", "summary", "dimension", "value", "inputs")
    inputs = {(row.summary, row.dimension): row.inputs for row in rows}
    valid, outdated = set(), []
    for pk, summary, dimension, value, digest in there:
        key = (summary, dimension)
        if value is not None and digest == inputs[key]:
            valid.add(key)
        else:
            outdated.append(pk)
    Score.objects.filter(pk__in=outdated).delete()
    insert_rows(
        Score,
        ("setup", "run", *NewScore._fields),
        [
            (run.setup_id, run.pk, *row)
            for row in _still_there(rows)
            if (row.summary, row.dimension) not in valid
        ],
    )


def _still_there(rows: list[NewScore]) -> list[NewScore]:
    """Return the rows whose summaries still exist."""
    asked = Summary.objects.filter(pk__in={row.summary for row in rows})
    found = set(asked.values_list("pk", flat=True))
    return [row for row in rows if row.summary in found]


SLICE_S = 5.0
"""Seconds after which a worker yields to other runs and tasks."""
MOST_ATTEMPTS = 5
"""Claims of a batch before its summaries are left without a score."""
HOPELESS_BATCHES = 3
"""Consecutive batches given up before the run fails."""
NOT_ANSWERED = "not answered in the batch"
"""Reason in runs sent by the batch API, which never send requests at the full price."""
BUDGET_PAUSE_S = 5.0
"""Seconds until a batch tries again to reserve some of the budget."""
RECORDING_ATTEMPTS, RECORDING_PAUSE_S = 3, 0.5
LOADED_EVALUATORS = 2
"""Evaluators that a process keeps loaded, with their weights."""

_loaded: OrderedDict[tuple[str, str], Evaluator] = OrderedDict()
logger = logging.getLogger(__name__)


def work_on_run(run_id: int, slice_s: float = SLICE_S) -> None:
    """Score batches of the run until none can be claimed or the time slice is over; then requeue it."""
    run = score_for(run_id, slice_s)
    if run is not None:
        wake(run)


def score_for(run_id: int, seconds: float) -> Run | None:
    """Score batches of the run for so many seconds, besides those for loading the evaluator.

    Return the run if it may have more batches, and None if none can be claimed now.
    """
    run = Run.objects.select_related("setup__project").filter(pk=run_id).first()
    if run is None or not run.is_unfinished or run.api_batches.unfinished().exists():
        return None
    try:
        evaluator = evaluator_of(run.setup)
    except EvaluatorError as error:
        fail_run(run_id, str(error))
        return None
    except Exception as error:
        logger.exception("Run %s could not start.", run_id)
        fail_run(run_id, unexpected_error_message(error))
        return None
    ends = time.monotonic() + seconds
    sends = run.delivery == Run.Delivery.NOW
    while batch := claim_batch(run_id):
        if not _work_on_batch(evaluator, batch, sends=sends):
            return None
        if time.monotonic() > ends:
            return run
    return None


def evaluator_of(setup: SetupBase) -> Evaluator:
    """Return the setup's fitted evaluator, cached in this process.

    Raises EvaluatorError if this worker cannot build it with the planned fingerprint.
    """
    key = setup.fingerprint, sha256_of(setup.params)  # a setup's timeout may change
    if key in _loaded:
        _loaded.move_to_end(key)
        return _loaded[key]
    evaluator = _fitted(setup)
    if setup.fingerprint not in (fingerprint(evaluator), earlier_fingerprint(evaluator)):
        raise EvaluatorError(
            "The scores would differ from those planned: the version of the evaluator or of a library, the "
            "weights or the pool's texts are different on this worker. Start a new run instead.",
            permanent=True,
        )
    _loaded[key] = evaluator
    if len(_loaded) > LOADED_EVALUATORS:
        _loaded.popitem(last=False)
    return evaluator


def _fitted(setup: SetupBase) -> Evaluator:
    """Return the setup's evaluator in this version, fitted to the setup's examples and corpus.

    Raises EvaluatorError if it no longer exists, rejects its parameters or lacks examples.
    """
    try:
        evaluator_class = load_evaluator(setup.evaluator)
        evaluator = evaluator_class(read_params(evaluator_class, setup.params))
    except (UnknownEvaluator, ValueError) as error:
        raise EvaluatorError(str(error), permanent=True) from error
    needs = evaluator.needs_for(evaluator.params)
    if Need.SCORES in needs:
        evaluator.use_members(members_of(setup.project, evaluator.params))
    if Need.LABELLED_POOL in needs:
        evaluator.fit(stored_pool(setup, needs, evaluator.members))
    if Need.CORPUS in needs:
        evaluator.see_corpus(StoredCorpus(setup.corpus, needs, evaluator.members))
    return evaluator


def _work_on_batch(evaluator: Evaluator, batch: Batch, *, sends: bool) -> bool:
    """Score one batch; return whether the next may be claimed now.

    With `sends` False only stored replies are used.
    """
    items: dict[int, Item] = {}
    try:
        items = items_of(batch.summary_ids, evaluator.needs_for(evaluator.params), evaluator.members)
        if batch.attempts > MOST_ATTEMPTS:
            _give_up(evaluator, batch, items, "the worker stopped each time, perhaps out of memory")
            return True
        with keep_leased(partial(renew_claim, batch), f"batch {batch.pk}"):
            if sends:
                scored = score_items(with_stored_replies(evaluator, batch), items)
            else:
                scored = _from_store(evaluator, batch, items, NOT_ANSWERED)
            _record(batch, items, scored)
    except OutOfBudget as pause:
        pause_run(batch.run_id, str(pause), batch)
    except BudgetInUse as wait:
        logger.info("Batch %s waits: %s", batch.pk, wait)
        return_batch(batch, BUDGET_PAUSE_S)
        return False
    except EvaluatorError as error:
        _after_failure(evaluator, batch, items, error)
    except MemoryError:
        _after_failure(evaluator, batch, items, EvaluatorError("out of memory", permanent=False))
    except OperationalError:  # nothing of the batch is written
        logger.exception("Batch %s of run %s will be retried.", batch.pk, batch.run_id)
        postpone_batch(batch)
    except KeyboardInterrupt:
        return_batch(batch)
        raise
    except Exception as error:
        logger.exception("Run %s failed.", batch.run_id)
        fail_run(batch.run_id, unexpected_error_message(error), batch)
    return True


def score_items(evaluator: Evaluator, items: dict[int, Item]) -> dict[int, Scored]:
    """Score the items; results by summary id."""
    return dict(zip(items, score_unseen(evaluator, list(items.values())), strict=True))


def _after_failure(evaluator: Evaluator, batch: Batch, items: dict[int, Item], error: EvaluatorError) -> None:
    if error.permanent:
        fail_run(batch.run_id, str(error), batch)
    elif batch.attempts < MOST_ATTEMPTS:
        logger.warning("Batch %s, attempt %s: %s", batch.pk, batch.attempts, error)
        postpone_batch(batch)
    elif _hopeless(batch):
        fail_run(batch.run_id, f"{HOPELESS_BATCHES + 1} consecutive batches failed: {error}", batch)
    else:
        _give_up(evaluator, batch, items, str(error))


def _give_up(evaluator: Evaluator, batch: Batch, items: dict[int, Item], reason: str) -> None:
    """Finish the batch with the replies that are stored, and leave other summaries without a score.

    A recheck fails instead.
    """
    full_reason = f"{reason} ({min(batch.attempts, MOST_ATTEMPTS)} attempts)"
    if batch.repetition:  # a missing reply says nothing about the model
        fail_run(batch.run_id, full_reason, batch)
        return
    _record(batch, items, _from_store(evaluator, batch, items, full_reason))


def _from_store(evaluator: Evaluator, batch: Batch, items: dict[int, Item], reason: str) -> dict[int, Scored]:
    """Score from stored replies alone; a summary that lacks one gets `reason` instead."""
    scored = {pk: Scored.unscored(evaluator.dimensions, reason) for pk in items}
    from_store = with_stored_replies(evaluator, batch, sends=False)
    if from_store is not evaluator:
        for pk, item in items.items():
            with suppress(EvaluatorError):
                scored |= score_items(from_store, {pk: item})
    return scored


def _record(batch: Batch, items: dict[int, Item], scored: dict[int, Scored]) -> None:
    inputs = {pk: inputs_digest(item) for pk, item in items.items()}
    for _ in range(RECORDING_ATTEMPTS - 1):
        try:
            record_scores(batch, scored, inputs)
            return
        except OperationalError:  # the scores may have been paid for
            logger.warning("Retrying to store the scores of batch %s.", batch.pk, exc_info=True)
            time.sleep(RECORDING_PAUSE_S)
    record_scores(batch, scored, inputs)


def _hopeless(batch: Batch) -> bool:
    """Return whether the run's latest batches were all given up."""
    latest = Batch.objects.filter(run=batch.run_id, finished_at__isnull=False).order_by("-finished_at")
    attempts = list(latest.values_list("attempts", flat=True)[:HOPELESS_BATCHES])
    return len(attempts) == HOPELESS_BATCHES and min(attempts) >= MOST_ATTEMPTS


def unexpected_error_message(error: Exception) -> str:
    """Return a message with which people can find the error in the worker's log."""
    first_line = (str(error).splitlines() or [""])[0][:200]
    return f"Unexpected {type(error).__name__}: {first_line} (the worker's log has the details)"
