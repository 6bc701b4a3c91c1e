"""Sign-in to the API by a personal token: `Authorization: Bearer <token>`."""

from datetime import timedelta
from typing import TYPE_CHECKING

from django.contrib.auth.models import User
from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from annotation.actions.people import token_hash
from annotation.models import ApiToken

if TYPE_CHECKING:
    from drf_spectacular.openapi import AutoSchema

USE_GRAIN = timedelta(minutes=1)
"""How exactly a token's last use is kept: a program that reads page after page is not to write each time."""


class ApiTokenAuthentication(BaseAuthentication):
    keyword = "Bearer"

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        parts = get_authorization_header(request).split()
        if not parts or parts[0].lower() != b"bearer":
            return None
        token = (
            ApiToken.objects.select_related("user")
            .filter(token_hash=token_hash(parts[-1].decode("latin-1")))
            .first()
        )
        if len(parts) != 2 or token is None or not token.user.is_active:
            raise AuthenticationFailed("This API token is not valid. Make a new one on your account page.")
        now = timezone.now()
        if token.last_used_at is None or now - token.last_used_at > USE_GRAIN:
            ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
        return token.user, token

    def authenticate_header(self, request: Request) -> str:  # noqa: ARG002 - Django REST framework's signature
        return self.keyword


class ApiTokenScheme(OpenApiAuthenticationExtension):
    """The token in the OpenAPI schema; drf-spectacular finds this class by itself."""

    target_class = ApiTokenAuthentication
    name = "apiToken"

    def get_security_definition(self, auto_schema: "AutoSchema") -> dict[str, str]:  # noqa: ARG002
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "A personal token from your account page.",
        }
