"""How the figures of a page were computed: words for a paper, and the sources."""

import tomllib
from collections.abc import Mapping, Sequence
from datetime import date
from functools import cache
from importlib.metadata import version
from typing import Protocol

from django.conf import settings

from annotation.models import Project
from metaeval.export.sources import sources_of
from metaeval.judgements import Evaluator
from metaeval.snapshot import Snapshot

MISSING = (
    "A score that could not be computed is left out and counted with its reason; it is never taken as 0."
    " Where a value is undefined the reason stands in its place."
)


class ComparedPage(Protocol):
    """A page that compares evaluators."""

    @property
    def snapshot(self) -> Snapshot: ...

    @property
    def compared(self) -> Sequence[Evaluator]: ...

    @property
    def definitions(self) -> Sequence[str]: ...

    @property
    def seen(self) -> Mapping[str, int]: ...


def how_computed(page: ComparedPage, project: Project, on: date) -> str:
    """`methods_text` of the comparison, with the evaluators' signatures and fingerprints."""
    evaluators = "\n".join(["Evaluators:", *(_evaluator(each) for each in page.compared)])
    paragraphs = ["\n".join(page.definitions), _left_out(page), evaluators]
    return methods_text(project, page.snapshot, paragraphs, on)


def methods_text(project: Project, snapshot: Snapshot, paragraphs: Sequence[str], on: date) -> str:
    """Plain text: the data, these paragraphs, versions, and a BibTeX list of the sources that all this names.

    `on` is the day on which the figures were computed. Without paragraphs there is nothing to tell: empty.
    """
    if not paragraphs:
        return ""
    data = (
        f"Data: {project.name} (questionnaire: {project.questionnaire.title}), revision {snapshot.revision},"
        f" {snapshot.n_ratings:,} finished ratings; computed on {on.isoformat()}."
    )
    said = "\n\n".join([data, *paragraphs, _software()])
    return "\n\n".join([said, *(source.bibtex for source in sources_of(said))]) + "\n"


def _left_out(page: ComparedPage) -> str:
    seen = "; ".join(f"{reason}: {articles:,}" for reason, articles in page.seen.items())
    return f"Left out of the comparison: {seen or 'no articles'}. {MISSING}"


def _evaluator(evaluator: Evaluator) -> str:
    direction = "" if evaluator.higher_is_better else "; lower is better"
    fingerprint = f"; fingerprint {evaluator.fingerprint}" if evaluator.fingerprint else ""
    return f"- {evaluator.label}: {evaluator.signature}{fingerprint}{direction}"


def _software() -> str:
    return f"Computed with Touchstone {_touchstone()}, numpy {version('numpy')} and scipy {version('scipy')}."


@cache
def _touchstone() -> str:
    project = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return str(project["version"])
