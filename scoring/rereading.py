"""Reading the replies that a run kept by the present reader: at no cost, nobody is asked again.

The scores that they give make a setup of their own, since the fingerprint names the reader; old ones stay.
"""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from django.db import transaction

from scoring.alignment.seal import keep_as_trial
from scoring.contract import Evaluator, EvaluatorError, Scored
from scoring.errors import InvalidRun, RunBusy
from scoring.fingerprints import fingerprint, identity
from scoring.models import EvaluatorSetup, Run, Score
from scoring.params import with_defaults
from scoring.planning import RunPlan, stored_setup
from scoring.runs import record_finished_run
from scoring.working import fitted


@runtime_checkable
class ReadsReplies(Protocol):
    """An evaluator that keeps what a model replied as the explanation of its scores.

    The version of its reader is `reader` in its provenance.
    """

    def reread(self, replies: Mapping[str, str], reasons: Mapping[str, str]) -> Scored:
        """A summary's scores from what was kept of it: replies and reasons by dimension."""
        ...


@dataclass(frozen=True)
class Kept:
    """What a setup has of one summary, by dimension; `values` has nan where a reason stands."""

    values: Mapping[str, float]
    reasons: Mapping[str, str]
    replies: Mapping[str, str]
    inputs: str


@dataclass(frozen=True)
class Rereading:
    """A setup's replies as the present reader reads them; nothing of it is stored yet."""

    setup: EvaluatorSetup
    evaluator: Evaluator
    kept: Mapping[int, Kept]
    scored: Mapping[int, Scored]
    """By summary id, as is `kept`."""

    @property
    def is_by_another_reader(self) -> bool:
        return fingerprint(self.evaluator) != self.setup.fingerprint

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
        """Values that are other ones now, not counting those that appeared or vanished."""
        return sum(abs(old - new) > 0 for old, new in self._pairs())

    @property
    def reasons(self) -> dict[str, int]:
        """Why replies give no score -> how many."""
        counts: dict[str, int] = {}
        for pk, each in self.scored.items():
            for dimension, reason in each.reasons.items():
                if self.kept[pk].replies[dimension]:
                    counts[reason] = counts.get(reason, 0) + 1
        return counts

    def _pairs(self) -> Iterator[tuple[float, float]]:
        """Old and new value of every reply."""
        for pk, kept in self.kept.items():
            for dimension, reply in kept.replies.items():
                if reply:
                    yield kept.values[dimension], self.scored[pk].values[dimension]


def reread(setup: EvaluatorSetup) -> Rereading:
    """Read all replies that `setup` keeps.

    Raises InvalidRun if it keeps none, or if this version would have asked in another way: its fingerprint
    would then tell something untrue of them.
    """
    try:
        evaluator = fitted(setup)
    except EvaluatorError as error:
        raise InvalidRun(str(error)) from error
    if not isinstance(evaluator, ReadsReplies):
        raise InvalidRun(f"{setup.label} asks no language model: there are no replies to read.")
    differing = _asked_differently(setup.provenance, evaluator)
    if differing:
        raise InvalidRun(
            f"{setup.label} was asked in another way than today ({', '.join(differing)}), so its "
            "replies cannot count as replies to the present prompts. Start a new run instead."
        )
    kept = _kept(setup, evaluator.dimensions)
    return Rereading(
        setup,
        evaluator,
        kept,
        {pk: evaluator.reread(each.replies, each.reasons) for pk, each in kept.items()},
    )


def keep(rereading: Rereading) -> Run:
    """Store the scores as a finished run of the setup with the present fingerprint.

    What that setup has computed already stays. Raises RunBusy if a run of either setup is under way.
    """
    evaluator, old = rereading.evaluator, rereading.setup
    planned = RunPlan(
        project=old.project,
        evaluator=evaluator,
        fingerprint=fingerprint(evaluator),
        pool={int(pk): labels for pk, labels in old.pool.items()},
        corpus=tuple(old.corpus),
        to_score=tuple(rereading.scored),
        reused=0,
        foreseen={},
    )
    with transaction.atomic():
        setup = stored_setup(planned)
        unfinished = Run.objects.filter(setup__in=(old, setup), status__in=Run.UNFINISHED).first()
        if unfinished is not None:
            raise RunBusy(f"{unfinished.setup.label} is being computed, by run {unfinished.pk}.")
        inputs = {pk: each.inputs for pk, each in rereading.kept.items()}
        run = record_finished_run(setup, rereading.scored, inputs)
        keep_as_trial(setup, old, run)
        return run


def _kept(setup: EvaluatorSetup, dimensions: tuple[str, ...]) -> dict[int, Kept]:
    """Summary id -> what the setup has of it, for summaries with all dimensions."""
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
    """Names of what in an evaluator's identity is another one now, but for its reader.

    A parameter that came later had the meaning of its default then: else the version would be another one.
    """
    one = _parts({**then, "params": with_defaults(type(evaluator), then.get("params", {}))})
    two = _parts(json.loads(json.dumps(identity(evaluator))))
    return sorted(name for name in one.keys() | two.keys() if one.get(name) != two.get(name))


def _parts(found: Mapping[str, Any]) -> dict[str, Any]:
    parts = {name: part for name, part in found.items() if name not in ("params", "provenance")}
    parts |= {f"parameter {name}": value for name, value in found.get("params", {}).items()}
    return parts | {name: part for name, part in found.get("provenance", {}).items() if name != "reader"}
