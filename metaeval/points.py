"""What the meta-evaluation page shows at once, whichever figure is drawn; kept as long as it is current."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Lock
from weakref import WeakKeyDictionary

import numpy as np

from metaeval.ceiling import ceiling
from metaeval.choices import MetaevalChoices
from metaeval.comparison import MetaevalTable
from metaeval.metaeval_report import metaeval_table
from metaeval.snapshot import Snapshot
from metaeval.stats.result import Estimate

KEPT_TABLES = 3
"""Of one snapshot: a table of ten evaluators on a hundred thousand summaries holds up to 100 MB."""


@dataclass(frozen=True, eq=False)
class Points:
    table: MetaevalTable
    """Its figures are computed."""
    ceilings: Sequence[Estimate]
    """What one rater reaches against the others, on each column; none where there is no figure."""
    n_labelled: int
    n_articles: int
    n_systems: int


def points_of(snapshot: Snapshot, choices: MetaevalChoices) -> Points:
    """The figures by these choices. Raises DomainError for a choice that does not exist."""
    choices = whole_table(choices)
    with _lock:
        found = _kept.get(snapshot, {}).get(choices)
    if found is None:
        found = _computed(snapshot, choices)
        with _lock:
            kept = _kept.setdefault(snapshot, {})
            kept[choices] = found
            while len(kept) > KEPT_TABLES:
                del kept[next(iter(kept))]
    return found


def whole_table(choices: MetaevalChoices) -> MetaevalChoices:
    """The choices without that of the figure which is drawn."""
    return replace(choices, evaluator="", question="")


_kept: WeakKeyDictionary[Snapshot, dict[MetaevalChoices, Points]] = WeakKeyDictionary()
_lock = Lock()


def _computed(snapshot: Snapshot, choices: MetaevalChoices) -> Points:
    table = metaeval_table(snapshot, choices, choices.method)
    labels = [column.labels.values for column in table.columns]
    labelled = table.comparison.counted & ~np.all([np.isnan(values) for values in labels], axis=0)
    return Points(
        table=table,
        ceilings=_ceilings(snapshot, table, choices) if table.figures() else (),
        n_labelled=int(labelled.sum()),
        n_articles=len(np.unique(snapshot.summaries.articles[labelled])),
        n_systems=len(np.unique(snapshot.summaries.systems[labelled])),
    )


def _ceilings(snapshot: Snapshot, table: MetaevalTable, choices: MetaevalChoices) -> list[Estimate]:
    by_key = {ratings.question.key: ratings for ratings in snapshot.human.questions}
    return [
        ceiling(
            snapshot.summaries,
            snapshot.human,
            by_key[column.labels.key],
            column.labels,
            table.comparison.counted,
            level=choices.level,
            coefficient=choices.coefficient,
            group=choices.group,
        )
        for column in table.columns
    ]
