"""The base of export formats: a project in, the bytes of a file out."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, ClassVar

from annotation.audit.actions import Action
from annotation.audit.log import record
from annotation.database.consistent_read import consistent_read
from annotation.declared.settings import read_settings, settings_as_json
from annotation.errors import DomainError, NotFound, suggestion
from annotation.exports.filters import SummaryFilters, check_filters
from annotation.exports.formats import EXPORTERS
from annotation.models import Project
from annotation.permissions import Permission, Person, require
from annotation.protocol import Questionnaire

CSV_FILE = "text/csv; charset=utf-8"
TSV_FILE = "text/tab-separated-values; charset=utf-8"
JSON_LINES_FILE = "application/x-ndjson"
CONTENT_TYPES = (CSV_FILE, TSV_FILE, JSON_LINES_FILE)
"""Content types of all formats."""


class UnsuitableProject(DomainError):
    """The project has not what the format describes."""

    status = 409


class Exporter:
    """Base of all formats. Names of people and their addresses are in none of them."""

    do_not_call_in_templates = True
    name: ClassVar[str]
    title: ClassVar[str]
    description: ClassVar[str]
    permission: ClassVar[Permission] = Permission.EXPORT_RATINGS
    Options: ClassVar[type[SummaryFilters]]
    """Frozen dataclass of `annotation.declared.settings.setting` fields."""
    ending: str
    content_type: str
    answers: ClassVar[Questionnaire | None] = None
    """The questionnaire that files of this format answer, if it is always the same."""

    def __init__(self, project: Project, options: Any) -> None:
        """Prepare the file. Raises UnsuitableProject."""
        self.project = project
        self.options = options
        why_not = self.why_not(project)
        if why_not:
            raise UnsuitableProject(f"{why_not} Export ratings instead.")

    @classmethod
    def why_not(cls, project: Project) -> str:
        """Return why the project has no such file, a full sentence; empty if it has."""
        own = {question.key: question.scale for question in project.questionnaire.protocol.questions}
        for question in cls.answers.questions if cls.answers else ():
            scale = own.get(question.key)
            if scale is None or scale.choices != question.scale.choices:
                wanted = f"{question.key} with {question.scale.expected}"
                return f"{project.name} does not ask {wanted}, as the format {cls.name} needs."
        return ""

    @classmethod
    def project_options(cls, project: Project) -> dict[str, object]:  # noqa: ARG003 - for subclasses
        """Return the options that the project's settings give, unless somebody gives others."""
        return {}

    @classmethod
    def warning(cls, project: Project) -> str:  # noqa: ARG003 - for subclasses
        """Return a warning to read before an export of this project; empty for none."""
        return ""

    @property
    def file_name(self) -> str:
        return f"{self.project.slug}-{self.name}.{self.ending}"

    def chunks(self) -> Iterator[bytes]:
        """Yield the file as of one moment, in memory that does not grow with the project."""
        with consistent_read():
            yield from self.written()

    def written(self) -> Iterator[bytes]:
        """Yield the file; `chunks` sees to it that all reads are as of one moment."""
        raise NotImplementedError


def exporter_class(name: str) -> type[Exporter]:
    """Return the format of that name. Raises NotFound."""
    if name not in EXPORTERS:
        raise NotFound(f"No export format is called {name!r}; {suggestion(name, EXPORTERS)}")
    module, _, class_name = EXPORTERS[name].rpartition(".")
    found: type[Exporter] = getattr(import_module(module), class_name)
    return found


def open_export(project: Project, name: str, given: Mapping[str, object]) -> Exporter:
    """Return an export of the project, for operators, and record it in the audit log.

    Options that are not given are those of the project's settings, or else the format's defaults.
    Raises NotFound for an unknown format, SettingsRefused for invalid options and values that the project
    does not have, and UnsuitableProject.
    """
    found = exporter_class(name)
    options = read_settings(
        found.Options, {**found.project_options(project), **given}, of=f"the export {name}"
    )
    check_filters(project, options)
    export = found(project, options)
    record(Action.FILE_EXPORTED, project, export.file_name, details=settings_as_json(options))
    return export


def open_export_for(user: Person, project: Project, name: str, given: Mapping[str, object]) -> Exporter:
    """Return what `open_export` does if `user` may have it. Raises as `permissions.require`, too."""
    require(user, project, Permission.EXPORT_SCORES)
    require(user, project, exporter_class(name).permission)
    return open_export(project, name, given)


def formats_for(project: Project) -> list[type[Exporter]]:
    """Return the formats that suit the project and that its reader may export."""
    found = map(exporter_class, EXPORTERS)
    return [each for each in found if each.permission in project.reader_may and not each.why_not(project)]
