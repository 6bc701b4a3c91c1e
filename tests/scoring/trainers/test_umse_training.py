"""UMSE trained on tiny encoders."""

import json
import math
from itertools import product
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from annotation.declared.settings import read_settings
from scoring.contract.items import Item
from scoring.contract.params import read_params
from scoring.evaluators import load_evaluator
from scoring.texts.near_duplicates import Sketches
from scoring.trainers import load_trainer
from scoring.trainers.contract import CannotTrain
from scoring.trainers.validation_intervals import FEWEST_ARTICLES
from scoring.weights.model_card import read_card
from scoring.weights.model_files import MissingWeights
from tests.scoring.further_cases import with_further
from tests.scoring.tiny_models import tiny_model
from tests.scoring.trainers.umse_items import SHORT, articles_with_references

FEW = articles_with_references(training=6, validation=3)
ITEM = Item("a", "Good talks a.", article="Good talks b. News fell c.", references=("Talks fell.",))


@pytest.fixture(autouse=True)
def one_thread():
    """Keep threads from waiting for one another, which takes more time than tiny products."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


class Curve:
    """Keeps the points, and fails at a step as a machine does."""

    def __init__(self, fails_at=None):
        self.points = []
        self._fails_at = fails_at

    def report(self, point):
        self.points.append(point)

    def is_cancelled(self):
        if self.points and self.points[-1].step == self._fails_at:
            raise KeyboardInterrupt
        return False


def base(kind="bert"):
    return str(tiny_model(kind, hidden_dropout_prob=0.0))


def train(folder, items=FEW, watch=None, **settings):
    """Return the prepared data and the result."""
    found = load_trainer("umse")
    method = found(read_settings(found.Params, {"model": base(), **SHORT, **settings}, of="umse"))
    data = method.prepare(items)
    return data, method.train(data, folder, watch or Curve(), "made-up articles")


def umse(folder, **settings):
    evaluator_class = load_evaluator("umse")
    card = read_card(folder / "model")
    return evaluator_class(
        read_params(evaluator_class, {"model": str(folder / "model"), **card.params, **settings})
    )


def probability(folder, example):
    """Return the evaluator's score for the texts of an example."""
    summary, *beside = example.texts
    texts = dict(
        zip({"sum_ref": "r", "sum_doc": "a", "sum_doc_ref": "ar"}[example.scenario], beside, strict=True)
    )
    item = Item("x", summary, article=texts.get("a"), references=(texts["r"],) if "r" in texts else ())
    [scored] = umse(folder, scenario=example.scenario, fusion="none").score([item])
    return scored.values["general"]


def weights(folder):
    return load_file(folder / "model" / "model.safetensors")


@pytest.mark.parametrize("form", with_further(["input"], ["input", "keys"]))
def test_a_tiny_encoder_overfits_64_pairs(form, tmp_path, record_property):
    curve = Curve()
    rates = {
        "learning_rate": 3e-3,
        "encoder_rate": 3e-3,
        "schedule": "linear",
        "dropout": 0,
        "batch_size": 16,
    }
    data, _ = train(
        tmp_path, articles_with_references(), curve, scenarios="sum_ref", prefix_form=form, epochs=20, **rates
    )
    assert len(data.train) == 64
    loss = [point.loss for point in curve.points if point.loss is not None][-1]
    record_property("loss", loss)
    assert loss < 0.05


IN_EACH_RUN = [("bert", "input", "first"), ("xlm-roberta", "keys", "mean")]
KINDS = product(["bert", "roberta", "xlm-roberta"], ["input", "keys"], ["first", "mean"])


@pytest.mark.parametrize(("kind", "form", "pooling"), with_further(IN_EACH_RUN, KINDS))
def test_saved_weights_score_as_they_validated(kind, form, pooling, tmp_path):
    data, trained = train(tmp_path, model=base(kind), prefix_form=form, pooling=pooling, learning_rate=1e-2)
    scores = [probability(tmp_path, each) for each in data.validation]
    assert max(scores) - min(scores) > 1e-4
    losses = [-math.log(p if each.label else 1 - p) for p, each in zip(scores, data.validation, strict=True)]
    assert sum(losses) / len(losses) == pytest.approx(trained.measures["validation_loss"], abs=1e-5)
    right = [(p > 0.5) == bool(each.label) for p, each in zip(scores, data.validation, strict=True)]
    assert sum(right) / len(right) == pytest.approx(trained.measures["validation_accuracy"])


def test_the_same_seed_gives_the_same_numbers_and_another_one_others(tmp_path):
    for folder, seed in (("one", 0), ("two", 0), ("three", 1)):
        train(tmp_path / folder, seed=seed)
    one, two, three = (weights(tmp_path / folder) for folder in ("one", "two", "three"))
    assert all(torch.equal(each, two[name]) for name, each in one.items())
    assert not torch.equal(one["prefix"], three["prefix"])


def test_a_training_that_was_stopped_goes_on_to_the_same_numbers(tmp_path):
    _, whole = train(tmp_path / "whole", epochs=3)
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path / "stopped", watch=Curve(fails_at=whole.steps - 1), epochs=3)
    later = Curve()
    _, finished = train(tmp_path / "stopped", watch=later, epochs=3)
    assert min(point.step for point in later.points) > 1
    assert finished == whole
    expected = weights(tmp_path / "whole")
    assert all(torch.allclose(each, expected[name]) for name, each in weights(tmp_path / "stopped").items())


def test_frozen_parts_stay_as_they_were(tmp_path):
    parts = ("all", "upper", "none")
    for part in parts:
        train(tmp_path / part, trained_part=part, encoder_rate=1e-2, learning_rate=1e-2)
    first = load_file(tiny_model("bert", hidden_dropout_prob=0.0) / "model.safetensors")
    embeddings, lowest, upper = (
        "embeddings.LayerNorm.weight",
        "encoder.layer.0.output.dense.weight",
        "encoder.layer.1.output.dense.weight",
    )
    kept = {
        part: [
            name for name in (embeddings, lowest, upper) if torch.equal(found[f"encoder.{name}"], first[name])
        ]
        for part in parts
        for found in [weights(tmp_path / part)]
    }
    assert kept == {"all": [], "upper": [embeddings, lowest], "none": [embeddings, lowest, upper]}


def test_a_network_of_one_scenario_scores_no_other(tmp_path):
    train(tmp_path, scenarios="sum_doc")
    [scored] = umse(tmp_path).score([ITEM])
    assert 0 < scored.values["general"] < 1
    with pytest.raises(MissingWeights, match="was trained for sum_doc, not for sum_ref"):
        umse(tmp_path, scenario="sum_ref").score([ITEM])


def test_scores_of_scenarios_are_fused(tmp_path):
    train(tmp_path)

    def score(**settings):
        [scored] = umse(tmp_path, **settings).score([ITEM])
        return scored.values["general"]

    one, other = score(scenario="sum_ref"), score(scenario="sum_doc")
    assert score() == pytest.approx((one + other) / 2)
    assert score(fusion="min") == pytest.approx(min(one, other))


def test_layers_that_are_not_normalised_are_not_normalised_together(tmp_path):
    train(tmp_path)
    with pytest.raises(MissingWeights, match="layer_norm must be per_item"):
        umse(tmp_path, layer_norm="as_released").score([ITEM])


def test_without_attention_dropout_the_encoder_keeps_its_configuration(tmp_path):
    train(tmp_path, attention_dropout="no")
    stated = [json.loads((each / "config.json").read_text()) for each in (Path(base()), tmp_path / "model")]
    assert stated[0] == stated[1]
    assert stated[0]["attention_probs_dropout_prob"] > 0


def test_the_card_tells_the_network_and_the_articles(tmp_path):
    items = articles_with_references(validation=FEWEST_ARTICLES)
    data, trained = train(tmp_path, items, prefix_sharing="separate")
    card = read_card(tmp_path / "model")
    assert (card.method, card.evaluator, card.dimensions) == ("umse", "umse", ("general",))
    assert card.settings["prefix_sharing"] == "separate"
    assert card.articles == data.articles
    assert card.measures == trained.measures
    assert card.warnings == data.warnings
    assert all(each in Sketches(card.sketches) for each in data.texts.values() if len(each.split()) >= 5)
    assert card.intervals == trained.intervals
    low, high = card.intervals["validation_loss"]
    assert low < card.measures["validation_loss"] < high
    assert card.params == {"granularity": "whole"}


def test_a_prefix_of_keys_and_gradient_checkpointing_are_refused_together(tmp_path):
    with pytest.raises(CannotTrain, match="does not go with gradient checkpointing"):
        train(tmp_path, prefix_form="keys", gradient_checkpointing=True)
    train(tmp_path, prefix_form="input", gradient_checkpointing=True)
