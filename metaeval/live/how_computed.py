"""The methods section of a page's figures, for a paper, with its sources."""

import tomllib
from datetime import date
from functools import cache
from importlib.metadata import version

from django.conf import settings
from django.utils.timezone import localdate

from annotation.models import Project
from annotation.templatetags.figures import noun
from metaeval.export.sources import sources_of
from metaeval.live.results_page import ResultsPage
from metaeval.snapshot.rater_groups import warning_of_mixing
from metaeval.snapshot.snapshot import Snapshot
from metaeval.stats.agreement.group_difference import DEFINITION


def how_computed(page: ResultsPage, project: Project, on: date) -> str:
    """Return the data, the page's paragraphs, the versions and the sources in BibTeX, as plain text.

    `on` is the date of the computation. The text is empty if the page has no paragraphs.
    """
    paragraphs, snapshot = page.paragraphs, page.snapshot
    if not paragraphs:
        return ""
    chosen = snapshot.human.counted(page.chosen_summaries, page.group, page.chosen_questions)
    data = (
        f"Data: {project.name} (questionnaire: {project.questionnaire.title}), revision {snapshot.revision};"
        f" {noun(chosen.ratings, 'finished rating,finished ratings')} of"
        f" {noun(chosen.summaries, 'summary,summaries')} by {noun(chosen.raters, 'rater,raters')}"
        f" ({snapshot.human.raters_of(page.group)}), {_how_final(snapshot)}; computed on {on.isoformat()}."
    )
    mixed = page.mixed_groups and not page.is_split_by_group
    warning = warning_of_mixing(snapshot.summaries, snapshot.human, page.group) if mixed else ""
    if snapshot.is_live and page.looks == "one":
        data += " Intervals and tests are for a single look at the ratings."
    said = "\n\n".join([data, *([f"{warning} {DEFINITION}"] if mixed else []), *paragraphs, _software()])
    return "\n\n".join([said, *sources_of(said)]) + "\n"


def _how_final(snapshot: Snapshot) -> str:
    if snapshot.closed_at is None:
        return "while more come in"
    return f"final since {localdate(snapshot.closed_at).isoformat()}"


def _software() -> str:
    return f"Computed with Touchstone {_touchstone()}, numpy {version('numpy')} and scipy {version('scipy')}."


@cache
def _touchstone() -> str:
    project = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return str(project["version"])
