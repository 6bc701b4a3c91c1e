"""Sign-in to the API by a personal token: `Authorization: Bearer <token>`."""

from django.contrib.auth.models import User
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from annotation.actions.people import token_hash
from annotation.models import ApiToken


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
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=timezone.now())
        return token.user, token

    def authenticate_header(self, request: Request) -> str:  # noqa: ARG002 - Django REST framework's signature
        return self.keyword
