"""The export of scores: one row per summary, one column per setup and dimension."""

from array import array
from collections.abc import Iterator
from dataclasses import dataclass

from annotation.database.portions import portions
from annotation.declared.settings import SettingsRefused, setting
from annotation.errors import suggestion
from annotation.exports.exporter import CSV_FILE, Exporter
from annotation.exports.files import csv_chunks
from annotation.exports.filters import SummaryFilters
from annotation.models import Project, Summary
from annotation.permissions import Permission
from scoring.inputs.items import item_id
from scoring.models import Score, Setup

PORTION = 500  # summaries whose scores are read together
ABOUT = ("id", "article_id", "system", "language", "dataset", "split")
Column = tuple[int, str]
"""Id of the setup, dimension."""


class ScoresExporter(Exporter):
    name = "scores"
    title = "Scores (CSV)"
    description = (
        "One row per scored summary, one column per setup and dimension. A missing score is an empty cell."
    )
    permission = Permission.EXPORT_SCORES
    ending = "csv"
    content_type = CSV_FILE

    @dataclass(frozen=True)
    class Options(SummaryFilters):
        setup: tuple[str, ...] = setting(
            (), label="Setups", help="Only these setups; with none, all of them.", is_setup=True
        )
        reasons: bool = setting(
            False, label="Reasons", help="Add a column with the reasons of missing scores."
        )

    options: Options

    def __init__(self, project: Project, options: Options) -> None:
        """Prepare the file. Raises SettingsRefused for a setup that the project does not have."""
        super().__init__(project, options)
        known = set(project.setups.values_list("label", flat=True))
        for name in options.setup:
            if name not in known:
                raise SettingsRefused({"setup": f"found {name!r}; {suggestion(name, known)}"})

    def written(self) -> Iterator[bytes]:
        columns = self._columns()
        names = [str(name) for title in columns.values() for name in self._cells(title, f"{title}, reason")]
        return csv_chunks([*ABOUT, *names], self._rows(columns))

    def _columns(self) -> dict[Column, str]:
        """Return the columns with their names. Setups of the same name are numbered."""
        setups = Setup.objects.filter(project=self.project)
        if self.options.setup:
            setups = setups.filter(label__in=self.options.setup)
        labels = dict(setups.values_list("pk", "label"))
        pairs = Score.objects.filter(setup__in=labels).order_by().values_list("setup", "dimension").distinct()
        given = list(labels.values())
        return {
            (setup, dimension): f"{label} (setup {setup}): {dimension}"
            if given.count(label) > 1
            else f"{label}: {dimension}"
            for setup, label in labels.items()
            for _, dimension in sorted(pair for pair in pairs if pair[0] == setup)
        }

    def _rows(self, columns: dict[Column, str]) -> Iterator[list[object]]:
        chosen = Summary.objects.filter(self.options.summaries(), project=self.project).order_by("pk")
        ids = array("q", chosen.values_list("pk", flat=True).iterator())
        for portion in portions(ids, PORTION):
            scores: dict[int, dict[Column, tuple[float | None, str]]] = {}
            found = Score.objects.filter(summary__in=portion, setup__in={setup for setup, _ in columns})
            for summary, setup, dimension, value, reason in found.values_list(
                "summary", "setup", "dimension", "value", "reason"
            ):
                scores.setdefault(summary, {})[setup, dimension] = value, reason
            rows = Summary.objects.filter(pk__in=scores).order_by("pk").values_list("pk", *_ABOUT_PLACES)
            for pk, article, system, *rest in rows:
                cells = [
                    cell for column in columns for cell in self._cells(*scores[pk].get(column, (None, "")))
                ]
                yield [item_id(article, system), article, system, *rest, *cells]

    def _cells(self, value: object, reason: str) -> tuple[object, ...]:
        return (value, reason) if self.options.reasons else (value,)


_ABOUT_PLACES = (
    "article__external_id",
    "system__name",
    "article__language",
    "article__dataset",
    "article__split",
)
