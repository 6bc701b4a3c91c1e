"""mT5 trained on XNLI: its two forms of prompt and labels."""

import pytest

from scoring.contract.items import Item
from scoring.contract.params import read_params
from scoring.evaluators import load_evaluator
from tests.scoring.t5_models import label_model

ITEM = Item("a", "The cat sat.", article="Officials said on Monday that the talks went on.")


def value(**settings):
    evaluator_class = load_evaluator("xnli_mt5")
    evaluator = evaluator_class(read_params(evaluator_class, {"model": str(label_model()), **settings}))
    return evaluator.score([ITEM])[0].values["general"]


def test_form_sets_the_prompt_and_its_labels():
    recipe = {"prompt": "premise: {article} hypothesis: {summary}", "labels": "0,1", "positive": "1"}
    public = {"prompt": "xnli: premise: {article} hypothesis: {summary}", "labels": "0,1,2", "positive": "0"}
    assert value() == value(**recipe)
    assert value(form="three_labels") == value(**public) == value(form="three_labels", **recipe)
    assert value(form="three_labels") != pytest.approx(value(), abs=1e-3)


def test_model_is_required():
    evaluator_class = load_evaluator("xnli_mt5")
    with pytest.raises(ValueError, match="parameter 'model': xnli_mt5 requires it"):
        read_params(evaluator_class, {})
