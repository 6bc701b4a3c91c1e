"""Browser sessions of people who are signed in."""

from django.conf import settings
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models


class Session(AbstractBaseSession):
    """A session that names its user in a column, so that one statement finds the person and what they do.

    `user` is null before sign-in. Whether the session is valid is for `session_data` to say, as in Django.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", null=True, blank=True
    )
    seen_at = models.DateTimeField(auto_now=True, help_text="The last request, to ten minutes.")

    def __str__(self) -> str:
        return f"session of {self.user}"
