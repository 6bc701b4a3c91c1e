"""Limits on what a request may send, checked before any of it is read.

Most strangers may only sign in, so they may send little. Files are for people who are signed in, at the few
addresses that ask for one; anywhere else they are skipped and never stored.
"""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.files.uploadhandler import FileUploadHandler, SkipFile
from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin

from annotation.lookups import read_number
from annotation.web.error_pages import too_large

STRANGERS_BYTES = 64 * 1024
MOST_FILES = 2  # of one form

View = Callable[..., Any]


def takes_files(view: View) -> View:
    """Mark a view whose form has files."""
    view.takes_files = True  # type: ignore[attr-defined]
    return view


def body_limit(view: View, is_signed_in: Callable[[], bool]) -> int:
    """Return how many bytes a request to the view may send. Asks who it is only where that matters."""
    has_files = getattr(view, "takes_files", False)
    is_public = not (has_files or getattr(view, "login_required", True))
    if is_public or not is_signed_in():
        return STRANGERS_BYTES
    form = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    return form + MOST_FILES * settings.UPLOAD_MAX_BYTES if has_files else form


def _is_known(request: HttpRequest) -> bool:
    # gunicorn's worker imports this module before Django has its models.
    from annotation.sessions import bears_token

    return request.user.is_authenticated or bears_token(request.headers.get("Authorization", ""))


class NoFiles(FileUploadHandler):
    """Skips every file."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:  # noqa: ARG002 - Django's signature
        raise SkipFile

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        """Receive nothing, because every file is skipped."""

    def file_complete(self, file_size: int) -> None:
        """Return no file."""


class BodyLimitMiddleware(MiddlewareMixin):
    """Must come before the middleware that looks for a form's token, which reads the whole form."""

    def process_view(
        self,
        request: HttpRequest,
        view: View,
        args: tuple[object, ...],  # noqa: ARG002
        kwargs: dict[str, object],  # noqa: ARG002
    ) -> HttpResponse | None:
        if not getattr(view, "takes_files", False):
            request.upload_handlers = [NoFiles(request)]
        length = read_number(request.META.get("CONTENT_LENGTH") or "0")
        if length is None:
            return too_large(request)
        if length <= STRANGERS_BYTES or length <= body_limit(view, lambda: _is_known(request)):
            return None
        return too_large(request)
