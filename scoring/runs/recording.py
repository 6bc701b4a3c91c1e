"""Storing a batch's scores."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from django.db import transaction

from annotation.database.bulk_insert import insert_rows
from annotation.models import Changed, ProjectChange, Summary
from annotation.protocol import LARGEST_NUMBER
from scoring.contract.scores import Scored, shares_in_words
from scoring.models import Batch, RecheckScore, Run, Score
from scoring.runs.lifecycle import finish_if_complete, locked_run

LONGEST_REASON = 500  # characters


class NewScore(NamedTuple):
    """A score to store, as the database holds it. Model objects would take twice as long."""

    summary: int
    dimension: str
    value: float | None
    reason: str
    explanation: str
    inputs: str


def record_scores(batch: Batch, scored: Mapping[int, Scored], inputs: Mapping[int, str]) -> bool:
    """Store a claimed batch's scores and finish it; False, with nothing written, if its lease was lost.

    `scored` and `inputs` are by summary id. New rows replace reasons, and values computed from other texts.
    Scores of a recheck are stored separately. The last batch finishes the run.
    """
    rows = _rows(scored, inputs)
    missing = {(row.summary, row.reason) for row in rows if row.reason}
    with transaction.atomic():
        run = locked_run(batch.run_id)
        finished = batch.finish(
            unscored=len({summary_id for summary_id, _ in missing}),
            reasons=Counter(reason for _, reason in missing),
            cut=sum(bool(each.shares_read) for each in scored.values()),
        )
        if run is None or not finished:
            return False
        if batch.repetition:
            insert_rows(
                RecheckScore,
                ("run", "repetition", *NewScore._fields),
                [(run.pk, batch.repetition, *row) for row in _still_there(rows)],
            )
        else:
            _write(run, rows)
            run.setup.project.bump_revision(Changed(ProjectChange.Kind.BATCH, batch.pk))
        finish_if_complete(run)
    return True


def _rows(scored: Mapping[int, Scored], inputs: Mapping[int, str]) -> list[NewScore]:
    return [
        NewScore(
            summary_id,
            dimension,
            *_value_or_reason(each, dimension),
            each.explanations.get(dimension) or shares_in_words(each.shares_read),
            inputs.get(summary_id, ""),
        )
        for summary_id, each in scored.items()
        for dimension in each.values
    ]


def _value_or_reason(scored: Scored, dimension: str) -> tuple[float | None, str]:
    value = scored.values[dimension]
    if abs(value) <= LARGEST_NUMBER:
        return float(value), ""
    reason = scored.reasons.get(dimension) or f"the evaluator gave {value:g}"
    return None, reason[:LONGEST_REASON]


def _write(run: Run, rows: list[NewScore]) -> None:
    """Insert `rows`, replacing reasons and values computed from other texts."""
    there = Score.objects.filter(
        setup=run.setup_id,
        dimension__in={row.dimension for row in rows},
        summary__in={row.summary for row in rows},
    ).values_list("pk", "summary", "dimension", "value", "inputs")
    inputs = {(row.summary, row.dimension): row.inputs for row in rows}
    valid, outdated = set(), []
    for pk, summary, dimension, value, digest in there:
        key = (summary, dimension)
        if value is not None and digest == inputs[key]:
            valid.add(key)
        else:
            outdated.append(pk)
    Score.objects.filter(pk__in=outdated).delete()
    insert_rows(
        Score,
        ("setup", "run", *NewScore._fields),
        [
            (run.setup_id, run.pk, *row)
            for row in _still_there(rows)
            if (row.summary, row.dimension) not in valid
        ],
    )


def _still_there(rows: list[NewScore]) -> list[NewScore]:
    """Return the rows whose summaries still exist."""
    asked = Summary.objects.filter(pk__in={row.summary for row in rows})
    found = set(asked.values_list("pk", flat=True))
    return [row for row in rows if row.summary in found]
