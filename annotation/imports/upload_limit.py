"""The limit on uploaded files, enforced while they arrive, before they fill the disk."""

from typing import Any

from django.conf import settings
from django.core.files.uploadhandler import FileUploadHandler, StopUpload
from django.http import HttpRequest


class UploadLimit(FileUploadHandler):
    """The first upload handler: passes on at most `UPLOAD_MAX_BYTES` of each file.

    The rest of a larger upload is read and dropped, so that the page can show an error.
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
        """Leave the file to the next handler."""


def too_large_upload(request: HttpRequest) -> str:
    """Return the name of the form field whose file was too large; empty if none was."""
    return getattr(request, "upload_too_large", "")


def too_large_message() -> str:
    limit = settings.UPLOAD_MAX_BYTES // 1024**2
    return f"The file is larger than {limit} MiB. Compress it with gzip, or split it."
