"""The table of trainers, methods that train an evaluator. Their modules are imported on first use."""

import difflib
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scoring.trainers.contract import Trainer

TRAINERS = {
    "seahorse": "scoring.trainers.seahorse.SeahorseTrainer",
    "umse": "scoring.trainers.umse.UmseTrainer",
}
"""Name of a method -> its class, in display order."""


class UnknownTrainer(LookupError):
    """There is no trainer of that name; the message suggests similar ones."""


def load_trainer(name: str) -> "type[Trainer]":
    """Return the class of the named trainer. Raises UnknownTrainer."""
    if name not in TRAINERS:
        near = difflib.get_close_matches(name, TRAINERS)
        advice = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(TRAINERS)}"
        raise UnknownTrainer(f"no trainer is called {name!r}; {advice}")
    module, _, class_name = TRAINERS[name].rpartition(".")
    trainer: type[Trainer] = getattr(import_module(module), class_name)
    return trainer
