"""Background results of the comparison page: intervals, tests and the chosen cell's levels.

While they are being computed for the current revision, the page shows the latest finished ones and says so.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Generic, TypeVar

from annotation.models import Project
from annotation.templatetags.figures import noun
from metaeval.comparison.chosen_cell import CoefficientRow, every_level
from metaeval.comparison.comparison import Comparison, ComparisonTable
from metaeval.comparison.report import whole_table
from metaeval.comparison.uncertainty import Uncertainty
from metaeval.live.background import LONG, SHORT, SOON, BackgroundResults, Key, part_done, queue_of
from metaeval.live.choices import ComparisonChoices
from metaeval.snapshot.arrays import Labels, SetupScores
from metaeval.snapshot.snapshot import Snapshot

Result = TypeVar("Result")

WAIT_UP_TO = 5_000
"""The largest number of summaries for which a page waits for its results."""


@dataclass(frozen=True, eq=False)
class AsOf(Generic[Result]):
    """A result and the revision that it belongs to."""

    revision: int
    n_ratings: int
    scope: Hashable
    """Its evaluators and questions. An earlier result is shown only if these are the same."""
    result: Result

    def earlier_than(self, snapshot: Snapshot) -> str:
        """Return its revision in words; empty for the revision of the snapshot."""
        if self.revision == snapshot.revision:
            return ""
        more = snapshot.n_ratings - self.n_ratings
        return f"revision {self.revision:,}" + (f", {noun(more, 'rating,ratings')} ago" if more > 0 else "")


def uncertainties_key(project: Project, revision: int, choices: ComparisonChoices) -> Key:
    """Return the key of intervals and tests."""
    return Key.of(project, revision, whole_table(choices))


def apart_key(project: Project, revision: int, choices: ComparisonChoices) -> Key:
    """Return the key of intervals and tests of each group of raters."""
    return Key.of(project, revision, "apart", whole_table(choices))


def levels_key(project: Project, revision: int, choices: ComparisonChoices) -> Key:
    """Return the key of the chosen cell's levels, which does not depend on the method of the table."""
    usual = ComparisonChoices()
    pair = replace(
        choices,
        level=usual.level,
        coefficient=usual.coefficient,
        interval=usual.interval,
        test=usual.test,
        correction=usual.correction,
        margin=usual.margin,
    )
    return Key.of(project, revision, "levels", pair)


def wait_for(snapshot: Snapshot) -> float:
    """Return how long a page of this snapshot waits, in seconds."""
    return SOON if len(snapshot.summaries) <= WAIT_UP_TO else 0


def uncertainties(
    project: Project,
    snapshot: Snapshot,
    table: ComparisonTable,
    choices: ComparisonChoices,
    wait_s: float | None,
) -> AsOf[Sequence[Uncertainty]] | None:
    """Return the uncertainty of each column, or None. With `wait_s` None, of the current revision."""
    key = uncertainties_key(project, snapshot.revision, choices)
    compute = partial(table.uncertainties, part_done)
    return present_or_latest(LONG, key, snapshot, _scope(table), compute, wait_s, parts=len(table.columns))


def uncertainties_apart(
    project: Project,
    snapshot: Snapshot,
    tables: Mapping[str, ComparisonTable],
    choices: ComparisonChoices,
) -> AsOf[Sequence[Sequence[Uncertainty]]] | None:
    """Return the uncertainty of each column for each group of raters, whose `tables` these are, or None."""
    key, scope = (
        apart_key(project, snapshot.revision, choices),
        tuple((group, _scope(table)) for group, table in tables.items()),
    )
    compute = partial(_each, list(tables.values()))
    parts = sum(len(table.columns) for table in tables.values())
    return present_or_latest(LONG, key, snapshot, scope, compute, wait_for(snapshot), parts=parts)


def _each(tables: Sequence[ComparisonTable]) -> list[list[Uncertainty]]:
    return [table.uncertainties(part_done) for table in tables]


def _scope(table: ComparisonTable) -> Hashable:
    return tuple(
        (column.labels.key, *(evaluator.key for evaluator in column.evaluators)) for column in table.columns
    )


def levels(
    project: Project,
    snapshot: Snapshot,
    comparison: Comparison,
    evaluator: SetupScores,
    labels: Labels,
    choices: ComparisonChoices,
) -> AsOf[Sequence[CoefficientRow]] | None:
    """Return the levels of the chosen cell; None if there are none yet."""
    key, scope = levels_key(project, snapshot.revision, choices), (evaluator.key, labels.key)
    compute = partial(every_level, comparison, evaluator, labels, choices.constant)
    return present_or_latest(SHORT, key, snapshot, scope, compute, wait_for(snapshot))


def present_or_latest(
    results: BackgroundResults,
    key: Key,
    snapshot: Snapshot,
    scope: Hashable,
    compute: Callable[[], Result],
    wait_s: float | None,
    *,
    parts: int = 1,
) -> AsOf[Result] | None:
    """Return the result of `key`, or while it is being computed that of an earlier revision and same `scope`.

    With `wait_s` None the result is always that of the key, which is of the snapshot's revision.
    """
    revision, n_ratings = snapshot.revision, snapshot.n_ratings
    queue = queue_of(key, results)
    found = queue.result(key, lambda: AsOf(revision, n_ratings, scope, compute()), wait_s, parts=parts)
    if found is not None:
        return found
    earlier: AsOf[Result] | None = queue.latest_before(key)
    return earlier if earlier and earlier.scope == scope else None
