"""What every trainer declares."""

import subprocess
import sys
from pathlib import Path

import pytest

from annotation.declared.settings import read_settings, settings_of
from scoring.evaluators import EVALUATORS
from scoring.trainers import TRAINERS, load_trainer
from scoring.trainers.loop_params import LoopParams
from tests.declarations import declaration_problems

DECLARATIONS = """
import sys
from scoring.trainers import TRAINERS, load_trainer
for name in TRAINERS:
    load_trainer(name)
import scoring.trainers.resources
heavy = {"torch", "transformers", "peft", "numpy", "scipy", "django"} & set(sys.modules)
assert not heavy, heavy
"""


@pytest.mark.parametrize("name", TRAINERS)
class TestEveryTrainer:
    def test_says_what_it_is(self, name):
        trainer = load_trainer(name)
        assert trainer.name == name
        assert name in EVALUATORS
        assert trainer.title
        assert trainer.source
        assert trainer.help.endswith(".")
        assert trainer.__doc__
        assert issubclass(trainer.Params, LoopParams)

    def test_every_parameter_has_a_label_and_a_short_help_text(self, name):
        declared = settings_of(load_trainer(name).Params)
        assert [problem for each in declared for problem in declaration_problems(each)] == []
        assert len({each.label for each in declared}) == len(declared)


def test_a_question_that_is_named_twice_is_refused():
    given = {"model": "any", "dimensions": "fluent, attribution,fluent"}
    with pytest.raises(ValueError, match="'dimensions': found 'fluent' more than once"):
        read_settings(load_trainer("seahorse").Params, given, of="seahorse", noun="parameter")


def test_reading_declarations_loads_no_library_of_models():
    root = Path(__file__).resolve().parents[3]
    subprocess.run([sys.executable, "-c", DECLARATIONS], cwd=root, check=True)
