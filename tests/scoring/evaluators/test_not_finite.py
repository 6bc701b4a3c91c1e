"""NaN in weights or in a pass: no number comes out, and other summaries keep their scores."""

import functools
import shutil
import tempfile
from dataclasses import replace
from math import nan
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from scoring.contract.scores import NOT_FINITE, Scored
from scoring.evaluators import EVALUATORS, load_evaluator
from scoring.evaluators.bases.model_evaluator import ModelEvaluator
from scoring.texts.compared_texts import combined
from scoring.weights.model_files import MissingWeights
from tests.scoring.evaluators.test_every_evaluator import ITEMS, WITH_CHOICES, set_up
from tests.scoring.further_cases import with_further

RUNS_A_MODEL = [name for name in EVALUATORS if issubclass(load_evaluator(name), ModelEvaluator)]
ITEM = ITEMS[0]


LARGE = 3e38
"""Finite, but products with it are not."""
OF_T5 = "decoder.final_layer_norm.weight"
GAINS = ("LayerNorm.weight", "layer_norm.weight", "layernorm_embedding.weight")
QUERY = ("query.weight", "q_proj.weight", "SelfAttention.q.weight")
"""Endings of tensors' names."""


@functools.cache
def overflowing(folder: str) -> str:
    """Return a copy of the folder whose norms have such gains that its pass overflows; a table stays."""
    if not Path(folder).is_dir():
        return folder
    copy = Path(tempfile.mkdtemp(prefix="overflowing-"))
    shutil.copytree(folder, copy, dirs_exist_ok=True)
    for path in copy.glob("*.safetensors"):
        tensors = load_file(path)
        endings = OF_T5 if OF_T5 in tensors else GAINS  # T5's other norms would set huge numbers right
        large = {name: torch.full_like(tensors[name], LARGE) for name in tensors if name.endswith(endings)}
        save_file(tensors | large, path, {"format": "pt"})
    return str(copy)


@pytest.mark.parametrize("choices", with_further(["first with its needs"], WITH_CHOICES))
@pytest.mark.parametrize("name", RUNS_A_MODEL)
def test_no_number_comes_out_of_a_pass_that_overflows_whatever_is_chosen(name, choices, subtests):
    for params in WITH_CHOICES[choices](name):
        models = {key: overflowing(each) for key, each in load_evaluator(name).models_for(params).items()}
        evaluator = set_up(name, params=replace(params, **models))
        with subtests.test(params=params):
            [scored] = evaluator.score([ITEM])
            assert set(scored.reasons) == set(evaluator.dimensions)
            assert all(NOT_FINITE in reason for reason in scored.reasons.values()), scored.reasons


@pytest.mark.parametrize("name", RUNS_A_MODEL)
def test_weights_with_nan_are_refused(name, tmp_path):
    """Wherever it is: torch's attention swallows a query of NaN, and the pass's end looks sound."""
    evaluator = set_up(name)
    folder = shutil.copytree(evaluator.folder(), tmp_path / "model")
    [path] = folder.glob("model.safetensors")
    tensors = load_file(path)
    query = next(key for key in tensors if key.endswith(QUERY))
    tensors[query][0, 0] = nan
    save_file(tensors, path, {"format": "pt"})
    spoilt = set_up(name, params=replace(evaluator.params, model=str(folder)))
    with pytest.raises(MissingWeights, match=f"hold NaN or infinity, such as in .*{query[-20:]}"):
        spoilt.score([ITEM])


CHOOSING = {"blanc": {}, "qa": {}, "summaqa": {"measure": "f1"}}
"""Evaluators whose score is made of choices and whose texts have positions, with the parameters for it."""


@pytest.mark.parametrize("name", CHOOSING)
def test_nan_of_one_summary_leaves_the_scores_of_others(name, tmp_path):
    params = replace(set_up(name).params, **CHOOSING[name])
    spoilt = shutil.copytree(params.model, tmp_path / "model")
    path = spoilt / "model.safetensors"
    tensors = load_file(path)
    [positions] = [each for key, each in tensors.items() if "position_embeddings" in key]
    positions[100:] = LARGE
    save_file(tensors, path, {"format": "pt"})
    evaluator = set_up(name, params=replace(params, model=str(spoilt)))
    [whole, without] = evaluator.score([ITEM, replace(ITEM, id="long", summary=ITEM.summary + " Ω" * 100)])
    assert dict(without.reasons) == dict.fromkeys(evaluator.dimensions, NOT_FINITE)
    [expected] = set_up(name, params=params).score([ITEM])
    assert dict(whole.values) == pytest.approx(dict(expected.values), abs=1e-6)


def test_finite_scores_and_existing_reasons_are_kept():
    scored = Scored.computed({"a": 1.0, "b": "no reference", "c": -torch.inf})
    assert scored.values["a"] == 1.0
    assert scored.reasons == {"b": "no reference", "c": NOT_FINITE}


def test_nan_is_not_ignored_when_scores_are_combined(subtests):
    for rule in ["max", "mean", "first", "parts_max", "cut"]:
        with subtests.test(rule=rule):
            assert combined([nan, 1.0], rule) != combined([nan, 1.0], rule)
            assert combined([1.0, 3.0], rule) == {"max": 3, "parts_max": 3, "mean": 2}.get(rule, 1)
