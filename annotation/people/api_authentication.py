"""Sign-in to the API by a personal token: `Authorization: Bearer <token>`."""

from datetime import timedelta

from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.formats import date_format
from rest_framework.authentication import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed

from annotation.models import ApiToken, token_hash
from annotation.permissions import limit_to_project

USE_GRAIN = timedelta(minutes=1)
"""Precision of a token's last use, so that reading page after page does not write each time."""


class ApiTokenAuthentication(TokenAuthentication):
    keyword = "Bearer"

    def authenticate_credentials(self, key: str) -> tuple[User, ApiToken]:
        token = ApiToken.objects.select_related("user").filter(token_hash=token_hash(key)).first()
        if token is None or not token.user.is_active:
            raise AuthenticationFailed("This API token is not valid. Create a new one on your account page.")
        if token.has_expired:
            day = date_format(timezone.localtime(token.expires_at), "j F Y")
            raise AuthenticationFailed(
                f"This API token expired on {day}. Create a new one on your account page."
            )
        now = timezone.now()
        if token.last_used_at is None or now - token.last_used_at > USE_GRAIN:
            ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
        if token.project_id is not None:
            limit_to_project(token.user, token.project_id)
        return token.user, token
