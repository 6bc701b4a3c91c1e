"""The base of import formats: a file in, records out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Literal

from annotation.declared.settings import SettingsRefused, read_settings
from annotation.errors import suggestion
from annotation.imports.formats import IMPORTERS
from annotation.imports.reading.column_proposal import MOST_ROWS_READ, propose_columns
from annotation.imports.reading.kinds import OtherKind
from annotation.imports.reading.lines import ZIP_MAGIC, TextFile
from annotation.imports.reading.records import Entry, Rejected, Row
from annotation.imports.reading.tables import column_names, is_json, table_rows
from annotation.imports.reading.workbooks import WorkbookFile
from annotation.protocol import Questionnaire


class UnknownFormat(LookupError):
    """There is no format of that name. The message suggests similar ones."""


@dataclass(frozen=True)
class Companion:
    """A second file of a format. `name` is the command-line option without dashes."""

    name: str
    label: str
    help: str

    @property
    def flag(self) -> str:
        return f"--{self.name}"


ARTICLES = Companion(
    name="articles",
    label="Articles",
    help="Examples file with article_id (or id), article, and optionally title, language, dataset, split "
    "and references.",
)


@dataclass(frozen=True)
class TableHead:
    """The names of a table's columns, its first valid rows, and a proposal for the option `map`."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    proposed: Sequence[str]


class Importer:
    """Base of all formats. `entries` can be called repeatedly, with equal results."""

    do_not_call_in_templates = True
    name: ClassVar[str]
    title: ClassVar[str]
    purpose: ClassVar[str]
    """One short line about the contents of its files."""
    description: ClassVar[str]
    Options: ClassVar[type[Any]]
    """Frozen dataclass of `annotation.declared.settings.setting` fields."""
    columns: ClassVar[tuple[str, ...]] = ()
    """Columns that tables of this format have; empty if it reads no tables."""
    json_fields: ClassVar[tuple[str, ...]] = ()
    """Fields that its JSON objects have; empty if it reads no JSON."""
    mapped_fields: ClassVar[tuple[str, ...]] = ()
    """Fields whose columns the option `map` names; empty if there is no such option."""
    several: ClassVar[str] = ""
    """The field that several columns may hold, each under a name of its own; empty if there is none."""
    may_be_wide: ClassVar[bool] = False
    """True if it reads tables with one row per article and a column for each system."""
    companion: ClassVar[Companion | None] = None
    answers: ClassVar[Questionnaire | None] = None
    """The questionnaire that files of this format answer, if it is always the same."""
    proposes: ClassVar[Literal["", "inferred", "interval"]] = ""
    """The scales of a questionnaire made from the file's questions; empty if none may be made."""

    def __init__(
        self,
        file: TextFile,
        companion: TextFile | None,
        options: Any,
        dimensions: Sequence[str],
    ) -> None:
        """Read `file`. `dimensions` are those of the project's questionnaire."""
        self.file = file
        self.companion_file = companion
        self.options = options
        self.dimensions = tuple(dimensions)
        self.notes: list[str] = []
        """Remarks on the file, complete after a pass over `entries`."""
        self.prepare()

    def prepare(self) -> None:
        """Check and interpret the options. Raises SettingsRefused."""

    def entries(self) -> Iterator[Entry | Rejected]:
        """Yield the entries of the file in order. Raises FileRefused if it cannot be read."""
        raise NotImplementedError

    def question_names(self) -> Iterator[str] | None:
        """Yield the questions that valid ratings answer, and maybe others, in a cheaper pass than `entries`.

        None if only `entries` can tell. Raises FileRefused as `entries` do, and TooManyProblems.
        """
        return None

    def table_head(self) -> TableHead | None:
        """Return the head of a table whose columns the option `map` may name; None for other files.

        Raises FileRefused if the table cannot be read.
        """
        if not self.mapped_fields or is_json(self.file):
            return None
        constants = [pair for pair in self.options.map if "==" in pair]
        fixed = {pair.partition("=")[0].strip() for pair in constants}
        fields = [each for each in self.mapped_fields if each not in fixed]
        rows = islice(table_rows(self.file, ()), MOST_ROWS_READ)
        cells = [list(map(str, row.values.values())) for row in rows if isinstance(row, Row)]
        columns = column_names(self.file)
        proposal = propose_columns(columns, cells, fields, may_be_wide=self.may_be_wide)
        return TableHead(columns, cells, [*constants, *proposal.pairs])

    @property
    def files(self) -> tuple[TextFile, ...]:
        return (self.file,) if self.companion_file is None else (self.file, self.companion_file)


def importer_class(name: str) -> type[Importer]:
    """Return the format of that name. Raises UnknownFormat."""
    if name not in IMPORTERS:
        raise UnknownFormat(f"no import format is called {name!r}; {suggestion(name, IMPORTERS)}")
    module, _, class_name = IMPORTERS[name].rpartition(".")
    found: type[Importer] = getattr(import_module(module), class_name)
    return found


def other_formats(refusal: OtherKind) -> str:
    """Return which formats to choose for a file of another kind, as a sentence."""
    is_table = refusal.kind == "table"
    formats = map(importer_class, IMPORTERS)
    needed = {each.title: each.columns if is_table else each.json_fields for each in formats}
    reading = [title for title, names in needed.items() if names]
    fitting = [title for title in reading if refusal.names.issuperset(needed[title])]
    if fitting:
        return f"Choose a format that fits its {'columns' if is_table else 'fields'}: {' or '.join(fitting)}."
    kind = "tables" if is_table else "JSON"
    return f"Convert the file, or choose a format that reads {kind}: {' or '.join(reading)}."


def open_file(path: Path, name: str = "", sheet: str = "") -> TextFile:
    """Return a file to import, as a WorkbookFile if it is a zip archive."""
    file = TextFile(path, name)
    try:
        with path.open("rb") as stream:
            is_zip = stream.read(len(ZIP_MAGIC)) == ZIP_MAGIC
    except OSError:
        return file  # reading it says why
    return WorkbookFile(path, name, sheet) if is_zip else file


def open_import(
    format_name: str,
    path: Path,
    *,
    companion: Path | None = None,
    options: Mapping[str, object] | None = None,
    dimensions: Sequence[str] = (),
    name: str = "",
    companion_name: str = "",
) -> Importer:
    """Return an importer of `path`. Messages call the files `name` and `companion_name`.

    Raises UnknownFormat, SettingsRefused, and FileRefused if a file is missing or not readable.
    """
    found = importer_class(format_name)
    if companion is not None and found.companion is None:
        raise SettingsRefused({"companion": f"the format {format_name} takes no second file"})
    settings = read_settings(found.Options, options or {}, of=f"the format {format_name}")
    return found(
        open_file(path, name, getattr(settings, "sheet", "")),
        None if companion is None else open_file(companion, companion_name),
        settings,
        dimensions,
    )
