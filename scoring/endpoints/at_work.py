"""What stands between an evaluator and its model on a worker: the store, the budget, the limits, the key."""

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, NoReturn

from django.conf import settings
from django.utils.crypto import salted_hmac

from scoring.asking.batch_files import BatchFiles
from scoring.asking.limits import Limits, Stores, in_folder, in_redis
from scoring.asking.request import Address, Request
from scoring.asking.sender import Sender
from scoring.asking_evaluator import AskingEvaluator
from scoring.contract import Evaluator, EvaluatorError
from scoring.endpoints.keys import key_for
from scoring.endpoints.prices import price_of
from scoring.endpoints.remembered import NO_BATCHES, abilities_for, abilities_found, model_at
from scoring.endpoints.stored_replies import StoredReplies
from scoring.models import EndpointModel, EvaluatorSetup, StoredReply
from scoring.runs import Claim

if TYPE_CHECKING:
    from redis import Redis


def for_claim(evaluator: Evaluator, claim: Claim, *, sends: bool = True) -> Evaluator:
    """A copy of the evaluator whose requests go through the store, to serve this claim.

    With `sends` False nothing is sent, and an EvaluatorError raised where a reply is not stored. An evaluator
    that asks no endpoint is given back as it is.
    """
    if not isinstance(evaluator, AskingEvaluator) or (address := evaluator.address) is None:
        return evaluator
    project_id = EvaluatorSetup.objects.values_list("project", flat=True).get(pk=claim.setup_id)
    model = model_at(project_id, address)
    copied = copy(evaluator)  # claims of other projects may be worked on with the same one
    copied.asking = replace(
        store_for(evaluator, model, address, claim.run_id, claim.token),
        sender=partial(sender_for, model, address) if sends else _nobody,
    )
    return copied


def store_for(
    evaluator: AskingEvaluator, model: EndpointModel, address: Address, run_id: int, holder: str
) -> StoredReplies:
    """Where a run's replies are kept, with nobody to be asked for others."""
    return StoredReplies(
        model=model,
        address=address,
        run_id=run_id,
        holder=holder,
        sender=_nobody,
        price=price_of(model),
        count=evaluator.tokens_at_most,
    )


def files_for(model: EndpointModel, address: Address) -> BatchFiles:
    """The model's batches, by the project's key.

    A line of a file is not asked again in another manner, so what the model can do is found out first. Raises
    EvaluatorError, permanent where there is no key or the endpoint has no batches.
    """
    key = key_for(model.endpoint.project_id, address)
    abilities = abilities_found(model, address, key)
    if abilities.batches is False:
        raise EvaluatorError(NO_BATCHES, permanent=True)
    return BatchFiles(address, key, abilities)


def sender_for(model: EndpointModel, address: Address, requests: Sequence[Request]) -> Sender:
    """The model itself, asked with the project's key and within its limits.

    What `requests` need of the model is found out if need be. Raises EvaluatorError, permanent where the
    model cannot do it or there is no key.
    """
    endpoint = model.endpoint
    key = key_for(endpoint.project_id, address)
    limits = Limits(endpoint.requests_per_minute, endpoint.tokens_per_minute, _stores(key))
    abilities = abilities_for(model, address, key, requests)
    has_answered = StoredReply.objects.filter(asked=model, problem="").exists()
    return Sender(address, key, abilities, endpoint.most_in_flight, limits, has_answered=has_answered)


def _nobody(requests: Sequence[Request]) -> NoReturn:
    raise EvaluatorError(f"{len(requests)} replies are not stored", permanent=True)


def _stores(key: str) -> Stores:
    """Where workers count requests together: who asks by the same key has the same limits."""
    holder = salted_hmac("rate limits", key).hexdigest()[:12]
    if settings.CELERY_BROKER_URL.startswith(("redis://", "rediss://")):
        stores = in_redis(_redis(settings.CELERY_BROKER_URL))
    else:
        stores = in_folder(settings.VAR_DIR)
    return lambda name: stores(f"{holder}:{name}")


@cache
def _redis(url: str) -> "Redis":
    from redis import Redis

    return Redis.from_url(url)
