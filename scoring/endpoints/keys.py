"""Keys of endpoints, encrypted in the database or in the worker's environment; never shown again."""

from cryptography.fernet import InvalidToken
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.audit.actions import Action
from annotation.audit.log import record
from annotation.errors import DomainError
from annotation.permissions import Permission, require
from scoring.contract.evaluator import EvaluatorError
from scoring.contract.requests import Address
from scoring.endpoints.encryption import decrypt, encrypt
from scoring.llm.addresses import same_address
from scoring.llm.one_request import KEY, secret_of
from scoring.models import Endpoint

LONGEST_KEY = 2000  # characters
PURPOSE = "keys of endpoints"
_FIELDS = ["encrypted_key", "key_set_at"]


def set_key(endpoint: Endpoint, key: str, user: User) -> None:
    """Store the key, encrypted, without surrounding white space.

    Raises DomainError, without quoting the key, if a header cannot carry it, and as `require`.
    """
    require(user, endpoint.project, Permission.MANAGE_PROJECT)
    key = key.strip()
    if not KEY.fullmatch(key) or len(key) > LONGEST_KEY:
        raise DomainError(
            f"Found {len(key):,} characters, expected 1 to {LONGEST_KEY:,} ASCII letters, digits and signs "
            "without white space."
        )
    endpoint.encrypted_key = encrypt(key, PURPOSE)
    endpoint.key_set_at = timezone.now()
    with transaction.atomic():
        endpoint.save(update_fields=_FIELDS)
        record(Action.KEY_STORED, endpoint.project, endpoint.base_url)


def remove_key(endpoint: Endpoint, user: User) -> None:
    """Delete the key. From then on workers need one in their environment."""
    require(user, endpoint.project, Permission.MANAGE_PROJECT)
    endpoint.encrypted_key, endpoint.key_set_at = "", None
    with transaction.atomic():
        endpoint.save(update_fields=_FIELDS)
        record(Action.KEY_REMOVED, endpoint.project, endpoint.base_url)


def key_for(project_id: int, address: Address) -> str:
    """Return the project's key for this address, else the worker's own (see `secret_of`).

    Raises a permanent EvaluatorError, without the key, if there is none or it cannot be decrypted.
    """
    kept = Endpoint.objects.filter(project=project_id, base_url=same_address(address.base_url))
    endpoint = kept.exclude(encrypted_key="").first()
    if endpoint is not None:
        return _decrypted(endpoint)
    try:
        return secret_of(address, None)
    except EvaluatorError as error:
        raise EvaluatorError(f"{error}; the project has none for it either", permanent=True) from None


def _decrypted(endpoint: Endpoint) -> str:
    try:
        return decrypt(endpoint.encrypted_key, PURPOSE)
    except InvalidToken:
        raise EvaluatorError(
            f"the key stored for {endpoint.base_url} cannot be decrypted: it was encrypted with another "
            "ENDPOINT_KEYS_SECRET or SECRET_KEY. Enter it again on the project's endpoints page.",
            permanent=True,
        ) from None
