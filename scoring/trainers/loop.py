"""The training loop: transformers' Trainer with our batches, checkpoints that survive a kill, and curves."""

import gc
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from torch.utils.data import DataLoader
from transformers import TrainerCallback
from transformers.trainer_callback import PrinterCallback, TrainerControl, TrainerState

from scoring.neural.device import device, is_out_of_memory
from scoring.trainers.batches import LengthGroupedBatches
from scoring.trainers.checkpoints import claim, last_whole, mark_whole
from scoring.trainers.contract import CannotTrain, Point, Trained, Watch
from scoring.trainers.learner import Learner
from scoring.trainers.loop_params import LoopParams
from scoring.trainers.validation_intervals import validation_intervals


class TrainingClock:
    """Clock of a training since this process took it up; `earlier` are the seconds before that."""

    def __init__(self, earlier: float = 0.0, first_step: int = 0) -> None:
        self._started = time.monotonic()
        self._earlier = earlier
        self._first_step = first_step
        self._validating = 0.0
        self._validations = 0

    def validation_took(self, seconds: float) -> None:
        self._validating += seconds
        self._validations += 1

    def seconds(self) -> float:
        """Return the seconds of the training in all processes, validations included."""
        return self._earlier + time.monotonic() - self._started

    def steps_per_s(self, step: int) -> float:
        """Return the rate of this process's steps, validations excluded."""
        return (step - self._first_step) / max(1e-9, time.monotonic() - self._started - self._validating)

    def seconds_left(self, step: int, last: int, between_validations: float) -> float | None:
        """Return the seconds to the last step; validations count once one was made."""
        rate = self.steps_per_s(step)
        if not rate:
            return None
        left = last - step
        validation = self._validating / self._validations if self._validations else 0.0
        return left / rate + left / between_validations * validation


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


CHECKPOINTS = "checkpoints"
POINTS = 200
"""About how many points the curve of the loss has."""


def set_seed(seed: int) -> None:
    """Fix new weights, dropout and every other draw. Call it before the model is built."""
    transformers.set_seed(seed)


def run(
    learner: Learner,
    train: Sequence[Any],
    validation: Sequence[Any],
    params: LoopParams,
    folder: Path,
    watch: Watch,
    digest: str,
) -> tuple[Trained, float]:
    """Train `learner.module` to the best checkpoint; return the result and the hours that it took.

    Goes on at the last whole checkpoint in `folder/checkpoints`. `digest` identifies data and parameters.
    Raises CannotTrain for checkpoints with another digest, too little memory, and a loss that is no number.
    """
    checkpoints = folder / CHECKPOINTS
    claim(checkpoints, digest)
    trainer = _Trainer(learner, train, validation, params, checkpoints, watch)
    try:
        with _loaded_modules_left_alone():
            trainer.train(resume_from_checkpoint=last_whole(checkpoints))
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        raise CannotTrain(
            "The memory is too small for a batch. Choose a smaller batch size with more accumulation, "
            "gradient checkpointing, a shorter maximum length, or a smaller model."
        ) from error
    return trainer.result(), trainer.seconds() / 3600


def _autocast_dtype(precision: str) -> torch.dtype:
    """Return the number format of the passes. Raises CannotTrain if the device does not have it."""
    on_gpu = device().type == "cuda"
    if precision == "auto":
        return torch.bfloat16 if on_gpu and torch.cuda.is_bf16_supported() else torch.float32
    if precision == "float16" and not on_gpu:
        raise CannotTrain("precision float16 needs a GPU; choose another one on this machine")
    return {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}[precision]


@contextmanager
def _loaded_modules_left_alone() -> Iterator[None]:
    """Keep the library, which begins by collecting garbage, from searching all that was loaded before.

    The search takes as long as several steps of a small model. On a GPU it takes place: garbage may hold its
    memory.
    """
    if device().type != "cpu":
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


class _Trained(torch.nn.Module):
    """A module whose state is what is trained, so that checkpoints leave out frozen weights."""

    def __init__(self, module: torch.nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, **batch: torch.Tensor) -> Mapping[str, torch.Tensor]:
        found: Mapping[str, torch.Tensor] = self.module(**batch)
        return found

    def state_dict(self, *args: Any, **options: Any) -> dict[str, Any]:  # type: ignore[override]
        trained = {name for name, each in self.named_parameters() if each.requires_grad}
        return {name: each for name, each in super().state_dict(*args, **options).items() if name in trained}

    def load_state_dict(self, state_dict: Mapping[str, Any], *_: Any, **__: Any) -> Any:
        if state_dict.keys() != self.state_dict().keys():
            raise RuntimeError("the checkpoint holds other weights than are trained")
        found = super().load_state_dict(state_dict, strict=False)
        found.missing_keys.clear()  # they are frozen, or tied to others
        return found


class _Trainer(transformers.Trainer):
    def __init__(
        self,
        learner: Learner,
        train: Sequence[Any],
        validation: Sequence[Any],
        params: LoopParams,
        checkpoints: Path,
        watch: Watch,
    ) -> None:
        self._learner = learner
        self._validation = validation
        self._batches = LengthGroupedBatches(
            learner.lengths(train), params.batch_size, params.seed, learner.together
        )
        self._watching = Watching(watch, learner, params.patience, len(train))
        steps = -(-len(self._batches) // params.accumulation)
        total = steps * params.epochs
        between = max(1, round(steps / params.validations))
        self._dtype = dtype = _autocast_dtype(params.precision)
        arguments = transformers.TrainingArguments(
            output_dir=str(checkpoints),
            per_device_train_batch_size=params.batch_size,
            gradient_accumulation_steps=params.accumulation,
            num_train_epochs=params.epochs,
            learning_rate=params.learning_rate,
            lr_scheduler_type="linear" if params.schedule == "linear" else "constant_with_warmup",
            warmup_steps=math.ceil(params.warmup_share * total),
            bf16=dtype == torch.bfloat16,
            fp16=dtype == torch.float16,
            use_cpu=device().type == "cpu",
            seed=params.seed,
            eval_strategy="steps",
            save_strategy="steps",
            eval_steps=between,
            save_steps=between,
            save_total_limit=2,
            load_best_model_at_end=True,
            metric_for_best_model=learner.choose_by,
            greater_is_better=learner.higher_is_better,
            logging_strategy="steps",
            logging_steps=max(1, min(total // POINTS, between)),
            logging_nan_inf_filter=False,
            remove_unused_columns=False,
            report_to="none",
            disable_tqdm=True,
            log_level="error",
        )
        arguments._n_gpu = min(1, arguments.n_gpu)  # `device` has one; several would split each batch
        super().__init__(
            model=_Trained(learner.module.to(device())),
            args=arguments,
            data_collator=learner.batch,
            train_dataset=train,
            eval_dataset=validation,
            optimizers=(
                torch.optim.AdamW(
                    list(learner.parameter_groups()),
                    lr=params.learning_rate,
                    weight_decay=params.weight_decay,
                    fused=True,
                ),
                None,
            ),
            callbacks=[Epochs(self._batches), self._watching],
        )
        self.remove_callback(PrinterCallback)
        # The library believes so of modules that take keywords, and would then not divide by accumulation.
        self.model_accepts_loss_kwargs = False

    def get_train_dataloader(self) -> DataLoader[Any]:
        return DataLoader(
            self.train_dataset,  # type: ignore[arg-type]
            batch_sampler=self._batches,
            collate_fn=self.data_collator,
        )

    def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:
        """Return the learner's measures, under names that begin with eval_."""
        started = time.monotonic()
        measures = self._learner.measures(self._validation, self._validation_outputs())
        found = {f"eval_{name}": value for name, value in measures.items()}
        self._watching.validation_took(time.monotonic() - started)
        self.log({**found, SECONDS: self.seconds()})
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, found)
        return found

    def seconds(self) -> float:
        """Return the seconds of training so far, those before a crash included up to its checkpoint."""
        return self._watching.seconds()

    def result(self) -> Trained:
        """Return the result of a finished training, whose best weights the module has by now.

        Raises CannotTrain if no checkpoint was best.
        """
        best = self.state.best_global_step
        if not best:
            raise CannotTrain(
                f"{self._learner.choose_by} was undefined at every validation: the model gave all examples "
                "the same score. Choose another learning rate or more epochs."
            )
        return Trained(
            best_step=best,
            measures=self._best_measures(best),
            cancelled=self._watching.cancelled,
            steps=self.state.global_step,
            intervals=validation_intervals(
                self._learner.measures, self._validation, self._validation_outputs()
            ),
        )

    def _validation_outputs(self) -> np.ndarray:
        with torch.autocast(device().type, self._dtype, enabled=self._dtype != torch.float32):
            return self._learner.outputs(self._validation, 2 * self.args.per_device_train_batch_size)

    def _best_measures(self, best: int) -> dict[str, float]:
        logged = [each for each in self.state.log_history if each["step"] == best and SECONDS in each]
        return measures_in(logged[-1])
