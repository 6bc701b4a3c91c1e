"""The checks that `manage.py check --deploy` makes besides Django's. Settings refuse what is never safe."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register


@register(Tags.security, deploy=True)
def check_deployment(**_: Any) -> list[CheckMessage]:
    return list(found_problems())


def found_problems() -> Iterator[CheckMessage]:
    if "*" in settings.ALLOWED_HOSTS:
        yield Error(
            "ALLOWED_HOSTS: found *, so a stranger decides where the links in mails lead.",
            hint="List the names under which people open Touchstone.",
            id="touchstone.E001",
        )
    if settings.STATIC_ROOT and not (Path(settings.STATIC_ROOT) / "staticfiles.json").exists():
        yield Error(
            "Styles and scripts are not collected, so every page fails.",
            hint="Run: python manage.py collectstatic --noinput",
            id="touchstone.E002",
        )
    if not _can_write(settings.MEDIA_ROOT):
        yield Error(
            f"UPLOAD_DIR: {settings.MEDIA_ROOT} cannot be written by this user, so imports fail.",
            hint="Give the web server's user this folder, or set UPLOAD_DIR to another one.",
            id="touchstone.E003",
        )
    if settings.OIDC_ISSUER and not settings.OIDC_ISSUER.startswith("https://"):
        yield Error(
            f"OIDC_ISSUER: found {settings.OIDC_ISSUER}, expected https, or anybody on the way can sign in.",
            hint="Use the provider's https address.",
            id="touchstone.E004",
        )
    if settings.EMAIL_URL and settings.DEFAULT_FROM_EMAIL.endswith("@localhost"):
        yield Warning(
            "EMAIL_FROM is not set, and mail servers refuse mails from localhost.",
            hint="Set EMAIL_FROM to an address of your own.",
            id="touchstone.W005",
        )
    if (settings.BASE_DIR / "var" / "local.env").exists():
        yield Warning(
            "var/local.env is left over from script/up. A command without settings would use local mode.",
            hint="Delete var/local.env.",
            id="touchstone.W006",
        )


def _can_write(folder: Path) -> bool:
    nearest = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    return nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)
