"""A model that computes no finite number leaves the summary without a score, and no other one with it."""

import shutil
from math import nan

import pytest
import torch
from safetensors.torch import load_file, save_file

from scoring.contract import NOT_FINITE, Item, Need, Scored
from scoring.evaluators import load_evaluator
from scoring.params import read_params
from scoring.texts.compared_texts import combined
from tests.scoring.evaluator_settings import required

GIVES_NUMBERS = (
    "bertscore", "moverscore", "supert", "similarity", "bartscore", "unieval", "ctc", "unite", "umse",
    "seahorse", "true_nli", "xnli_mt5", "entailment", "summaqa",
)  # fmt: skip
ITEM = Item(
    "a",
    "The cat sat with Ann.",
    "en",
    "On Monday the cat sat on the mat with Ann.",
    ("A cat sat on a mat.", "Cats sit."),
    "a1",
)


@pytest.mark.parametrize("name", GIVES_NUMBERS)
def test_weights_that_overflowed_give_a_reason(name, tmp_path):
    evaluator_class = load_evaluator(name)
    settings = required(name)
    folder = shutil.copytree(settings["model"], tmp_path / "model")
    for path in folder.glob("*.safetensors"):
        tensors = {
            key: torch.full_like(each, nan) if each.is_floating_point() else each
            for key, each in load_file(path).items()
        }
        save_file(tensors, path, {"format": "pt"})
    evaluator = evaluator_class(read_params(evaluator_class, {**settings, "model": str(folder)}))
    if Need.CORPUS in evaluator.needs_for(evaluator.params):
        evaluator.survey([ITEM, Item("b", "Dogs run.", "en", "No dog ran.", ("Dogs.",), "a2")])
    [scored] = evaluator.score([ITEM])
    assert set(scored.reasons) == set(evaluator.dimensions)
    assert all(NOT_FINITE in reason for reason in scored.reasons.values())


def test_what_is_finite_stays_and_a_reason_that_is_known_too():
    scored = Scored.computed({"a": 1.0, "b": nan, "c": -torch.inf}, {"b": "no reference"})
    assert scored.values["a"] == 1.0
    assert scored.reasons == {"b": "no reference", "c": NOT_FINITE}


@pytest.mark.parametrize("rule", ["max", "min", "mean", "first", "parts_max", "cut"])
def test_a_number_that_is_none_is_not_passed_over(rule):
    assert combined([nan, 1.0], rule) != combined([nan, 1.0], rule)
    assert combined([1.0, 3.0], rule) == {"max": 3, "parts_max": 3, "mean": 2}.get(rule, 1)
