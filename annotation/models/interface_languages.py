"""The language in which a person reads the interface."""

from django.conf import settings
from django.db import models


class InterfaceLanguage(models.Model):
    """The language that a person chose. Others read the interface in that of their browser."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="interface_language",
    )
    code = models.CharField(max_length=12, help_text="One of the languages that settings.LANGUAGES lists.")

    def __str__(self) -> str:
        return f"{self.code} for {self.user}"
