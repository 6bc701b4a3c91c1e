"""The problems of an import, those of one kind together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

LINES_NAMED = 5


@dataclass(frozen=True)
class ProblemKind:
    """The problems of a file whose field and expectation are the same."""

    file: str
    field: str
    expected: str
    problems: Sequence[Mapping[str, object]]
    """Entries of `ImportJob.errors`, in the order of the file."""

    @property
    def first(self) -> Sequence[Mapping[str, object]]:
        return self.problems[:LINES_NAMED]

    @property
    def n_further(self) -> int:
        return len(self.problems) - len(self.first)


def kinds_of(errors: Sequence[Mapping[str, object]]) -> list[ProblemKind]:
    """Return the kinds of the problems, the most frequent first."""
    found: dict[tuple[str, str, str], list[Mapping[str, object]]] = {}
    for each in errors:
        found.setdefault((str(each["file"]), str(each["field"]), str(each["expected"])), []).append(each)
    kinds = [ProblemKind(*key, problems) for key, problems in found.items()]
    return sorted(kinds, key=lambda kind: -len(kind.problems))
