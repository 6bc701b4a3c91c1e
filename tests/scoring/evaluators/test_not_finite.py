"""Weights with NaN: no number comes out, the summary gets a reason, and others keep their scores."""

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
from scoring.neural.tokens import TextTokenizer
from scoring.texts.compared_texts import combined
from tests.scoring.evaluators.test_every_evaluator import ITEMS, set_up, with_each_choice

RUNS_A_MODEL = [name for name in EVALUATORS if issubclass(load_evaluator(name), ModelEvaluator)]
ITEM = ITEMS[0]


@functools.cache
def damaged(folder: str) -> str:
    """Return a copy of the folder in which every weight is NaN; a table stays as it is."""
    if not Path(folder).is_dir():
        return folder
    copy = Path(tempfile.mkdtemp(prefix="damaged-"))
    shutil.copytree(folder, copy, dirs_exist_ok=True)
    for path in copy.glob("*.safetensors"):
        tensors = {
            key: torch.full_like(each, nan) if each.is_floating_point() else each
            for key, each in load_file(path).items()
        }
        save_file(tensors, path, {"format": "pt"})
    return str(copy)


@pytest.mark.parametrize("name", RUNS_A_MODEL)
def test_no_number_comes_out_of_damaged_weights_whatever_is_chosen(name, subtests):
    for params in with_each_choice(name):
        models = {key: damaged(each) for key, each in load_evaluator(name).models_for(params).items()}
        evaluator = set_up(name, params=replace(params, **models))
        with subtests.test(params=params):
            [scored] = evaluator.score([ITEM])
            assert set(scored.reasons) == set(evaluator.dimensions)
            assert all(NOT_FINITE in reason for reason in scored.reasons.values()), scored.reasons


CHOOSING = {
    "blanc": {},
    "qa": {},
    "seahorse": {"measure": "decision"},
    "summaqa": {"measure": "f1"},
    "true_nli": {"measure": "decision"},
    "xnli_mt5": {"measure": "decision"},
}
"""Evaluators whose score is made of choices, with the parameters that make it so."""


@pytest.mark.parametrize("name", CHOOSING)
def test_nan_of_one_summary_leaves_the_scores_of_others(name, tmp_path):
    params = replace(set_up(name).params, **CHOOSING[name])
    spoilt = shutil.copytree(params.model, tmp_path / "model")
    path = spoilt / "model.safetensors"
    tensors = load_file(path)
    if "shared.weight" in tensors:
        tensors["shared.weight"][TextTokenizer(spoilt).pieces(["Ω"])[0][-1]] = nan
    else:
        [positions] = [each for key, each in tensors.items() if "position_embeddings" in key]
        positions[100:] = nan
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
