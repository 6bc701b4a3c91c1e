"""mT5 tuned on XNLI: the two forms of prompt and labels."""

import pytest

from scoring.contract import Item
from scoring.evaluators import load_evaluator
from scoring.params import read_params
from tests.scoring.t5_models import label_model

ITEM = Item("a", "The cat sat.", article="Officials said on Monday that the talks went on.")


def value(**settings):
    evaluator_class = load_evaluator("xnli_mt5")
    evaluator = evaluator_class(read_params(evaluator_class, {"model": str(label_model()), **settings}))
    return evaluator.score([ITEM])[0].values["general"]


def test_a_form_is_a_prompt_with_its_labels():
    recipe = {"prompt": "premise: {article} hypothesis: {summary}", "labels": "0,1", "positive": "1"}
    public = {"prompt": "xnli: premise: {article} hypothesis: {summary}", "labels": "0,1,2", "positive": "0"}
    assert value() == value(form="three_labels", **recipe)
    assert value(form="three_labels") == value(**public)
    assert value(form="three_labels") != pytest.approx(value(), abs=1e-3)


def test_what_is_set_goes_before_the_form():
    shares = [value(form="three_labels", positive=label) for label in "012"]
    assert shares[0] == value(form="three_labels")
    assert sum(shares) == pytest.approx(1, abs=1e-6)


def test_it_must_be_told_its_model():
    evaluator_class = load_evaluator("xnli_mt5")
    with pytest.raises(ValueError, match="xnli_mt5 needs the parameter 'model'"):
        read_params(evaluator_class, {})
