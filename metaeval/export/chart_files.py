"""A chart as a file: SVG, PNG, PDF, or its numbers as CSV."""

from collections.abc import Callable
from typing import NamedTuple

from django.utils.text import slugify

from metaeval.export.chart import Chart
from metaeval.export.formats import as_csv
from metaeval.export.standalone_svg import standalone
from metaeval.export.typeset import as_pdf, as_png


class FileKind(NamedTuple):
    content_type: str
    content: Callable[[Chart], bytes]


CHART_FILES: dict[str, FileKind] = {
    "svg": FileKind("image/svg+xml", lambda chart: standalone(chart.svg).encode()),
    "png": FileKind("image/png", lambda chart: as_png(standalone(chart.svg))),
    "pdf": FileKind("application/pdf", lambda chart: as_pdf(standalone(chart.svg))),
    "csv": FileKind("text/csv; charset=utf-8", lambda chart: as_csv(chart.rows()).encode()),
}
"""Kinds of files by the extension of the file's name."""


def file_name(project: str, chart: Chart, kind: str) -> str:
    """Return a file name in lower-case ASCII, such as project-evaluator-dimension-chart.kind."""
    parts = (slugify(part) for part in (project, *chart.about, chart.name))
    return f"{'-'.join(part for part in parts if part)}.{kind}"
