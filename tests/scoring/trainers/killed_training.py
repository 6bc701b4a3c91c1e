"""A training in a process of its own, which kills itself: python -m ... FOLDER STEP SETTINGS."""

import json
import os
import signal
import sys
from pathlib import Path

from annotation.declared.settings import read_settings
from scoring.trainers.seahorse import SeahorseTrainer
from tests.scoring.trainers.training_items import Watching, learnable_items


class KilledAtStep(Watching):
    def __init__(self, step: int) -> None:
        super().__init__()
        self._step = step

    def is_cancelled(self) -> bool:
        self._step -= 1
        if not self._step:
            os.kill(os.getpid(), signal.SIGKILL)
        return False


if __name__ == "__main__":
    folder, step, settings = sys.argv[1:]
    trainer = SeahorseTrainer(read_settings(SeahorseTrainer.Params, json.loads(settings), of="seahorse"))
    trainer.train(trainer.prepare(learnable_items()), Path(folder), KilledAtStep(int(step)))
