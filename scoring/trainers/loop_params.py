"""The parameters that all trainers share."""

from dataclasses import dataclass
from typing import Any

from annotation.declared.settings import setting
from scoring.trainers.splits import SplitParams

OPTIMISATION, MACHINE = "Optimisation", "Machine"
USUAL_RATES = (1e-6, 1e-2)
"""Learning rates from that of a large model's whole weights to that of a few new weights."""


def base_model_setting(*default: str, details: str) -> Any:
    """Declare the setting `model`, the weights to begin with; without a default it is required."""
    return setting(
        *default,
        label="Base model",
        help="Model to begin with: a folder or a Hugging Face id.",
        is_weights=True,
        details=details,
    )


def learning_rate_setting(
    default: float, *, label: str = "Learning rate", help: str = "Size of a step of AdamW."
) -> Any:
    """Declare a setting for a learning rate of AdamW."""
    return setting(default, label=label, help=help, low=1e-8, high=1.0, usual=USUAL_RATES, group=OPTIMISATION)


def epochs_setting(default: int) -> Any:
    """Declare the setting `epochs`."""
    return setting(
        default,
        label="Epochs",
        help="The most passes over the training examples.",
        low=1,
        high=1000,
        group=OPTIMISATION,
    )


def patience_setting(default: int) -> Any:
    """Declare the setting `patience`."""
    return setting(
        default,
        label="Patience",
        help="Validations in a row without a better one, then stop; 0: never.",
        low=0,
        high=1000,
        group=OPTIMISATION,
    )


@dataclass(frozen=True)
class LoopParams(SplitParams):
    """Settings of the training loop. A method may declare other defaults."""

    learning_rate: float = learning_rate_setting(1e-4)
    schedule: str = setting(
        "constant",
        label="Schedule",
        help="Learning rate after the warm-up.",
        choices={"constant": "constant", "linear": "falling to zero"},
        group=OPTIMISATION,
    )
    warmup_share: float = setting(
        0.0,
        label="Warm-up share",
        help="Share of the steps in which the learning rate rises from zero.",
        low=0.0,
        high=0.5,
        group=OPTIMISATION,
    )
    weight_decay: float = setting(
        0.0,
        label="Weight decay",
        help="Strength of AdamW's decay of weights towards zero.",
        low=0.0,
        high=1.0,
        group=OPTIMISATION,
    )
    epochs: int = epochs_setting(10)
    batch_size: int = setting(
        16, label="Batch size", help="Examples computed together.", low=1, high=4096, group=OPTIMISATION
    )
    accumulation: int = setting(
        1,
        label="Accumulation",
        help="Batches whose gradients make one step.",
        low=1,
        high=1024,
        group=OPTIMISATION,
        details="A step learns from batch size times accumulation examples, with the memory of one batch.",
    )
    validations: int = setting(
        1,
        label="Validations",
        help="Validations per epoch; each writes a checkpoint.",
        low=1,
        high=100,
        group=OPTIMISATION,
    )
    patience: int = patience_setting(3)
    seed: int = setting(
        0,
        label="Seed",
        help="Seed for new weights, dropout and the order of examples.",
        low=0,
        group=OPTIMISATION,
    )
    precision: str = setting(
        "auto",
        label="Precision",
        help="Number format of the passes; weights are kept in float32.",
        choices={
            "auto": "bfloat16 on a GPU that has it",
            "float32": "float32",
            "bfloat16": "bfloat16",
            "float16": "float16",
        },
        group=MACHINE,
        details="bfloat16 is faster only where the processor computes with it. float16 needs a GPU and "
        "overflows in mT5.",
    )
    gradient_checkpointing: bool = setting(
        False,
        label="Gradient checkpointing",
        help="Needs far less memory, and about a third more time.",
        group=MACHINE,
    )
    attention_dropout: bool = setting(
        True,
        label="Attention dropout",
        help="Drop attention as an encoder's configuration says.",
        group=MACHINE,
        details="Without it, a step on a CPU takes half to a quarter of the time. A T5 keeps its dropout.",
    )
