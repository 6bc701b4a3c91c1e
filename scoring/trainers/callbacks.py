"""Callbacks between steps: report points, obey cancel requests and patience, mark checkpoints."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from transformers import TrainerCallback
from transformers.trainer_callback import TrainerControl, TrainerState

from scoring.trainers.batches import LengthGroupedBatches
from scoring.trainers.checkpoints import mark_whole
from scoring.trainers.contract import CannotTrain, Point, Watch
from scoring.trainers.learner import Learner
from scoring.trainers.training_clock import TrainingClock

SECONDS = "seconds"
"""The key of the training time so far in the log of a validation."""


class Epochs(TrainerCallback):
    """Tells the batches the epoch, also in a training that goes on in the middle of one."""

    def __init__(self, batches: LengthGroupedBatches) -> None:
        self._batches = batches

    def on_epoch_begin(self, args: Any, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        self._batches.epoch = int(state.epoch or 0)


class Watching(TrainerCallback):
    """Reports points, stops when asked or when patience is over, and marks whole checkpoints."""

    def __init__(self, watch: Watch, learner: Learner, patience: int, examples: int) -> None:
        self._watch = watch
        self._choose_by = f"eval_{learner.choose_by}"
        self._sign = 1 if learner.higher_is_better else -1
        self._patience = patience
        self._examples = examples
        self._clock = TrainingClock()
        self.cancelled = False

    def on_train_begin(self, args: Any, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        earlier = [each[SECONDS] for each in state.log_history if SECONDS in each]
        self._clock = TrainingClock(earlier[-1] if earlier else 0.0, state.global_step)

    def on_step_end(self, args: Any, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        if state.global_step >= state.max_steps:
            control.should_evaluate = control.should_save = True
        if self._watch.is_cancelled():
            self.cancelled = control.should_training_stop = control.should_save = True
            control.should_evaluate |= not self._history(state)

    def on_log(self, args: Any, state: TrainerState, control: TrainerControl, **more: Any) -> None:
        logs = more["logs"]
        if "loss" not in logs:
            return
        if not math.isfinite(logs["loss"]):
            raise CannotTrain(
                f"The loss was no number at step {state.global_step}. Choose a lower learning rate, or "
                "precision float32."
            )
        self._report(args, state, loss=logs["loss"])

    def on_evaluate(self, args: Any, state: TrainerState, control: TrainerControl, **more: Any) -> None:
        self._report(args, state, measures=measures_in(more["metrics"]))
        values = self._history(state)
        since_best = len(values) - 1 - max(range(len(values)), key=lambda place: self._sign * values[place])
        if self._patience and since_best >= self._patience:
            control.should_training_stop = True

    def on_save(self, args: Any, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        mark_whole(Path(args.output_dir), state.global_step)

    def validation_took(self, seconds: float) -> None:
        self._clock.validation_took(seconds)

    def seconds(self) -> float:
        return self._clock.seconds()

    def _history(self, state: TrainerState) -> list[float]:
        """Return what chose the best at each validation so far; the worst number where it was undefined."""
        found = [each[self._choose_by] for each in state.log_history if self._choose_by in each]
        return [-self._sign * math.inf if math.isnan(value) else value for value in found]

    def _report(
        self,
        args: Any,
        state: TrainerState,
        loss: float | None = None,
        measures: Mapping[str, float] | None = None,
    ) -> None:
        per_step = self._examples * (state.num_train_epochs / state.max_steps)
        self._watch.report(
            Point(
                step=state.global_step,
                epoch=state.epoch or 0.0,
                loss=loss,
                measures=measures or {},
                examples_per_s=self._clock.steps_per_s(state.global_step) * per_step,
                seconds_left=self._clock.seconds_left(state.global_step, state.max_steps, args.eval_steps),
            )
        )


def measures_in(logged: Mapping[str, float]) -> dict[str, float]:
    """Return the learner's measures in what the library logged, without undefined ones."""
    return {
        name.removeprefix("eval_"): value
        for name, value in logged.items()
        if name.startswith("eval_") and math.isfinite(value)
    }
