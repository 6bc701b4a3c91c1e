"""Models with more layers than their config.json states: refused by every evaluator, never cut."""

import json
import shutil
from dataclasses import replace

import pytest

from scoring.weights.model_files import MissingWeights
from tests.scoring.evaluators.test_every_evaluator import ITEMS, set_up
from tests.scoring.evaluators.test_not_finite import RUNS_A_MODEL

LAYERS = {
    "num_hidden_layers",
    "num_layers",
    "num_decoder_layers",
    "n_layer",
    "encoder_layers",
    "decoder_layers",
}


@pytest.mark.parametrize("name", RUNS_A_MODEL)
def test_model_with_more_layers_than_stated_is_refused(name, tmp_path, subtests):
    evaluator = set_up(name)
    folder = shutil.copytree(evaluator.folder(), tmp_path / "model")
    whole = json.loads((folder / "config.json").read_text())
    stated = LAYERS & {key for key, value in whole.items() if isinstance(value, int)}
    assert stated
    for key in stated:
        (folder / "config.json").write_text(json.dumps(whole | {key: whole[key] - 1}))
        cut = set_up(name, params=replace(evaluator.params, model=str(folder)))
        with subtests.test(key=key), pytest.raises(MissingWeights, match="no place"):
            cut.score([ITEMS[0]])
