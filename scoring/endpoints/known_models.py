"""A project's models: their rows, and what they are known to be capable of."""

import logging
from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta

from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.text import capfirst

from annotation.database.wake_ups import send_task
from annotation.errors import DomainError
from annotation.permissions import Permission, require
from scoring.contract.evaluator import Evaluator, EvaluatorError
from scoring.contract.params import read_params
from scoring.contract.requests import Address
from scoring.endpoints.keys import key_for
from scoring.endpoints.offered_addresses import refusal_of, within_reach
from scoring.errors import InvalidRun
from scoring.evaluators import load_evaluator
from scoring.evaluators.bases.asking_evaluator import AskingEvaluator
from scoring.inputs.items import items_of
from scoring.llm.addresses import same_address
from scoring.llm.capabilities import Abilities, find_abilities, unable
from scoring.models import Endpoint, EndpointModel, SetupBase

KEY_VARIABLE = "OPENAI_API_KEY"
"""Environment variable with the key for a check, if the project has none."""
CHECK_TIMEOUT_S = 60.0
"""Seconds that one request of a check may take."""
PATIENCE_S = 120.0
"""Seconds that a check waits for a worker before it is dropped."""
NO_BATCHES = "a test found no batch API at this endpoint; send at once instead"
TRIED = 5
"""Summaries whose requests show which capabilities a run needs."""

logger = logging.getLogger(__name__)


def address_of(setup: SetupBase) -> Address | None:
    """Return the endpoint and model of the setup's runs; None if they use no endpoint.

    Raises UnknownEvaluator and ValueError if this version cannot build the evaluator.
    """
    return address_asked_by(unfitted(setup))


def unfitted(setup: SetupBase) -> Evaluator:
    """Return the setup's evaluator before it is fitted. Raises as `address_of`."""
    evaluator_class = load_evaluator(setup.evaluator)
    evaluator: Evaluator = evaluator_class(read_params(evaluator_class, setup.params))
    return evaluator


def address_asked_by(evaluator: Evaluator) -> Address | None:
    """Return the evaluator's endpoint and model; None if it uses none."""
    return evaluator.address if isinstance(evaluator, AskingEvaluator) else None


def refuse_unlisted(evaluator: Evaluator) -> None:
    """Raise InvalidRun if the evaluator uses an endpoint that the operator does not allow."""
    address = address_asked_by(evaluator)
    refusal = refusal_of(address.base_url) if address else None
    if refusal:
        raise InvalidRun(f"parameter 'base_url': {refusal}")


def known_model(project_id: int, address: Address) -> EndpointModel | None:
    """Return the project's row for the model at this address and API; None if there is none."""
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
    """Return the project's row for the model at this address and API, created if needed."""
    endpoint, _ = Endpoint.objects.get_or_create(
        project_id=project_id, base_url=same_address(address.base_url)
    )
    model, _ = EndpointModel.objects.select_related("endpoint").get_or_create(
        endpoint=endpoint, name=address.model, api=address.api
    )
    return model


def abilities_of(model: EndpointModel | None) -> Abilities | None:
    """Return the model's capabilities; None before the first check."""
    return Abilities.from_json(model.abilities) if model and model.abilities is not None else None


def abilities_found(model: EndpointModel, address: Address, key: str) -> Abilities:
    """Return the model's capabilities, checked now if unknown.

    Raises EvaluatorError if the endpoint does not answer.
    """
    known = abilities_of(model)
    if known is None:
        known = find_abilities(address, key)
        store_abilities(model, known)
    return known


def store_abilities(model: EndpointModel, abilities: Abilities) -> None:
    model.abilities, model.checked_at, model.check_failure = asdict(abilities), timezone.now(), ""
    model.save(update_fields=["abilities", "checked_at", "check_failure"])


def lacking(project_id: int, evaluator: Evaluator, summary_ids: Sequence[int]) -> str | None:
    """Return why the model cannot serve a run over these summaries, if that is known; else None."""
    if not isinstance(evaluator, AskingEvaluator) or evaluator.address is None:
        return None
    abilities = abilities_of(known_model(project_id, evaluator.address))
    if abilities is None:
        return None
    items = items_of(summary_ids[:TRIED], evaluator.needs_for(evaluator.params))
    requests = [request for item in items.values() for request in evaluator.requests(item)]
    return unable(abilities, requests, evaluator.address.model)


def no_batches(project_id: int, evaluator: Evaluator) -> str | None:
    """Return why a run's requests cannot use the batch API, if that is known; else None."""
    if not isinstance(evaluator, AskingEvaluator) or evaluator.address is None:
        return "this evaluator uses no endpoint; send at once instead"
    abilities = abilities_of(known_model(project_id, evaluator.address))
    return NO_BATCHES if abilities and abilities.batches is False else None


def request_check(model: EndpointModel, user: User) -> None:
    """Have a worker check the model's capabilities. Raises DomainError if the operator forbids it."""
    require(user, model.endpoint.project, Permission.MANAGE_PROJECT)
    refusal = refusal_of(model.endpoint.base_url)
    if refusal:
        raise DomainError(capfirst(refusal))
    model.check_asked_at, model.check_failure = timezone.now(), ""
    model.save(update_fields=["check_asked_at", "check_failure"])
    send_task("check_endpoint_model", model.pk, "llm", PATIENCE_S)


def check_state(model: EndpointModel) -> str:
    """Return "unasked", "checking", "overdue" (no worker answered), "failed" or "known"."""
    asked, checked = model.check_asked_at, model.checked_at
    if asked is not None and (checked is None or checked < asked):
        return "overdue" if timezone.now() - asked > timedelta(seconds=PATIENCE_S) else "checking"
    if model.check_failure:
        return "failed"
    return "unasked" if model.abilities is None else "known"


def check(model_id: int) -> None:
    """Check the model's capabilities on a worker and store them, or why the check failed."""
    model = EndpointModel.objects.select_related("endpoint").filter(pk=model_id).first()
    if model is None:
        return
    address = within_reach(
        Address(model.endpoint.base_url, model.name, model.api, KEY_VARIABLE, CHECK_TIMEOUT_S)
    )
    try:
        store_abilities(model, find_abilities(address, key_for(model.endpoint.project_id, address)))
        return
    except EvaluatorError as error:
        model.check_failure = str(error)
    except Exception as error:
        logger.exception("The check of %s failed.", model)
        model.check_failure = f"Unexpected {type(error).__name__} (the worker's log has the details)"
    model.checked_at = timezone.now()
    model.save(update_fields=["checked_at", "check_failure"])
