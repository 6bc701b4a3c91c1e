"""Reading stored replies again with the present reader, without asking the model.

The scores belong to a new setup, since the fingerprint includes the reader. Old scores stay.
"""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from scoring.contract.evaluator import Evaluator, EvaluatorError
from scoring.contract.fingerprints import earlier_fingerprint, fingerprint, identity
from scoring.contract.params import with_defaults
from scoring.contract.scores import Scored
from scoring.errors import InvalidRun
from scoring.evaluators.ice import Ice
from scoring.models import Run, Score, Setup
from scoring.runs.lifecycle import refuse_unfinished
from scoring.runs.planning import RunPlan, stored_setup
from scoring.runs.recording import record_finished_run
from scoring.runs.worker import fitted
from scoring.sealed_labels.seal import copy_trials


@dataclass(frozen=True)
class Kept:
    """Stored scores of one summary, by dimension. A value is nan if there is a reason instead."""

    values: Mapping[str, float]
    reasons: Mapping[str, str]
    replies: Mapping[str, str]
    inputs: str


@dataclass(frozen=True)
class Reparsing:
    """A setup's replies as the present reader reads them, not yet stored."""

    setup: Setup
    evaluator: Evaluator
    kept: Mapping[int, Kept]
    scored: Mapping[int, Scored]
    """New scores by summary id, as is `kept`."""

    @property
    def is_by_another_reader(self) -> bool:
        known = fingerprint(self.evaluator), earlier_fingerprint(self.evaluator)
        return self.setup.fingerprint not in known

    @property
    def replies(self) -> int:
        return sum(1 for _ in self._pairs())

    @property
    def appeared(self) -> int:
        return sum(math.isnan(old) and not math.isnan(new) for old, new in self._pairs())

    @property
    def vanished(self) -> int:
        return sum(math.isnan(new) and not math.isnan(old) for old, new in self._pairs())

    @property
    def changed(self) -> int:
        """Number of values that changed, without those that appeared or vanished."""
        return sum(abs(old - new) > 0 for old, new in self._pairs())

    @property
    def reasons(self) -> dict[str, int]:
        """Reason -> number of replies that give no score because of it."""
        counts: dict[str, int] = {}
        for pk, each in self.scored.items():
            for dimension, reason in each.reasons.items():
                if self.kept[pk].replies[dimension]:
                    counts[reason] = counts.get(reason, 0) + 1
        return counts

    def _pairs(self) -> Iterator[tuple[float, float]]:
        """Yield the old and the new value of every reply."""
        for pk, kept in self.kept.items():
            for dimension, reply in kept.replies.items():
                if reply:
                    yield kept.values[dimension], self.scored[pk].values[dimension]


def reparse(setup: Setup) -> Reparsing:
    """Read all stored replies of `setup` again.

    Raises InvalidRun if it has none, or if this version would send other prompts: its fingerprint would then
    be wrong for these replies.
    """
    try:
        evaluator = fitted(setup)
    except EvaluatorError as error:
        raise InvalidRun(str(error)) from error
    if not isinstance(evaluator, Ice):
        raise InvalidRun(f"{setup.label} asks no language model, so it has no replies.")
    differing = _asked_differently(setup.provenance, evaluator)
    if differing:
        raise InvalidRun(
            f"{setup.label} was asked with other settings ({', '.join(differing)}), so its replies do not "
            "answer the present prompts. Start a new run instead."
        )
    kept = _kept(setup, evaluator.dimensions)
    return Reparsing(
        setup,
        evaluator,
        kept,
        {pk: evaluator.reparse(each.replies, each.reasons) for pk, each in kept.items()},
    )


def store_reparsed(reparsing: Reparsing) -> Run:
    """Store the scores as a finished run of the setup with the present fingerprint.

    Existing scores of that setup stay. Raises RunBusy if a run of either setup is in progress.
    """
    evaluator, old = reparsing.evaluator, reparsing.setup
    planned = RunPlan(
        project=old.project,
        evaluator=evaluator,
        fingerprint=fingerprint(evaluator),
        pool={int(pk): labels for pk, labels in old.pool.items()},
        corpus=tuple(old.corpus),
        to_score=tuple(reparsing.scored),
        reused=0,
        foreseen={},
    )
    with transaction.atomic():
        setup = stored_setup(planned)
        refuse_unfinished(Run.objects.of_scores().filter(setup__in=(old, setup)))
        inputs = {pk: each.inputs for pk, each in reparsing.kept.items()}
        run = record_finished_run(setup, reparsing.scored, inputs)
        copy_trials(setup, old, run)
        return run


def _kept(setup: Setup, dimensions: tuple[str, ...]) -> dict[int, Kept]:
    """Return the stored scores by summary id, of summaries with scores on all dimensions."""
    rows: dict[int, list[Score]] = {}
    for score in Score.objects.filter(setup=setup, dimension__in=dimensions).order_by("summary"):
        rows.setdefault(score.summary_id, []).append(score)
    return {
        pk: Kept(
            values={each.dimension: math.nan if each.value is None else each.value for each in scores},
            reasons={each.dimension: each.reason for each in scores if each.value is None},
            replies={each.dimension: each.explanation for each in scores},
            inputs=scores[0].inputs,
        )
        for pk, scores in rows.items()
        if len(scores) == len(dimensions)
    }


def _asked_differently(then: Mapping[str, Any], evaluator: Evaluator) -> list[str]:
    """Return the names of parts of the evaluator's identity that changed, except its reader.

    Parameters added since count with their defaults.
    """
    one = _parts({**then, "params": with_defaults(type(evaluator), then.get("params", {}))})
    two = _parts(json.loads(json.dumps(identity(evaluator))))
    unused = {f"parameter {name}" for name in evaluator.unused_params(evaluator.params)}
    return sorted(name for name in (one.keys() | two.keys()) - unused if one.get(name) != two.get(name))


def _parts(found: Mapping[str, Any]) -> dict[str, Any]:
    parts = {name: part for name, part in found.items() if name not in ("params", "provenance")}
    parts |= {f"parameter {name}": value for name, value in found.get("params", {}).items()}
    return parts | {name: part for name, part in found.get("provenance", {}).items() if name != "reader"}
