"""The measured effect of bfloat16."""

from scoring.evaluators import EVALUATORS, load_evaluator
from scoring.evaluators.bases.bfloat16 import MOVED


def test_effect_is_measured_for_every_evaluator_with_a_precision():
    assert set(MOVED) == {name for name in EVALUATORS if hasattr(load_evaluator(name).Params, "precision")}
