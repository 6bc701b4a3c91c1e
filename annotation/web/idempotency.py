"""Requests to create something that a client may repeat, because they carry an `Idempotency-Key`.

The first request claims the key. What it creates and its answer are stored in one transaction, so that either
both are there or neither is. A repeated one gets the stored answer. An answer may hold a token, so it is
encrypted with the client's key, of which only a digest is stored.
"""

import base64
import hashlib
import json
from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

from cryptography.fernet import Fernet
from django.db import IntegrityError, transaction
from django.http import QueryDict
from django.utils import timezone
from django.utils.crypto import salted_hmac
from drf_spectacular.utils import OpenApiParameter
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response

from annotation.errors import DomainError, KeyInUse, KeyReused
from annotation.models import IdempotencyKey
from annotation.web.api_pages import REFUSALS, refusals
from annotation.web.request_types import SignedInApiRequest

HEADER = "Idempotency-Key"
LONGEST_KEY = 100
KEPT = timedelta(hours=24)
LONGEST_REQUEST = timedelta(minutes=5)
"""After that a request without an answer is taken for dead, and another one may claim its key."""
IN_USE_S = 2
MOST_DELETED = 100
"""Expired keys that a new one takes away."""

KEY_PARAMETER = OpenApiParameter(
    HEADER,
    str,
    OpenApiParameter.HEADER,
    description=f"1 to {LONGEST_KEY} characters. Repeated within 24 hours, the request creates nothing anew.",
)
Prepared = TypeVar("Prepared")
CREATION_REFUSALS = {**REFUSALS, **refusals(409, 422, 429)}


def answer_once(request: SignedInApiRequest, create: Callable[[], Response]) -> Response:
    """Return what `create` answers, or its stored answer if the request is a repeated one.

    Raises DomainError for a malformed key, KeyReused if another request had it, KeyInUse while the first
    request is in progress, and as `create`, which leaves the key unused.
    """
    return answer_prepared_once(request, lambda: None, lambda _: create())


def answer_prepared_once(
    request: SignedInApiRequest, prepare: Callable[[], Prepared], create: Callable[[Prepared], Response]
) -> Response:
    """Return as `answer_once`. `prepare` writes nothing, and may take long outside the transaction."""
    key = request.headers.get(HEADER)
    if key is None:
        return create(prepare())
    if not (1 <= len(key) <= LONGEST_KEY and key.isascii() and key.isprintable()):
        raise DomainError(f"{HEADER}: expected 1 to {LONGEST_KEY} printable ASCII characters")
    claim = _claimed(request, key)
    if claim.status is not None:
        told = json.loads(_cipher(key).decrypt(claim.answer))
        return Response(told, claim.status, headers={"Idempotent-Replayed": "true"})
    mine = IdempotencyKey.objects.filter(pk=claim.pk, claimed_at=claim.claimed_at, status__isnull=True)
    try:
        prepared = prepare()
        with transaction.atomic():
            response = create(prepared)
            answer = _cipher(key).encrypt(JSONRenderer().render(response.data)).decode()
            if not mine.update(status=response.status_code, answer=answer):
                raise KeyInUse(IN_USE_S)
    except BaseException:
        mine.delete()
        raise
    return response


def _claimed(request: SignedInApiRequest, key: str) -> IdempotencyKey:
    """Return the key's row, which has the answer of an equal request, or is this request's from now on."""
    now = timezone.now()
    digest = _digest_of(request)
    ended = IdempotencyKey.objects.filter(claimed_at__lt=now - KEPT)
    IdempotencyKey.objects.filter(pk__in=list(ended.values_list("pk", flat=True)[:MOST_DELETED])).delete()
    try:
        kept, is_mine = IdempotencyKey.objects.get_or_create(
            user=request.user,
            key_digest=salted_hmac("annotation.web.idempotency", key, algorithm="sha256").hexdigest(),
            defaults={"request_digest": digest, "claimed_at": now},
        )
    except IntegrityError as error:  # the first request was refused meanwhile, and gave the key back
        raise KeyInUse(IN_USE_S) from error
    if is_mine:
        return kept
    has_expired = kept.claimed_at < now - KEPT
    if kept.request_digest != digest and not has_expired:
        raise KeyReused
    if kept.status is not None and not has_expired:
        return kept
    unchanged = IdempotencyKey.objects.filter(pk=kept.pk, claimed_at=kept.claimed_at, status=kept.status)
    is_dead = kept.claimed_at < now - LONGEST_REQUEST
    if not is_dead or not unchanged.update(request_digest=digest, claimed_at=now, status=None, answer=""):
        raise KeyInUse(IN_USE_S)
    return IdempotencyKey.objects.get(pk=kept.pk)


def _digest_of(request: SignedInApiRequest) -> str:
    """Return a digest of the method, the address and what was sent; files are read in portions."""
    sent = request.data
    fields = dict(request.POST.lists()) if isinstance(sent, QueryDict) else sent
    digest = hashlib.sha256(_json([request.method, request.get_full_path(), fields]))
    for name, files in sorted(request.FILES.lists()):
        for file in files:
            digest.update(_json([name, file.name, file.size]))
            for chunk in file.chunks():
                digest.update(chunk)
            file.seek(0)
    return digest.hexdigest()


def _json(content: object) -> bytes:
    return json.dumps(content, sort_keys=True).encode()


def _cipher(key: str) -> Fernet:
    """Return what encrypts and decrypts an answer, which takes the server's secret and the client's key."""
    secret = salted_hmac("annotation.web.idempotency.answer", key, algorithm="sha256").digest()
    return Fernet(base64.urlsafe_b64encode(secret))
