"""The way of an evaluator's requests to its model: stored replies, budget, rate limits and key."""

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import NoReturn

from django.conf import settings
from django.utils.crypto import salted_hmac

from scoring.contract.evaluator import Evaluator, EvaluatorError
from scoring.contract.requests import Address, Request, Wanted
from scoring.endpoints.keys import key_for
from scoring.endpoints.known_models import NO_BATCHES, abilities_found, abilities_of, model_at
from scoring.endpoints.offered_addresses import within_reach
from scoring.endpoints.prices import price_of
from scoring.evaluators.bases.asking_evaluator import AskingEvaluator
from scoring.llm.batch_api import BatchFiles
from scoring.llm.client import HostedModel
from scoring.llm.rate_limits import Limits, Stores, in_folder, in_redis
from scoring.models import Batch, EndpointModel, Setup, StoredReply
from scoring.replies.stored_replies import StoredReplies


def with_stored_replies(evaluator: Evaluator, batch: Batch, *, sends: bool = True) -> Evaluator:
    """Return a copy of the evaluator that answers this batch's requests from stored replies first.

    With `sends` False nothing is sent, and a missing reply raises EvaluatorError. An evaluator without an
    endpoint is returned as it is.
    """
    if not isinstance(evaluator, AskingEvaluator) or (address := evaluator.address) is None:
        return evaluator
    project_id = Setup.objects.values_list("project", flat=True).get(pk=batch.run.setup_id)
    model = model_at(project_id, address)
    copied = copy(evaluator)  # other projects may share the cached one
    copied.asking = replace(
        store_for(evaluator, model, address, batch.run_id, batch.token),
        occasion=batch.occasion,
        sender=partial(sender_for, model, address) if sends else _nobody,
    )
    return copied


def store_for(
    evaluator: AskingEvaluator, model: EndpointModel, address: Address, run_id: int, holder: str
) -> StoredReplies:
    """Return the store of a run's replies, which sends nothing itself."""
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
    """Return the client of the model's batch API, with the project's key.

    Lines of a file cannot be retried in another form, so the model's capabilities are checked first. Raises
    EvaluatorError, permanent if there is no key or no batch API.
    """
    address = within_reach(address)
    key = key_for(model.endpoint.project_id, address)
    abilities = abilities_found(model, address, key)
    if abilities.batches is False:
        raise EvaluatorError(NO_BATCHES, permanent=True)
    return BatchFiles(address, key, abilities)


def sender_for(model: EndpointModel, address: Address, requests: Sequence[Request]) -> HostedModel:
    """Return the client of the model, with the project's key and rate limits.

    Capabilities that `requests` depend on are checked if unknown. Raises EvaluatorError, permanent if the
    model lacks one or there is no key.
    """
    endpoint, address = model.endpoint, within_reach(address)
    key = key_for(endpoint.project_id, address)
    limits = Limits(endpoint.requests_per_minute, endpoint.tokens_per_minute, _stores(key))
    abilities = abilities_of(model)
    if any(_needs_more_than_text(request) for request in requests):
        abilities = abilities_found(model, address, key)
    has_answered = StoredReply.objects.filter(asked=model, problem="").exists()
    return HostedModel(address, key, abilities, endpoint.most_in_flight, limits, has_answered=has_answered)


def _needs_more_than_text(request: Request) -> bool:
    return bool(request.wanted is not Wanted.TEXT or request.schema or request.sample or request.temperature)


def _nobody(requests: Sequence[Request]) -> NoReturn:
    raise EvaluatorError(f"{len(requests)} replies are not stored", permanent=True)


def _stores(key: str) -> Stores:
    """Return where workers share their counts of requests: one key, one set of limits."""
    holder = salted_hmac("rate limits", key).hexdigest()[:12]
    if settings.CELERY_BROKER_URL.startswith(("redis://", "rediss://")):
        stores = in_redis(settings.CELERY_BROKER_URL)
    else:
        stores = in_folder(settings.VAR_DIR)
    return lambda name: stores(f"{holder}:{name}")
