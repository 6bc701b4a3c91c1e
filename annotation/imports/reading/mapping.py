"""The columns of a file that hold our fields: 'field=column', or a constant as 'field==value'."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from annotation.errors import suggestion


@dataclass(frozen=True)
class Mapped:
    """The column or constant of each of our fields."""

    columns: Mapping[str, str]
    constants: Mapping[str, str]

    def of(self, values: Mapping[str, object]) -> dict[str, object]:
        """Return a row's values under our names."""
        ours = {name: found for column, found in values.items() for name in self._names.get(column, ())}
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

    def theirs(self, ours: str) -> str:
        """Return what the file calls our field, for messages."""
        return ours if ours in self.constants else self.columns.get(ours, ours)


def read_mapping(pairs: Sequence[str], fields: Collection[str]) -> Mapped:
    """Return the mapping of `pairs`. Other fields keep their names.

    Raises ValueError naming the pair for unknown fields, fields mapped twice, and pairs without '='.
    """
    columns = {name: name for name in fields}
    constants: dict[str, str] = {}
    mapped: set[str] = set()
    for pair in pairs:
        ours, equals, theirs = pair.partition("=")
        ours = ours.strip()
        if not equals or not theirs.strip():
            raise ValueError(f"found {pair!r}, expected field=column or field==value")
        if ours not in columns:
            raise ValueError(f"{pair!r}: there is no field {ours!r}; {suggestion(ours, columns)}")
        if ours in mapped:
            raise ValueError(f"{pair!r}: {ours} is mapped already")
        mapped.add(ours)
        if theirs.startswith("="):
            constants[ours] = theirs[1:].strip()
        else:
            columns[ours] = theirs.strip()
    return Mapped(columns, constants)
