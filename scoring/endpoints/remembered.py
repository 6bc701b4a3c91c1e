"""What a project knows of the models that its judges ask: rows for them, and what they can do."""

import logging
from collections.abc import Iterable, Sequence
from datetime import timedelta

from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.text import capfirst

from annotation.errors import DomainError
from annotation.permissions import Permission, require
from scoring.asking.abilities import Abilities, find_abilities, unable
from scoring.asking.addresses import same_address
from scoring.asking.request import Address, Request, Wanted
from scoring.asking_evaluator import AskingEvaluator
from scoring.contract import Evaluator, EvaluatorError
from scoring.endpoints.keys import key_for
from scoring.endpoints.offered import refusal_of
from scoring.errors import InvalidRun
from scoring.evaluators import load_evaluator
from scoring.items import items_of
from scoring.models import Endpoint, EndpointModel, SetUp
from scoring.params import read_params
from scoring.waking import wake_for_check

KEY_VARIABLE = "OPENAI_API_KEY"
"""Environment variable with the key for a check, where the project keeps none."""
CHECK_TIMEOUT_S = 60.0
"""For each question of a check."""
PATIENCE_S = 120.0
"""Seconds a check waits for a worker; then it is dropped."""
NO_BATCHES = (
    "the endpoint takes no batches (it has no Batch API, as far as a check has found); what works is to send "
    "at once"
)
TRIED = 5
"""Summaries whose requests tell what a run wants of the model."""

logger = logging.getLogger(__name__)


def address_of(setup: SetUp) -> Address | None:
    """Where runs of the setup ask; None where they ask no endpoint.

    Raises UnknownEvaluator and ValueError where this version does not have it.
    """
    return address_asked_by(unfitted(setup))


def unfitted(setup: SetUp) -> Evaluator:
    """The setup's evaluator without what it has learnt. Raises as `address_of`."""
    evaluator_class = load_evaluator(setup.evaluator)
    evaluator: Evaluator = evaluator_class(read_params(evaluator_class, setup.params))
    return evaluator


def address_asked_by(evaluator: Evaluator) -> Address | None:
    """The endpoint that it asks; None for one that asks none."""
    return evaluator.address if isinstance(evaluator, AskingEvaluator) else None


def refuse_unlisted(evaluator: Evaluator) -> None:
    """Raises InvalidRun where it asks an endpoint that pages may not name (see `offered`)."""
    address = address_asked_by(evaluator)
    refusal = refusal_of(address.base_url) if address else None
    if refusal:
        raise InvalidRun(f"parameter 'base_url': {refusal}")


def known_model(project_id: int, address: Address) -> EndpointModel | None:
    """The project's row for the model at this address through this API; None where it has none yet."""
    return (
        EndpointModel.objects.select_related("endpoint")
        .filter(
            endpoint__project=project_id,
            endpoint__base_url=same_address(address.base_url),
            name=address.model,
            api=address.api,
        )
        .first()
    )


def model_at(project_id: int, address: Address) -> EndpointModel:
    """The project's row for the model at this address through this API, made if need be."""
    endpoint, _ = Endpoint.objects.get_or_create(
        project_id=project_id, base_url=same_address(address.base_url)
    )
    model, _ = EndpointModel.objects.select_related("endpoint").get_or_create(
        endpoint=endpoint, name=address.model, api=address.api
    )
    return model


def abilities_of(model: EndpointModel | None) -> Abilities | None:
    """What the model can do, as it was found; None as long as nobody has asked."""
    return Abilities.from_json(model.abilities) if model and model.abilities is not None else None


def abilities_for(
    model: EndpointModel, address: Address, key: str, requests: Iterable[Request]
) -> Abilities | None:
    """What the model can do; found out now, and remembered, if these requests want to know and nobody does.

    Raises EvaluatorError where the endpoint does not answer.
    """
    if any(map(_wants_to_know, requests)):
        return abilities_found(model, address, key)
    return abilities_of(model)


def abilities_found(model: EndpointModel, address: Address, key: str) -> Abilities:
    """What the model can do; found out now, and remembered, if nobody knows. Raises as `abilities_for`."""
    known = abilities_of(model)
    if known is None:
        known = find_abilities(address, key)
        remember(model, known)
    return known


def remember(model: EndpointModel, abilities: Abilities) -> None:
    model.abilities, model.checked_at, model.check_failure = abilities.as_json(), timezone.now(), ""
    model.save(update_fields=["abilities", "checked_at", "check_failure"])


def lacking(project_id: int, evaluator: Evaluator, summary_ids: Sequence[int]) -> str | None:
    """Why the model is known to be unable to serve a run over these summaries, in words; else None."""
    if not isinstance(evaluator, AskingEvaluator) or evaluator.address is None:
        return None
    abilities = abilities_of(known_model(project_id, evaluator.address))
    if abilities is None:
        return None
    items = items_of(summary_ids[:TRIED], evaluator.needs_for(evaluator.params))
    requests = [request for item in items.values() for request in evaluator.requests(item)]
    return unable(abilities, requests, evaluator.address.model)


def no_batches(project_id: int, evaluator: Evaluator) -> str | None:
    """Why a run's requests cannot be handed in as a batch, as far as is known; else None."""
    if not isinstance(evaluator, AskingEvaluator) or evaluator.address is None:
        return "this evaluator asks no endpoint, so there is nothing to send as a batch; send at once"
    abilities = abilities_of(known_model(project_id, evaluator.address))
    return NO_BATCHES if abilities and abilities.batches is False else None


def ask_for_check(model: EndpointModel, user: User) -> None:
    """Have a worker find out what the model can do. Raises DomainError for addresses not on offer."""
    require(user, model.endpoint.project, Permission.MANAGE_PROJECT)
    refusal = refusal_of(model.endpoint.base_url)
    if refusal:
        raise DomainError(capfirst(refusal))
    model.check_asked_at, model.check_failure = timezone.now(), ""
    model.save(update_fields=["check_asked_at", "check_failure"])
    wake_for_check(model, expires_s=PATIENCE_S)


def is_being_checked(model: EndpointModel) -> bool:
    """Whether somebody wants to know, nobody has found out since, and it is not overdue."""
    return _awaits_answer(model) and not is_overdue(model)


def is_overdue(model: EndpointModel) -> bool:
    """Whether no worker has answered in time."""
    asked = model.check_asked_at
    return (
        _awaits_answer(model) and asked is not None and timezone.now() - asked > timedelta(seconds=PATIENCE_S)
    )


def check(model_id: int) -> None:
    """On a worker: ask the model what it can do, and remember that or why it is not known."""
    model = EndpointModel.objects.select_related("endpoint").filter(pk=model_id).first()
    if model is None:
        return
    address = Address(model.endpoint.base_url, model.name, model.api, KEY_VARIABLE, CHECK_TIMEOUT_S)
    try:
        remember(model, find_abilities(address, key_for(model.endpoint.project_id, address)))
        return
    except EvaluatorError as error:
        model.check_failure = str(error)
    except Exception as error:
        logger.exception("The check of %s failed.", model)
        model.check_failure = f"Unexpected {type(error).__name__} (the worker's log has the details)"
    model.checked_at = timezone.now()
    model.save(update_fields=["checked_at", "check_failure"])


def _wants_to_know(request: Request) -> bool:
    """Whether how, or if at all, the request can be served depends on more than the plainest ability."""
    return bool(request.wanted is not Wanted.TEXT or request.schema or request.sample or request.temperature)


def _awaits_answer(model: EndpointModel) -> bool:
    asked, checked = model.check_asked_at, model.checked_at
    return asked is not None and (checked is None or checked < asked)
