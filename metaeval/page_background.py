"""What the meta-evaluation page gets from the background: intervals and tests, and the drawn pair's levels.

While those of the present revision are being computed, the latest that are finished stand in, and say so.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from annotation.models import Project
from annotation.templatetags.figures import noun
from metaeval.background import LONG, SHORT, BackgroundResults, Key, Pending
from metaeval.choices import MetaevalChoices
from metaeval.comparison import Comparison, MetaevalTable
from metaeval.drawn_pair import CoefficientRow, every_level
from metaeval.judgements import Evaluator, Labels
from metaeval.points import whole_table
from metaeval.snapshot import Snapshot
from metaeval.uncertainty import Uncertainty

Result = TypeVar("Result")

WAIT_UP_TO = 5_000
"""Summaries, up to which results are so soon there that a page waits for them."""
SOON = 0.3
"""Seconds that it does."""


@dataclass(frozen=True, eq=False)
class AsOf(Generic[Result]):
    """A result with the revision that it is of."""

    revision: int
    n_ratings: int
    beside: Hashable
    """Evaluators and questions: it can stand beside figures of the same ones only."""
    result: Result

    def earlier_than(self, snapshot: Snapshot) -> str:
        """Its revision in words; empty for the snapshot's own."""
        if self.revision == snapshot.revision:
            return ""
        more = snapshot.n_ratings - self.n_ratings
        return f"revision {self.revision:,}" + (f", {noun(more, 'rating,ratings')} ago" if more > 0 else "")


def uncertainties_key(project: Project, revision: int, choices: MetaevalChoices) -> Key:
    """What intervals and tests are kept under."""
    return Key(project.pk, revision, (whole_table(choices), project.only_published))


def levels_key(project: Project, revision: int, choices: MetaevalChoices) -> Key:
    """What the drawn pair's levels are kept under: the same whatever is chosen for the table's figures."""
    usual = MetaevalChoices()
    pair = replace(
        choices,
        level=usual.level,
        coefficient=usual.coefficient,
        interval=usual.interval,
        test=usual.test,
        correction=usual.correction,
    )
    return Key(project.pk, revision, ("levels", pair, project.only_published))


def wait_for(snapshot: Snapshot) -> float:
    """Seconds that a page of this snapshot waits."""
    return SOON if len(snapshot.summaries) <= WAIT_UP_TO else 0


def uncertainties(
    project: Project,
    snapshot: Snapshot,
    table: MetaevalTable,
    choices: MetaevalChoices,
    wait_s: float | None,
) -> AsOf[Sequence[Uncertainty]] | None:
    """Of each column; None if there are none yet. With `wait_s` None those of the present revision."""
    beside = tuple(
        (column.labels.key, *(evaluator.key for evaluator in column.evaluators)) for column in table.columns
    )
    return present_or_latest(
        LONG,
        uncertainties_key(project, snapshot.revision, choices),
        lambda: AsOf(snapshot.revision, snapshot.n_ratings, beside, table.uncertainties()),
        beside,
        wait_s,
    )


def levels(
    project: Project,
    snapshot: Snapshot,
    comparison: Comparison,
    evaluator: Evaluator,
    labels: Labels,
    choices: MetaevalChoices,
) -> AsOf[Sequence[CoefficientRow]] | None:
    """Of the pair that is drawn; None if there are none yet."""
    beside = evaluator.key, labels.key
    return present_or_latest(
        SHORT,
        levels_key(project, snapshot.revision, choices),
        lambda: AsOf(
            snapshot.revision, snapshot.n_ratings, beside, every_level(comparison, evaluator, labels)
        ),
        beside,
        wait_for(snapshot),
    )


def present_or_latest(
    line: BackgroundResults,
    key: Key,
    compute: Callable[[], AsOf[Result]],
    beside: Hashable,
    wait_s: float | None,
) -> AsOf[Result] | None:
    """What is kept under `key`, computed in the background if need be; while that is under way, the latest of
    an earlier revision that can stand `beside` the same figures. With `wait_s` None that of the key."""
    found = line.ready_or_start(key, compute, wait_s)
    if not isinstance(found, Pending):
        return found
    if wait_s is None:  # given up for a newer revision
        return compute()
    earlier: AsOf[Result] | None = line.latest_before(key)
    return earlier if earlier and earlier.beside == beside else None
