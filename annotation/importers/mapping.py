"""Which column of a file holds which of our fields: 'ours=theirs', or a constant as 'ours==value'."""

import difflib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Mapped:
    """For each of our fields its column or its constant."""

    columns: Mapping[str, str]
    constants: Mapping[str, str]

    def missing(self, needed: Collection[str], present: Collection[str]) -> dict[str, str]:
        """Our needed fields that have neither a constant nor a column among `present`, with that column."""
        return {
            ours: self.columns[ours]
            for ours in needed
            if ours not in self.constants and self.columns[ours] not in present
        }

    def of(self, values: Mapping[str, object]) -> dict[str, object]:
        """A row's values under our names."""
        ours = {
            name: values[column]
            for name, column in self.columns.items()
            if name not in self.constants and column in values
        }
        return ours | dict(self.constants)

    def theirs(self, ours: str) -> str:
        """What the file calls our field, for messages."""
        return ours if ours in self.constants else self.columns.get(ours, ours)


def read_mapping(pairs: Sequence[str], fields: Collection[str]) -> Mapped:
    """The mapping of `pairs`; a field that none names is looked for under its own name.

    Raises ValueError naming the pair for unknown fields, fields mapped twice, and pairs without '='.
    """
    columns = {name: name for name in fields}
    constants: dict[str, str] = {}
    mapped: set[str] = set()
    for pair in pairs:
        ours, equals, theirs = pair.partition("=")
        ours = ours.strip()
        if not equals or not theirs.strip():
            raise ValueError(f"found {pair!r}, expected ours=theirs or ours==constant")
        if ours not in columns:
            near = difflib.get_close_matches(ours, columns)
            advice = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(columns)}"
            raise ValueError(f"{pair!r}: there is no field {ours!r}; {advice}")
        if ours in mapped:
            raise ValueError(f"{pair!r}: {ours} is mapped already")
        mapped.add(ours)
        if theirs.startswith("="):
            constants[ours] = theirs[1:].strip()
        else:
            columns[ours] = theirs.strip()
    return Mapped(columns, constants)
