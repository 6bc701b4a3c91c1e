"""Scores that are not finite: the summary gets a reason, and other summaries keep their scores."""

import shutil
from math import nan

import pytest
import torch
from safetensors.torch import load_file, save_file

from scoring.contract.evaluator import Need
from scoring.contract.items import Item
from scoring.contract.params import read_params
from scoring.contract.scores import NOT_FINITE, Scored
from scoring.evaluators import load_evaluator
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
def test_overflowing_weights_give_a_reason(name, tmp_path):
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
        evaluator.see_corpus([ITEM, Item("b", "Dogs run.", "en", "No dog ran.", ("Dogs.",), "a2")])
    [scored] = evaluator.score([ITEM])
    assert set(scored.reasons) == set(evaluator.dimensions)
    assert all(NOT_FINITE in reason for reason in scored.reasons.values())


def test_finite_scores_and_existing_reasons_are_kept():
    scored = Scored.computed({"a": 1.0, "b": "no reference", "c": -torch.inf})
    assert scored.values["a"] == 1.0
    assert scored.reasons == {"b": "no reference", "c": NOT_FINITE}


def test_nan_is_not_ignored_when_scores_are_combined(subtests):
    for rule in ["max", "mean", "first", "parts_max", "cut"]:
        with subtests.test(rule=rule):
            assert combined([nan, 1.0], rule) != combined([nan, 1.0], rule)
            assert combined([1.0, 3.0], rule) == {"max": 3, "parts_max": 3, "mean": 2}.get(rule, 1)
