"""The columns of a file that hold our fields: 'field=column', 'field=column+column' or 'field==value'."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from annotation.errors import suggestion
from annotation.imports.reading.records import Rejected
from annotation.imports.reading.tables import parts_of

JOIN = "-"
"""The text between the values of joined columns."""
JOIN_OF_IDS = "/"
"""The same in the id of a summary, which is article_id/system."""


@dataclass(frozen=True)
class Mapped:
    """The column or constant of each of our fields."""

    columns: Mapping[str, str]
    constants: Mapping[str, str]

    def of(self, values: Mapping[str, object]) -> dict[str, object]:
        """Return a row's values under our names."""
        ours = {name: found for column, found in values.items() for name in self._names.get(column, ())}
        for name, column in self._joined.items():
            if column not in values:
                parts = [values.get(part) for part in parts_of(column, values)]
                if not any(part is None or part == "" for part in parts):
                    ours[name] = (JOIN_OF_IDS if name == "id" else JOIN).join(map(str, parts))
        ours.update(self.constants)
        return ours

    @cached_property
    def _names(self) -> dict[str, list[str]]:
        """Column -> our fields that it holds. Files have fewer columns than there are fields."""
        names: dict[str, list[str]] = {}
        for name, column in self.columns.items():
            if name not in self.constants:
                names.setdefault(column, []).append(name)
        return names

    @cached_property
    def _joined(self) -> dict[str, str]:
        """Field -> column for those columns that may be several."""
        return {name: column for name, column in self.columns.items() if "+" in column}

    def needed(self, fields: Sequence[str]) -> list[str]:
        """Return the columns that a table must have: those of `fields`, and those that were named."""
        needed = [self.theirs(ours) for ours in fields if ours not in self.constants]
        needed += [theirs for ours, theirs in self.columns.items() if ours != theirs]
        return list(dict.fromkeys(needed))

    def renamed(self, rejected: Rejected) -> Rejected:
        """Return a rejected row whose problems name the file's own columns."""
        named = [replace(each, field=self.theirs(each.field)) for each in rejected.problems]
        return replace(rejected, problems=named)

    def theirs(self, ours: str) -> str:
        """Return what the file calls our field, for messages."""
        return ours if ours in self.constants else self.columns.get(ours, ours)


def read_mapping(pairs: Sequence[str], fields: Collection[str], *, several: str = "") -> Mapped:
    """Return the mapping of `pairs`. Other fields keep their names.

    `several` is a field that several columns may hold, as 'several:name=column'. Raises ValueError naming the
    pair for unknown fields, fields mapped twice, and pairs without '='.
    """
    columns = {name: name for name in fields}
    constants: dict[str, str] = {}
    mapped: set[str] = set()
    for pair in pairs:
        ours, equals, theirs = pair.partition("=")
        ours = ours.strip()
        if not equals or not theirs.strip():
            raise ValueError(f"found {pair!r}, expected field=column or field==value")
        field, colon, name = ours.partition(":")
        if ours not in columns and not (colon and field == several and name):
            raise ValueError(f"{pair!r}: there is no field {ours!r}; {suggestion(ours, columns)}")
        if ours in mapped:
            raise ValueError(f"{pair!r}: {ours} is mapped already")
        mapped.add(ours)
        if theirs.startswith("="):
            constants[ours] = theirs[1:].strip()
        else:
            columns[ours] = theirs.strip()
    return Mapped(columns, constants)
