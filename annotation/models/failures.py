"""Messages of failed tasks, for people."""

import os
import re
from typing import Any

from django.db import models

_PATH = re.compile(r"(?<![\w.:/~-])/[\w.@+~-]+(?:/[\w.@+~-]+)+")


class FailureField(models.TextField):
    """The reason of a failure, without folders of this server: `/srv/models/bert` becomes `.../bert`."""

    def get_prep_value(self, value: Any) -> Any:
        prepared = super().get_prep_value(value)
        return _PATH.sub(_without_folders, prepared) if isinstance(prepared, str) else prepared

    def deconstruct(self) -> Any:
        name, _, args, kwargs = super().deconstruct()
        # The column is that of any text, so migrations need not know this class.
        return name, "django.db.models.TextField", args, kwargs


def _without_folders(path: re.Match[str]) -> str:
    """Return the end of a path on this server; unchanged if it is another one, such as an endpoint's."""
    _, top, *_, last = path[0].split("/")
    return f".../{last}" if os.path.isdir(f"/{top}") else path[0]
