"""Storing a batch's scores, or a whole run's when no worker computed them."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.database.portions import portions
from annotation.models import Changed, ProjectChange, Summary
from annotation.protocol import LARGEST_NUMBER
from scoring.contract.scores import Scored, shares_in_words
from scoring.inputs.items import CHUNK
from scoring.models import Batch, RecheckScore, Run, Score, Setup
from scoring.runs.lifecycle import finish_if_complete, locked_run

LONGEST_REASON = 500  # characters


def record_scores(batch: Batch, scored: Mapping[int, Scored], inputs: Mapping[int, str]) -> bool:
    """Store a claimed batch's scores and finish it; False, with nothing written, if its lease was lost.

    `scored` and `inputs` are by summary id. New rows replace reasons, and values computed from other texts.
    Scores of a recheck are stored separately. The last batch finishes the run.
    """
    rows = _rows(batch.run, scored, inputs)
    missing = {(row.summary_id, row.reason) for row in rows if row.reason}
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
            RecheckScore.objects.bulk_create(
                RecheckScore.copy_of(row, run, batch.repetition) for row in _still_there(rows)
            )
        else:
            _write(run.setup_id, rows)
            run.setup.project.bump_revision(Changed(ProjectChange.Kind.BATCH, batch.pk))
        finish_if_complete(run)
    return True


def record_finished_run(setup: Setup, scored: Mapping[int, Scored], inputs: Mapping[int, str]) -> Run:
    """Store a finished run with scores that no worker computed. Existing values stay.

    The caller must have locked `setup`, which must have no unfinished run. `scored` and `inputs` are as in
    `record_scores`.
    """
    now = timezone.now()
    run = Run.objects.create(
        setup=setup, total=len(scored), status=Run.Status.DONE, started_at=now, finished_at=now
    )
    for portion in portions(scored.items(), CHUNK):
        _write(setup.pk, _rows(run, dict(portion), inputs))
    setup.project.bump_revision()
    return run


def _rows(run: Run, scored: Mapping[int, Scored], inputs: Mapping[int, str]) -> list[Score]:
    return [
        Score(
            setup_id=run.setup_id,
            run=run,
            summary_id=summary_id,
            dimension=dimension,
            explanation=each.explanations.get(dimension) or shares_in_words(each.shares_read),
            inputs=inputs.get(summary_id, ""),
            **_value_or_reason(each, dimension),
        )
        for summary_id, each in scored.items()
        for dimension in each.values
    ]


def _value_or_reason(scored: Scored, dimension: str) -> dict[str, Any]:
    value = scored.values[dimension]
    if abs(value) <= LARGEST_NUMBER:
        return {"value": value, "reason": ""}
    reason = scored.reasons.get(dimension) or f"the evaluator gave {value:g}"
    return {"value": None, "reason": reason[:LONGEST_REASON]}


def _write(setup_id: int, rows: list[Score]) -> None:
    """Insert `rows`, replacing reasons and values computed from other texts."""
    there = Score.objects.filter(
        setup=setup_id,
        dimension__in={row.dimension for row in rows},
        summary__in={row.summary_id for row in rows},
    )
    inputs = {(row.summary_id, row.dimension): row.inputs for row in rows}
    valid, outdated = set(), []
    for score in there:
        key = (score.summary_id, score.dimension)
        if score.value is not None and score.inputs == inputs[key]:
            valid.add(key)
        else:
            outdated.append(score.pk)
    Score.objects.filter(pk__in=outdated).delete()
    Score.objects.bulk_create(
        (row for row in _still_there(rows) if (row.summary_id, row.dimension) not in valid),
        batch_size=CHUNK,
    )


def _still_there(rows: list[Score]) -> list[Score]:
    """Return the rows whose summaries still exist."""
    asked = Summary.objects.filter(pk__in={row.summary_id for row in rows})
    found = set(asked.values_list("pk", flat=True))
    return [row for row in rows if row.summary_id in found]
