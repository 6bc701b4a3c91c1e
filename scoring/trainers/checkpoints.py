"""The checkpoints of a training, which a kill may leave unfinished."""

import shutil
from pathlib import Path

from scoring.trainers.contract import CannotTrain

BELONGS_TO = "belongs_to.txt"
WHOLE = "whole"
"""Empty file in a checkpoint that was written to its end."""


def claim(checkpoints: Path, digest: str) -> None:
    """Mark the folder as belonging to the digest, and delete checkpoints that a kill left unfinished.

    Raises CannotTrain if it belongs to another digest.
    """
    checkpoints.mkdir(parents=True, exist_ok=True)
    mark = checkpoints / BELONGS_TO
    if mark.exists() and mark.read_text() not in ("", digest):
        raise CannotTrain(
            f"{checkpoints} has checkpoints of a training with other data, parameters or base model. "
            "Delete it or choose another folder."
        )
    mark.write_text(digest)
    for each in checkpoints.glob("checkpoint-*"):
        if not (each / WHOLE).exists():
            shutil.rmtree(each)


def mark_whole(checkpoints: Path, step: int) -> None:
    """Mark the checkpoint of a step as written to its end."""
    (checkpoints / f"checkpoint-{step}" / WHOLE).touch()


def last_whole(checkpoints: Path) -> str | None:
    """Return the path of the latest checkpoint, or None."""
    found = sorted(checkpoints.glob("checkpoint-*"), key=lambda each: int(each.name.rpartition("-")[2]))
    return str(found[-1]) if found else None
