"""How the figures of a page were computed: a methods section for a paper, with its sources."""

import tomllib
from datetime import date
from functools import cache
from importlib.metadata import version

from django.conf import settings

from annotation.models import Project
from metaeval.export.sources import sources_of
from metaeval.live.results_page import ResultsPage


def how_computed(page: ResultsPage, project: Project, on: date) -> str:
    """Return the data, the page's paragraphs, the versions and the sources in BibTeX, as plain text.

    `on` is the date of the computation. The text is empty if the page has no paragraphs.
    """
    paragraphs, snapshot = page.paragraphs, page.snapshot
    if not paragraphs:
        return ""
    data = (
        f"Data: {project.name} (questionnaire: {project.questionnaire.title}), revision {snapshot.revision},"
        f" {snapshot.n_ratings:,} finished ratings; computed on {on.isoformat()}."
    )
    said = "\n\n".join([data, *paragraphs, _software()])
    return "\n\n".join([said, *sources_of(said)]) + "\n"


def _software() -> str:
    return f"Computed with Touchstone {_touchstone()}, numpy {version('numpy')} and scipy {version('scipy')}."


@cache
def _touchstone() -> str:
    project = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return str(project["version"])
