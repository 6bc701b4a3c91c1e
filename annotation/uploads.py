"""Stops an upload that is over the limit while it is coming in, before it fills the disk."""

from typing import Any

from django.conf import settings
from django.core.files.uploadhandler import FileUploadHandler, StopUpload
from django.http import HttpRequest


class UploadLimit(FileUploadHandler):
    """The first of the upload handlers: lets the others have a request's files up to `UPLOAD_MAX_BYTES` each.

    The rest of a larger upload is read and dropped, so that the page can say what is wrong.
    """

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        self.received = 0

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:  # noqa: ARG002 - Django's signature
        self.received += len(raw_data)
        if self.received > settings.UPLOAD_MAX_BYTES:
            setattr(self.request, "upload_too_large", self.field_name)  # noqa: B010 - not declared by Django
            raise StopUpload(connection_reset=False)
        return raw_data

    def file_complete(self, file_size: int) -> None:
        """The next handler keeps the file."""


def too_large_upload(request: HttpRequest) -> str:
    """The name of the form field whose file was over the limit; empty if none was."""
    return getattr(request, "upload_too_large", "")
