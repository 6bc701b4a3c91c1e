"""The loop: killed and resumed, cancelled, stopped early, refused."""

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from annotation.declared.settings import read_settings
from scoring.trainers import loop
from scoring.trainers.contract import CannotTrain
from scoring.trainers.loop import TrainingClock
from scoring.trainers.seahorse import SeahorseTrainer
from scoring.weights.model_card import read_card
from tests.scoring.further_cases import with_further
from tests.scoring.tiny_models import tiny_model
from tests.scoring.trainers.training_items import Watching, learnable_items


@pytest.fixture
def clock(monkeypatch):
    """Return a list whose only entry is the time in seconds."""
    now = [100.0]
    monkeypatch.setattr(loop.time, "monotonic", lambda: now[0])
    return now


def test_time_left_counts_steps_and_validations(clock):
    ours = TrainingClock(first_step=10)
    clock[0] += 20
    ours.validation_took(10)
    assert ours.steps_per_s(15) == pytest.approx(0.5)
    assert ours.seconds_left(15, last=35, between_validations=10) == pytest.approx(20 / 0.5 + 2 * 10)
    assert ours.seconds_left(35, last=35, between_validations=10) == 0


def test_nothing_is_estimated_before_the_first_step(clock):
    assert TrainingClock(first_step=10).seconds_left(10, last=20, between_validations=5) is None


def test_the_time_of_earlier_processes_counts(clock):
    ours = TrainingClock(earlier=3600)
    clock[0] += 60
    assert ours.seconds() == 3660


ROOT = Path(__file__).resolve().parents[3]
SETTINGS = {
    "dimensions": "attribution",
    "learning_rate": "0.003",
    "max_length": "128",
    "batch_size": "16",
    "epochs": "3",
    "validations": "2",
    "patience": "0",
}
"""Twelve steps, with a checkpoint after every second one."""


@pytest.fixture(scope="module")
def base():
    return str(tiny_model("bert"))


def trainer(**settings):
    return SeahorseTrainer(read_settings(SeahorseTrainer.Params, {**SETTINGS, **settings}, of="seahorse"))


def train(folder, watch=None, items=None, **settings):
    ours = trainer(**settings)
    return ours.train(ours.prepare(items or learnable_items()), folder, watch or Watching())


def kill(folder, base, step):
    command = [sys.executable, "-m", "tests.scoring.trainers.killed_training"]
    settings = json.dumps({**SETTINGS, "model": base})
    killed = subprocess.run([*command, str(folder), str(step), settings], cwd=ROOT, check=False)
    assert killed.returncode == -signal.SIGKILL


def interrupt(folder, base, step):
    """Stop a training as abruptly as a process can that goes on, which saves loading the libraries again."""
    with pytest.raises(KeyboardInterrupt):
        train(folder, StoppedAtStep(step), model=base)


class StoppedAtStep(Watching):
    def __init__(self, step):
        super().__init__()
        self._step = step

    def is_cancelled(self):
        self._step -= 1
        if not self._step:
            raise KeyboardInterrupt
        return False


@pytest.mark.parametrize("end", with_further([interrupt], [interrupt, kill]))
def test_a_killed_training_goes_on_and_ends_with_the_same_loss(end, base, tmp_path):
    end(tmp_path / "killed", base, 8)
    assert not (tmp_path / "killed" / "model").exists()
    (tmp_path / "killed" / "checkpoints" / "checkpoint-7").mkdir()  # one that a kill left unfinished
    resumed, straight = Watching(), Watching()
    after_kill = train(tmp_path / "killed", resumed, model=base)
    never_killed = train(tmp_path / "straight", straight, model=base)
    assert min(resumed.losses) == 7
    assert max(straight.losses) == max(resumed.losses) == 12
    for step, loss in resumed.losses.items():
        assert loss == pytest.approx(straight.losses[step], abs=1e-3)
    assert after_kill == never_killed
    cards = [read_card(tmp_path / name / "model") for name in ("killed", "straight")]
    assert cards[0].weights_sha256 == cards[1].weights_sha256


def test_a_cancelled_training_keeps_the_best_so_far_and_can_go_on(base, tmp_path):
    watch = Watching(cancel_at=5)
    cancelled = train(tmp_path, watch, model=base)
    assert cancelled.cancelled
    assert cancelled.steps == 5
    assert cancelled.measures == watch.validations[cancelled.best_step]
    assert read_card(tmp_path / "model").measures == cancelled.measures
    later = Watching()
    finished = train(tmp_path, later, model=base)
    assert (finished.steps, finished.cancelled) == (12, False)
    assert [*watch.losses, *later.losses] == list(range(1, 13))


def test_cancelling_before_the_first_validation_validates_once(base, tmp_path):
    watch = Watching(cancel_at=1)
    assert train(tmp_path, watch, model=base).best_step == 1
    assert list(watch.validations) == [1]


def test_training_stops_early_when_validations_get_no_better(base, tmp_path):
    watch = Watching()
    found = train(tmp_path, watch, model=base, learning_rate="1e-8", patience="2", epochs="20", best_by="auc")
    values = [each["validation_auc"] for each in watch.validations.values()]
    best = values.index(max(values))
    assert len(values) == best + 3 < 40
    assert found.best_step == list(watch.validations)[best]


def test_the_best_checkpoint_is_saved_not_the_last(base, tmp_path):
    watch = Watching()
    found = train(tmp_path, watch, model=base, best_by="loss", learning_rate="0.05")
    losses = {step: each["validation_loss"] for step, each in watch.validations.items()}
    assert found.best_step == min(losses, key=losses.get)
    assert found.measures["validation_loss"] == losses[found.best_step]


def test_points_say_how_far_how_fast_and_how_long_still(base, tmp_path):
    watch = Watching()
    train(tmp_path, watch, model=base)
    assert [each.step for each in watch.points] == sorted(each.step for each in watch.points)
    assert watch.points[-1].epoch == 3
    assert watch.points[-1].seconds_left == 0
    assert all(each.examples_per_s > 0 and each.seconds_left >= 0 for each in watch.points)


def test_checkpoints_of_other_parameters_or_data_are_refused(base, tmp_path):
    train(tmp_path, Watching(cancel_at=1), model=base)
    with pytest.raises(CannotTrain, match="other data, parameters or base model"):
        train(tmp_path, model=base, seed="1")
    with pytest.raises(CannotTrain, match="other data, parameters or base model"):
        train(tmp_path, model=base, items=learnable_items(seed=1))
    shutil.rmtree(tmp_path / "checkpoints")
    assert train(tmp_path, model=base, epochs="1", seed="1").steps == 4


def test_a_loss_that_is_no_number_ends_the_training_with_advice(base, tmp_path):
    broken = tmp_path / "broken"
    shutil.copytree(base, broken)
    tensors = load_file(broken / "model.safetensors")
    tensors["encoder.layer.0.output.dense.bias"] += 1e38  # overflows in the pass
    save_file(tensors, broken / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(CannotTrain, match=r"no number at step 1[.] Choose a lower learning rate"):
        train(tmp_path, model=str(broken))


def test_float16_needs_a_gpu(base, tmp_path):
    from scoring.neural.device import device

    if device().type == "cuda":
        pytest.skip("has a GPU")
    with pytest.raises(CannotTrain, match="needs a GPU"):
        train(tmp_path, model=base, precision="float16")


def test_bfloat16_trains(base, tmp_path):
    found = train(tmp_path, model=base, precision="bfloat16", epochs="1")
    assert found.measures["validation_loss"] > 0
