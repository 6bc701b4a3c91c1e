"""What a worker does with a hand-in: collect, hand in, look, and take in what was answered.

Nothing is paid twice, whenever a worker is killed: the file with the requests is uploaded, which costs
nothing, and its name recorded; only then is a batch started over it, and who finds a recorded file without a
batch looks for one at the endpoint first. What is left is a worker that stands still, for longer than its
claim lasts, just before it starts the batch: then another may have started it already.
"""

import logging
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from functools import partial

from django.db import OperationalError, transaction
from django.utils import timezone

from scoring.asking.abilities import unable
from scoring.asking.batch_files import BatchFiles, BatchLook, BatchReplies, BatchState, UnknownBatch
from scoring.asking.request import Request, Usage
from scoring.asking_evaluator import AskingEvaluator
from scoring.contract import EvaluatorError
from scoring.delivery.collecting import lots_of, requests_in
from scoring.delivery.hand_ins import (
    HandInClaim,
    add_lots,
    claim_hand_in,
    go_on,
    keep_money,
    money_of,
    put_back,
    renew_hand_in,
)
from scoring.endpoints.at_work import files_for, store_for
from scoring.endpoints.budgets import BudgetInUse, OutOfBudget, refuse_unpriced, release, reserve
from scoring.endpoints.prices import most_used
from scoring.endpoints.remembered import NO_BATCHES, model_at
from scoring.endpoints.stored_replies import StoredReplies, stored
from scoring.items import CHUNK
from scoring.models import HandIn, Run, StoredReply
from scoring.renewing import renewed
from scoring.runs import fail_run, locked_run, pause_run
from scoring.waking import wake
from scoring.working import evaluator_of, unexpected

MOST_ATTEMPTS = 8
"""To hand something in, before the run fails."""
SHORTEST_PAUSE_S, LONGEST_PAUSE_S = 5.0, 600.0
PAUSE_SHARE = 0.1
"""Of the time since it was handed in, until the next look."""
PATIENCE = timedelta(days=3)
"""After which nothing is expected any more; endpoints promise a day."""
SHOWN_REASONS, LONGEST_REASON = 5, 200
NO_WORD = "the endpoint does not say why"

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Work:
    """One hand-in, claimed, with all that it takes."""

    claim: HandInClaim
    hand_in: HandIn
    evaluator: AskingEvaluator
    files: BatchFiles
    store: StoredReplies

    @property
    def run(self) -> Run:
        return self.hand_in.run


def work_on_hand_in(hand_in_id: int) -> None:
    """Do what is next for it, if no other worker is at it."""
    claim = claim_hand_in(hand_in_id)
    if claim is None:
        return
    hand_in = HandIn.objects.select_related("run__setup__project").get(pk=hand_in_id)
    run = hand_in.run
    if not hand_in.input_file and not run.is_unfinished:
        if run.status == Run.Status.CANCELLED:
            _end(claim, hand_in, HandIn.State.CANCELLED)
        else:
            put_back(claim, 0)
        return
    try:
        with renewed(partial(renew_hand_in, claim), str(hand_in)):
            _work_on(_work(claim, hand_in))
    except OutOfBudget as pause:
        put_back(claim, 0)
        pause_run(run.pk, str(pause))
    except BudgetInUse as wait:
        put_back(claim, LONGEST_PAUSE_S, failure=str(wait))
    except EvaluatorError as error:
        _after_failure(claim, hand_in, error)
    except (OperationalError, MemoryError) as error:
        logger.exception("%s will be tried again.", hand_in)
        _after_failure(claim, hand_in, EvaluatorError(unexpected(error), permanent=False))
    except Exception as error:
        logger.exception("%s failed.", hand_in)
        _after_failure(claim, hand_in, EvaluatorError(unexpected(error), permanent=True))


def _work(claim: HandInClaim, hand_in: HandIn) -> _Work:
    setup = hand_in.run.setup
    evaluator = evaluator_of(setup)
    if not isinstance(evaluator, AskingEvaluator) or (address := evaluator.address) is None:
        raise EvaluatorError(NO_BATCHES, permanent=True)
    model = model_at(setup.project_id, address)
    files = files_for(model, address)
    store = store_for(evaluator, model, address, hand_in.run_id, money_of(hand_in))
    return _Work(claim, hand_in, evaluator, files, store)


def _work_on(work: _Work) -> None:
    if work.hand_in.state == HandIn.State.UNDER_WAY:
        _look(work)
        return
    Run.objects.filter(pk=work.run.pk, status=Run.Status.QUEUED).update(
        status=Run.Status.RUNNING, started_at=timezone.now()
    )
    if work.hand_in.number is None and not _collect(work):
        return
    if work.hand_in.input_file:
        _start_once(work)
    elif _upload(work):
        _start(work)


def _collect(work: _Work) -> bool:
    """Whether there is something to hand in; more than one lot becomes as many hand-ins."""
    hand_in = work.hand_in
    lots = [(lot.summary_ids, lot.digests) for lot in lots_of(work.run, work.evaluator, work.files)]
    with transaction.atomic():
        run = locked_run(hand_in.run_id)
        if run is None or not work.claim.held.exists():
            return False
        if not lots:
            hand_in.delete()
            wake(run)
            return False
        hand_in.summary_ids, hand_in.requests = lots[0]
        hand_in.number = len(hand_in.requests)
        hand_in.save(update_fields=["summary_ids", "requests", "number"])
        add_lots(run, hand_in.round, lots[1:])
    return True


def _upload(work: _Work) -> bool:
    """Set the money aside and upload the file; False where nothing is to be asked any more."""
    hand_in = work.hand_in
    asked = requests_in(hand_in, work.evaluator, work.files)
    there = stored(work.run.setup.project_id, asked, work.run.pk)
    asked = {digest: request for digest, request in asked.items() if digest not in there}
    if not asked:
        _end(work.claim, hand_in, HandIn.State.DONE, number=0)
        return False
    address = work.files.address
    if work.files.abilities and (words := unable(work.files.abilities, asked.values(), address.model)):
        raise EvaluatorError(words, permanent=True)
    _set_aside(work, asked)
    try:
        file = work.files.upload(asked)
    except EvaluatorError:
        release(work.run.pk, money_of(hand_in))
        raise
    hand_in.input_file, hand_in.requests, hand_in.number = file, list(asked), len(asked)
    return bool(work.claim.held.update(input_file=file, requests=hand_in.requests, number=hand_in.number))


def _set_aside(work: _Work, asked: Mapping[str, Request]) -> None:
    """The most that all of them can cost, at the full price: the table of prices has none for batches."""
    holder = money_of(work.hand_in)
    release(work.run.pk, holder)  # of an attempt that uploaded nothing
    if (price := work.store.price) is None:
        refuse_unpriced(work.run.pk, work.files.address.model)
        return
    count = work.evaluator.tokens_at_most
    cost = sum((price.cost(most_used(request, count)) for request in asked.values()), Decimal(0))
    reserve(work.run.pk, holder, [cost], f"the {len(asked):,} requests that are to be handed in together")
    keep_money(work.hand_in, timezone.now() + PATIENCE)


def _start_once(work: _Work) -> None:
    """Of a file that was uploaded before: its batch, if one was started, else a new one."""
    if name := work.files.find(work.hand_in.input_file):
        _is_under_way(work, name)
    elif work.run.is_unfinished:
        _start(work)
    else:
        release(work.run.pk, money_of(work.hand_in))
        put_back(work.claim, 0, input_file="")


def _start(work: _Work) -> None:
    try:
        name = work.files.start(work.hand_in.input_file)
    except EvaluatorError as error:
        if error.permanent:  # the endpoint has said no
            release(work.run.pk, money_of(work.hand_in))
            work.claim.held.update(input_file="")
        raise
    _is_under_way(work, name)


def _is_under_way(work: _Work, name: str) -> None:
    put_back(
        work.claim,
        SHORTEST_PAUSE_S,
        state=HandIn.State.UNDER_WAY,
        remote_id=name,
        handed_in_at=timezone.now(),
        attempts=0,
        failure="",
    )


def _look(work: _Work) -> None:
    hand_in, now = work.hand_in, timezone.now()
    look = work.files.look(hand_in.remote_id)
    if look.state is not BatchState.UNDER_WAY:
        _take_in(work, look)
        return
    withdrawn_at = hand_in.withdrawn_at
    if work.run.status == Run.Status.CANCELLED and not withdrawn_at:
        _withdraw(work)
        withdrawn_at = now
    waited_s = (now - (withdrawn_at or hand_in.handed_in_at or now)).total_seconds()
    keep_money(hand_in, now + PATIENCE)
    put_back(
        work.claim,
        min(LONGEST_PAUSE_S, max(SHORTEST_PAUSE_S, waited_s * PAUSE_SHARE)),
        answered=look.answered,
        refused=look.refused,
        looked_at=now,
        withdrawn_at=withdrawn_at,
        attempts=0,
        failure="",
    )


def _withdraw(work: _Work) -> None:
    try:
        work.files.cancel(work.hand_in.remote_id)
    except EvaluatorError as error:
        if not error.permanent:
            raise
        logger.warning("%s cannot be taken back: %s", work.hand_in, error)  # it may just have ended


def _take_in(work: _Work, look: BatchLook) -> None:
    """Store what has come and count what it cost, a few replies at a time, and go on with the run."""
    hand_in = work.hand_in
    asked = requests_in(hand_in, work.evaluator, work.files)
    changed = {digest: Request("") for digest in hand_in.requests if digest not in asked}
    fetched = work.files.fetch(look, asked | changed)
    own = StoredReply.objects.filter(project=work.run.setup.project, run=work.run)
    came = [(digest, reply) for digest, reply in fetched.replies.items() if digest in asked]
    for start in range(0, len(came), CHUNK):
        lot = came[start : start + CHUNK]
        there = set(own.filter(request__in=[digest for digest, _ in lot]).values_list("request", flat=True))
        if new := [(asked[digest], reply) for digest, reply in lot if digest not in there]:
            work.store.keep(new)
    if lost := [
        fetched.replies[digest].usage or Usage(0, 0) for digest in changed if digest in fetched.replies
    ]:
        work.store.count_lost(
            Usage(sum(each.prompt_tokens for each in lost), sum(each.completion_tokens for each in lost))
        )
    failure = look.words or NO_WORD if look.state is BatchState.FAILED else ""
    _end(
        work.claim,
        hand_in,
        HandIn.State(look.state.value),
        failure=failure,
        run_fails=f"The endpoint did not take the batch: {failure}",
        answered=len(came),
        refused=len(hand_in.requests) - len(came),
        reasons=_reasons(hand_in, fetched, changed),
        looked_at=timezone.now(),
    )


def _reasons(hand_in: HandIn, fetched: BatchReplies, changed: Mapping[str, Request]) -> dict[str, int]:
    """Why requests have no reply that can be read -> how many, the most frequent."""
    counts = Counter(words[:LONGEST_REASON] for words in fetched.failures.values())
    counts["the summary's texts have changed since"] += len(changed.keys() & fetched.replies.keys())
    counts["the endpoint gave no answer"] += sum(
        digest not in fetched.replies and digest not in fetched.failures for digest in hand_in.requests
    )
    return {words: number for words, number in counts.most_common(SHOWN_REASONS) if number}


def _end(
    claim: HandInClaim,
    hand_in: HandIn,
    state: str,
    *,
    run_fails: str = "",
    is_lost: bool = False,
    **told: object,
) -> None:
    """Nothing more comes. A FAILED one fails the run with `run_fails`.

    `is_lost`: what is set aside stays so, since it may have been spent.
    """
    with transaction.atomic():
        run = locked_run(hand_in.run_id)
        ended = claim.held.update(
            state=state, ended_at=timezone.now(), claimed_by="", claimed_until=None, not_before=None, **told
        )
        if run is None or not ended:
            return
        if not is_lost:
            release(run.pk, money_of(hand_in))
        if state == HandIn.State.FAILED:
            fail_run(run.pk, run_fails)
        else:
            go_on(run, hand_in.round)


def _after_failure(claim: HandInClaim, hand_in: HandIn, error: EvaluatorError) -> None:
    """Try again later; give up what the endpoint knows nothing of, and what nobody can tell for too long."""
    logger.warning("%s, attempt %s: %s", hand_in, hand_in.attempts, error)
    overdue = hand_in.handed_in_at is not None and timezone.now() > hand_in.handed_in_at + PATIENCE
    if overdue or isinstance(error, UnknownBatch):
        words = str(error)
        _end(claim, hand_in, HandIn.State.FAILED, run_fails=words, is_lost=True, failure=words)
        return
    pause_s = LONGEST_PAUSE_S
    if not error.permanent:
        pause_s = min(pause_s, SHORTEST_PAUSE_S * 2 ** min(hand_in.attempts - 1, 10))
    put_back(claim, pause_s, failure=str(error))
    is_handed_in = hand_in.state == HandIn.State.UNDER_WAY
    if error.permanent or (not is_handed_in and hand_in.attempts >= MOST_ATTEMPTS):
        fail_run(hand_in.run_id, str(error))
