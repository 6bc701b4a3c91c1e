"""The effect of bfloat16 on scores, as measured by benchmarks/evaluators/precision.py."""

from collections.abc import Mapping
from typing import NamedTuple


class Moved(NamedTuple):
    """Differences between scores in bfloat16 and in float32, and the scores' standard deviation."""

    mean: float
    largest: float
    deviation: float

    def __str__(self) -> str:
        return (
            f"moved scores by {self.mean:g} on average and {self.largest:g} at most, where their standard "
            f"deviation was {self.deviation:g} (small random models, 32 summaries)"
        )


MOVED: Mapping[str, Moved] = {
    "bertscore": Moved(0.0003, 0.001, 0.02),
    "moverscore": Moved(0.002, 0.005, 0.08),
    "supert": Moved(0.0007, 0.003, 0.04),
    "similarity": Moved(0.003, 0.02, 0.1),
    "bartscore": Moved(0.0007, 0.002, 0.1),
    "blanc": Moved(0.0008, 0.006, 0.008),
    "unieval": Moved(0.0003, 0.0005, 0.0006),
    "ctc": Moved(3e-05, 0.0004, 0.002),
    "unite": Moved(0.003, 0.007, 0.06),
    "umse": Moved(0.0001, 0.0004, 0.006),
    "seahorse": Moved(0.003, 0.01, 0.02),
    "entailment": Moved(0.002, 0.01, 0.1),
    "true_nli": Moved(0.003, 0.01, 0.02),
    "xnli_mt5": Moved(0.003, 0.01, 0.02),
    "summaqa": Moved(7e-08, 3e-07, 6e-06),
    "qa": Moved(0.05, 0.8, 0.3),
    "ice": Moved(0.001, 0.02, 0.04),
}
"""Evaluator -> what was measured."""
