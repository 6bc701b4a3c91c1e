"""Single sign-on with OpenID Connect: whose account a person at the provider has.

mozilla-django-oidc speaks the protocol: code flow, PKCE, state, nonce and signatures. This module
adds what it leaves out: discovery, the checks of issuer, audience and expiry, and accounts by the provider's
identifier. E-mail addresses never select an account, since neither side proves them.
"""

import re
import time
from functools import lru_cache
from typing import Any

import requests
from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User
from django.core.exceptions import SuspiciousOperation, ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.http import HttpRequest
from django.utils.translation import gettext
from mozilla_django_oidc.auth import OIDCAuthenticationBackend
from mozilla_django_oidc.utils import import_from_settings

from annotation.audit.actions import Action
from annotation.audit.log import acting_as, record
from annotation.errors import NotAllowed
from annotation.models import SignOnIdentity

TIMEOUT_S = 10
CLOCK_LEEWAY_S = 60
LONGEST_USERNAME = 100
DISCOVERED = {
    "OIDC_OP_AUTHORIZATION_ENDPOINT": "authorization_endpoint",
    "OIDC_OP_TOKEN_ENDPOINT": "token_endpoint",
    "OIDC_OP_USER_ENDPOINT": "userinfo_endpoint",
    "OIDC_OP_JWKS_ENDPOINT": "jwks_uri",
}
"""Settings of the library that the provider announces."""


def is_configured() -> bool:
    return bool(settings.OIDC_ISSUER)


@lru_cache(maxsize=8)
def discover(issuer: str) -> dict[str, Any]:
    """Return what the provider announces. Raises OSError or ValueError, and asks again the next time."""
    response = requests.get(f"{issuer.rstrip('/')}/.well-known/openid-configuration", timeout=TIMEOUT_S)
    response.raise_for_status()
    found: dict[str, Any] = response.json()
    if found.get("issuer") != issuer:
        raise ValueError(f"OIDC_ISSUER is {issuer}, but the provider calls itself {found.get('issuer')}.")
    return found


class Discovered:
    """Answers the library's questions for settings by discovery where the provider knows best."""

    @staticmethod
    def get_settings(attr: str, *args: Any) -> Any:
        if attr in DISCOVERED:
            return discover(settings.OIDC_ISSUER)[DISCOVERED[attr]]
        if attr == "OIDC_TOKEN_USE_BASIC_AUTH":
            methods = discover(settings.OIDC_ISSUER).get("token_endpoint_auth_methods_supported", [])
            return "client_secret_post" not in methods
        return import_from_settings(attr, *args)


class SingleSignOnBackend(Discovered, OIDCAuthenticationBackend):
    def __init__(self) -> None:
        """Ask nothing: Django makes a backend for every request and every sign-in with a password."""

    def authenticate(
        self, request: HttpRequest | None, nonce: str = "", code_verifier: str = ""
    ) -> User | None:
        """Return the account of whoever comes back from the provider.

        Raises SuspiciousOperation, OSError or ValueError if the provider's answer is not what it should be.
        """
        if not nonce or not code_verifier:
            return None
        super().__init__()
        found: User | None = super().authenticate(request, nonce=nonce, code_verifier=code_verifier)
        return found if found is not None and found.is_active else None

    def get_user(self, user_id: int) -> User | None:
        user = ModelBackend.get_user(self, user_id)
        return user if isinstance(user, User) else None

    def verify_token(self, token: str, **kwargs: Any) -> dict[str, Any]:
        """Return the claims of an ID token that the provider made for us, and not long ago."""
        claims: dict[str, Any] = super().verify_token(token, **kwargs)
        audience = claims.get("aud")
        audiences = audience if isinstance(audience, list) else [audience]
        if claims.get("iss") != settings.OIDC_ISSUER:
            raise SuspiciousOperation(f"The ID token is from {claims.get('iss')}.")
        if settings.OIDC_RP_CLIENT_ID not in audiences or (
            len(audiences) > 1 and claims.get("azp") != settings.OIDC_RP_CLIENT_ID
        ):
            raise SuspiciousOperation(f"The ID token is for {audience}.")
        if not isinstance(claims.get("exp"), (int, float)) or claims["exp"] < time.time() - CLOCK_LEEWAY_S:
            raise SuspiciousOperation("The ID token has expired.")
        if not claims.get("sub"):
            raise SuspiciousOperation("The ID token names nobody.")
        return claims

    def get_or_create_user(self, access_token: str, id_token: str, payload: dict[str, Any]) -> User:
        """Return the account of this identity.

        A new identity gets the account of whoever is signed in, or else a new account without any project.
        Raises NotAllowed if somebody is signed in to another account than the identity's.
        """
        known = SignOnIdentity.objects.filter(issuer=payload["iss"], subject=payload["sub"])
        identity = known.select_related("user").first()
        here = User.objects.get(pk=self.request.user.pk) if self.request.user.is_authenticated else None
        if identity is not None:
            if here is not None and here != identity.user:
                message = gettext("This identity belongs to another account than %(name)s. Sign out first.")
                raise NotAllowed(message % {"name": here.get_username()})
            return identity.user
        claims = payload if here else self._described(access_token, id_token, payload)
        with transaction.atomic():
            user = here or _new_user(claims)
            SignOnIdentity.objects.create(user=user, issuer=payload["iss"], subject=payload["sub"])
            with acting_as(lambda: user):
                record(Action.SIGN_ON_CONNECTED, None, user.get_username())
        return user

    def _described(self, access_token: str, id_token: str, payload: dict[str, Any]) -> dict[str, Any]:
        """Return what the provider says of the person. Raises SuspiciousOperation if it is somebody else."""
        claims: dict[str, Any] = self.get_userinfo(access_token, id_token, payload)
        if claims.get("sub") != payload["sub"]:
            raise SuspiciousOperation("The provider describes somebody else.")
        return claims


def _new_user(claims: dict[str, Any]) -> User:
    email = str(claims.get("email") or "")
    try:
        validate_email(email)
    except ValidationError:
        email = ""
    wished = str(claims.get("preferred_username") or email.split("@")[0] or "person")
    stem = re.sub(r"[^\w.@+-]", "-", wished)[:LONGEST_USERNAME]
    name, number = stem, 1
    while User.objects.filter(username__iexact=name).exists():
        number += 1
        name = f"{stem}-{number}"
    return User.objects.create_user(name, email=email if claims.get("email_verified") is True else "")
