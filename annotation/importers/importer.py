"""What an import format is: a file in, records out."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Literal

from annotation.importers import IMPORTERS
from annotation.importers.lines import TextFile
from annotation.importers.options import Option, OptionsRefused, read_options
from annotation.importers.records import Entry, Rejected
from annotation.protocol import Questionnaire


class UnknownFormat(LookupError):
    """No format of that name; the message has the near ones."""


@dataclass(frozen=True)
class Companion:
    """A second file that a format can take: `name` is the command's option without dashes."""

    name: str
    label: str
    help: str

    @property
    def flag(self) -> str:
        return f"--{self.name}"


ARTICLES = Companion(
    name="articles",
    label="Articles",
    help="Examples file with the articles (fields article_id or id, article, and any of title, language, "
    "dataset, split, references).",
)


class Importer:
    """Base of all formats. One object reads one file, as often as `entries` is called, the same each time."""

    name: ClassVar[str]
    title: ClassVar[str]
    description: ClassVar[str]
    options: ClassVar[tuple[Option, ...]] = ()
    companion: ClassVar[Companion | None] = None
    answers: ClassVar[Questionnaire | None] = None
    """The questionnaire whose questions the format always answers."""
    proposes: ClassVar[Literal["", "inferred", "interval"]] = ""
    """Whether the file's questions may become a questionnaire, and where their scales come from."""

    def __init__(
        self,
        file: TextFile,
        companion: TextFile | None,
        options: Mapping[str, Any],
        dimensions: Sequence[str],
    ) -> None:
        """`dimensions` are those that the project's questionnaire asks about."""
        self.file = file
        self.companion_file = companion
        self.set = options
        self.dimensions = tuple(dimensions)
        self.notes: list[str] = []
        """What the user should know about the file as a whole; complete after a pass over `entries`."""

    def entries(self) -> Iterator[Entry | Rejected]:
        """All that the file says, in its order. Raises FileRefused where it cannot be read."""
        raise NotImplementedError

    @property
    def files(self) -> tuple[TextFile, ...]:
        return (self.file,) if self.companion_file is None else (self.file, self.companion_file)


def importer_class(name: str) -> type[Importer]:
    """The format of that name. Raises UnknownFormat."""
    if name not in IMPORTERS:
        near = difflib.get_close_matches(name, IMPORTERS)
        advice = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(IMPORTERS)}"
        raise UnknownFormat(f"no import format is called {name!r}; {advice}")
    module, _, class_name = IMPORTERS[name].rpartition(".")
    found: type[Importer] = getattr(import_module(module), class_name)
    return found


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
    """An importer on `path`. `name` and `companion_name` are what messages call the files (their names).

    Raises UnknownFormat, OptionsRefused, and FileRefused where a file is not there or not readable.
    """
    found = importer_class(format_name)
    if companion is not None and found.companion is None:
        raise OptionsRefused({"companion": f"the format {format_name} takes no second file"})
    return found(
        TextFile(path, name),
        None if companion is None else TextFile(companion, companion_name),
        read_options(found.options, options or {}),
        dimensions,
    )
