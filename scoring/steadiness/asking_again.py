"""What a worker does when a model is to be asked again: ask, keep, and say whether it has changed.

Each reply is kept with the lot that it came in, so that a killed worker costs one lot and nothing else.
"""

import logging
import uuid
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta

from django.conf import settings
from django.db import OperationalError, transaction
from django.db.models import F
from django.utils import timezone

from scoring.asking.request import Reply, Request
from scoring.asking_evaluator import AskingEvaluator
from scoring.contract import EvaluatorError, Item, Scored
from scoring.endpoints.at_work import sender_for
from scoring.endpoints.budgets import OutOfBudget
from scoring.endpoints.remembered import model_at
from scoring.errors import InvalidRun
from scoring.items import inputs_digest, items_of
from scoring.models import ReaskedReply, Reasking, Score, StoredReply
from scoring.steadiness.comparison import LEVEL, p_unchanged
from scoring.steadiness.purse import Purse, purse_of
from scoring.steadiness.reading import replies_of
from scoring.steadiness.starting import asking_evaluator

LOT = 10
"""Summaries asked at a time, each as often as it is to be asked."""
MOST_ATTEMPTS = 5
PAUSE = timedelta(seconds=30)
"""After a failure that may pass; longer each time."""
LEASES = 5
"""A claim lasts as long as so many claims of a batch: a lot waits for slow endpoints in it."""

logger = logging.getLogger(__name__)


def work_on_reasking(reasking_id: int) -> None:
    """Claim it, ask lot by lot what has not been answered yet, and end it."""
    token = str(uuid.uuid4())
    now = timezone.now()
    claimed = (
        Reasking.objects.claimable(now)
        .filter(pk=reasking_id)
        .update(claimed_by=token, claimed_until=_lease_end(now), attempts=F("attempts") + 1)
    )
    if not claimed:
        return
    reasking = Reasking.objects.select_related("setup__project").get(pk=reasking_id)
    if reasking.attempts > MOST_ATTEMPTS:
        _end(reasking, token, "the worker stopped each time, perhaps short of memory")
        return
    try:
        _ask_all(reasking, asking_evaluator(reasking.setup), token)
    except (InvalidRun, OutOfBudget) as error:
        _end(reasking, token, str(error))
    except EvaluatorError as error:
        if error.permanent or reasking.attempts >= MOST_ATTEMPTS:
            _end(reasking, token, str(error))
        else:
            logger.warning("Reasking %s, attempt %s: %s", reasking.pk, reasking.attempts, error)
            _postpone(reasking, token)
    except OperationalError:  # the database was busy or away; what was kept before stays
        logger.exception("Reasking %s will be tried again.", reasking_id)
        _postpone(reasking, token)
    except Exception as error:
        logger.exception("Reasking %s failed.", reasking_id)
        _end(reasking, token, f"Unexpected {type(error).__name__} (the worker's log has the details)")


def _ask_all(reasking: Reasking, evaluator: AskingEvaluator, token: str) -> None:
    purse = purse_of(reasking, evaluator)
    answered = set(reasking.replies.filter(repeat__gt=0).values_list("summary", flat=True))
    waiting = [pk for pk in reasking.summary_ids if pk not in answered]
    while waiting:
        lot, waiting = waiting[:LOT], waiting[LOT:]
        items = items_of(lot, evaluator.needs_for(evaluator.params))
        first = _first_replies(reasking, evaluator, items)
        if reasking.kind == Reasking.Kind.DRIFT:  # a text that has changed since has another reply anyway
            items = {pk: item for pk, item in items.items() if pk in first}
        requests = {pk: evaluator.requests(item) for pk, item in items.items()}
        postponed = purse.too_dear({pk: each * reasking.repeats for pk, each in requests.items()})
        waiting = postponed + waiting
        items = {pk: item for pk, item in items.items() if pk not in postponed}
        if not _ask(reasking, purse, items, first, token):
            return
    _end(reasking, token)


def _ask(
    reasking: Reasking,
    purse: Purse,
    items: Mapping[int, Item],
    first: Mapping[int, list[ReaskedReply]],
    token: str,
) -> bool:
    """One lot: asked and kept; False if another worker has taken over."""
    evaluator = purse.evaluator
    asked = [
        (pk, repeat, [replace(each, occasion=f"reasking {reasking.pk}, {repeat}") for each in requests])
        for pk, item in items.items()
        if (requests := evaluator.requests(item))
        for repeat in range(1, reasking.repeats + 1)
    ]
    sent = [request for _, _, requests in asked for request in requests]
    held = Reasking.objects.filter(pk=reasking.pk, claimed_by=token, ended_at=None)
    if not held.update(claimed_until=_lease_end(timezone.now()), **purse.opened_for(sent)):
        return False
    replies: dict[int, Reply] = {}
    try:
        _collect(reasking, evaluator, sent, replies)
    except EvaluatorError:  # nothing is under way any more
        held.update(**purse.closed_after(sent, replies))
        raise
    came = iter(replies[place] for place in range(len(sent)))
    rows: list[ReaskedReply] = []
    for pk, repeat, requests in asked:
        own = [next(came) for _ in requests]
        rows += _rows(reasking, pk, repeat, evaluator.read(items[pk], own), own[0].model)
    if reasking.kind == Reasking.Kind.DRIFT:
        rows += [row for pk in items for row in first[pk]]
    with transaction.atomic():
        if not held.update(claimed_until=_lease_end(timezone.now()), **purse.closed_after(sent, replies)):
            return False
        ReaskedReply.objects.bulk_create(rows)
    return True


def _collect(
    reasking: Reasking, evaluator: AskingEvaluator, sent: Sequence[Request], replies: dict[int, Reply]
) -> None:
    """Puts a reply for each place of `sent` into `replies`. Raises EvaluatorError when some cannot be had."""
    if not sent:
        return
    if (address := evaluator.address) is None:
        replies.update(enumerate(evaluator.model_itself().replies(sent)))
        return
    sender = sender_for(model_at(reasking.setup.project_id, address), address, sent)
    with closing(sender.arrivals(sent)) as arrivals:
        for came in arrivals:
            replies.update(came)


def _first_replies(
    reasking: Reasking, evaluator: AskingEvaluator, items: Mapping[int, Item]
) -> dict[int, list[ReaskedReply]]:
    """Summary -> what its run got of it, from the texts of today."""
    names = _first_models(reasking, evaluator, items)
    found: dict[int, list[ReaskedReply]] = {}
    for score in Score.objects.filter(setup=reasking.setup, summary__in=items).order_by("dimension"):
        if score.inputs == inputs_digest(items[score.summary_id]):
            row = ReaskedReply(
                reasking=reasking,
                summary_id=score.summary_id,
                dimension=score.dimension,
                repeat=0,
                value=score.value,
                reason=score.reason,
                text=score.explanation,
                model=names.get(score.summary_id, ""),
            )
            found.setdefault(score.summary_id, []).append(row)
    return found


def _first_models(
    reasking: Reasking, evaluator: AskingEvaluator, items: Mapping[int, Item]
) -> dict[int, str]:
    """Summary -> the name that the endpoint told when it was first asked, where its reply is stored."""
    if evaluator.address is None:
        return {}
    digests = {
        request.digest(evaluator.address): pk
        for pk, item in items.items()
        for request in evaluator.requests(item)
    }
    stored = StoredReply.objects.filter(project=reasking.setup.project, request__in=digests)
    return {digests[request]: model for request, model in stored.values_list("request", "model")}


def _rows(reasking: Reasking, summary_id: int, repeat: int, scored: Scored, model: str) -> list[ReaskedReply]:
    return [
        ReaskedReply(
            reasking=reasking,
            summary_id=summary_id,
            dimension=dimension,
            repeat=repeat,
            value=None if dimension in scored.reasons else value,
            reason=scored.reasons.get(dimension, ""),
            text=scored.explanations.get(dimension, "").replace("\0", ""),
            model=model[:200],
        )
        for dimension, value in scored.values.items()
    ]


def _end(reasking: Reasking, token: str, failure: str = "") -> None:
    has_changed = None
    if not failure and reasking.kind == Reasking.Kind.DRIFT:
        found = list(replies_of(reasking).values())
        if not any(found):
            failure = "None of the summaries can be compared: their texts have changed since, or are gone."
        else:
            has_changed = p_unchanged(found, seed=reasking.pk) < LEVEL
    Reasking.objects.filter(pk=reasking.pk, claimed_by=token, ended_at=None).update(
        ended_at=timezone.now(), failure=failure, has_changed=has_changed
    )


def _postpone(reasking: Reasking, token: str) -> None:
    """Let the claim run out soon: then the sweep wakes a worker again."""
    until = timezone.now() + PAUSE * reasking.attempts
    Reasking.objects.filter(pk=reasking.pk, claimed_by=token).update(claimed_until=until)


def _lease_end(now: datetime) -> datetime:
    return now + timedelta(seconds=LEASES * settings.CLAIM_LEASE_S)
