"""A worker's steps in trying the files of a registered model and installing it. Safe under kill -9."""

import logging

from django.db import OperationalError
from django.utils import timezone

from scoring.contract.evaluator import EvaluatorError
from scoring.errors import InvalidTraining
from scoring.models import RegisteredModel
from scoring.runs.worker import unexpected_error_message
from scoring.training.registering import install_registered
from scoring.weights.model_card import as_card
from scoring.weights.trained_models import remove
from scoring.workers.lease_keeper import keep_leased

MOST_ATTEMPTS = 3
"""Leases before a registration fails, since what killed each worker would kill the next one, too."""
RETRY_S = 30.0
"""Seconds until a registration is tried again whose database failed."""

logger = logging.getLogger(__name__)


def work_on_registration(registration_id: int) -> None:
    """Claim a registration, try the model, and install it. Do nothing if another worker has it."""
    found = _claimed(registration_id)
    if found is None:
        return
    try:
        with keep_leased(found.renew, f"registration {registration_id}"):
            failure = _install(found)
        status = RegisteredModel.Status.FAILED if failure else RegisteredModel.Status.DONE
        if not found.finish(status=status, failure=failure, card=found.card if failure else {}):
            logger.warning("Registration %s was deleted or is with another worker.", registration_id)
            if not RegisteredModel.objects.filter(name=found.name).exists():
                remove(found.name)  # a model without a row would be for all projects
    except OperationalError:
        logger.exception("Registration %s will be tried again.", registration_id)
        found.release(RETRY_S)


def _claimed(registration_id: int) -> RegisteredModel | None:
    """Return the registration, leased to this worker; None if it is not claimable or has failed too often."""
    now = timezone.now()
    waiting = RegisteredModel.objects.filter(pk=registration_id, status__in=RegisteredModel.UNFINISHED)
    waiting.claimable(now).filter(attempts__gte=MOST_ATTEMPTS).update(
        status=RegisteredModel.Status.FAILED,
        failure=f"Given up after {MOST_ATTEMPTS} attempts. Each time the worker was killed, perhaps because "
        "the model is too large for its memory.",
        token="",
        leased_until=None,
        finished_at=now,
    )
    return waiting.claim(now, status=RegisteredModel.Status.RUNNING)


def _install(found: RegisteredModel) -> str:
    """Try and install the model; return why that failed, or an empty text."""
    try:
        remove(found.name)  # installed by a worker that was killed before it said so
        install_registered(found.name, found.source, as_card(found.card))
    except OperationalError:
        raise
    except OSError as error:
        return f"The files cannot be read or written: {error}"
    except (InvalidTraining, EvaluatorError) as error:
        return str(error).removeprefix("source: ")
    except Exception as error:
        logger.exception("Registration %s failed.", found.pk)
        return unexpected_error_message(error)
    return ""
