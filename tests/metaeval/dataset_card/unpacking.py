"""A step of dataset tests: export a dataset and unpack it."""

import io
from zipfile import ZipFile

from annotation.models import Project
from tests.annotation.exports.exporting_steps import exported


def unpacked(project: Project, **options: object) -> dict[str, str]:
    archive = ZipFile(io.BytesIO(exported(project, "dataset", **options)))
    return {name: archive.read(name).decode() for name in archive.namelist()}
