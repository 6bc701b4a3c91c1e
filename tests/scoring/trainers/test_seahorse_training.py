"""SEAHORSE metrics that are trained from tiny models, and scored with."""

import json
import shlex
import shutil
from dataclasses import replace

import numpy as np
import pytest
from django.core.management import call_command

from annotation.declared.settings import read_settings
from scoring.contract.evaluator import EvaluatorError
from scoring.contract.items import Item
from scoring.contract.params import read_params
from scoring.evaluators import load_evaluator
from scoring.texts.near_duplicates import Sketches
from scoring.trainers.contract import CannotTrain, TrainingItem
from scoring.trainers.seahorse import SeahorseTrainer
from scoring.trainers.seahorse_learners import learner_for
from scoring.weights.model_card import read_card
from scoring.weights.model_files import MissingWeights
from tests.scoring.further_cases import with_further
from tests.scoring.t5_models import label_model
from tests.scoring.tiny_models import tiny_model
from tests.scoring.trainers.training_items import Watching, learnable_items

FAST = {"learning_rate": "0.003", "max_length": "128", "batch_size": "16", "patience": "0"}
SURE = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
BASES = {
    "mt5": lambda: label_model("mt5", dropout_rate=0.0),
    "t5, tied": lambda: label_model("t5", untied=False, tie_word_embeddings=True, dropout_rate=0.0),
    "bert": lambda: tiny_model("bert", **SURE),
}
"""Kinds of base models, without dropout, so that they learn fast."""


def train(folder, items=None, watch=None, **settings):
    given = {"dimensions": "attribution", **FAST, **settings}
    trainer = SeahorseTrainer(read_settings(SeahorseTrainer.Params, given, of="seahorse"))
    data = trainer.prepare(items or learnable_items())
    return data, trainer.train(data, folder, watch or Watching(), "A project")


def scores(folder, examples, **settings):
    evaluator_class = load_evaluator("seahorse")
    evaluator = evaluator_class(read_params(evaluator_class, {"model": str(folder), **settings}))
    scored = evaluator.score(
        [Item(str(place), each.summary, article=each.article) for place, each in examples]
    )
    return [each.values for each in scored]


def assert_scores_as_validated(folder, data, trained):
    """Compare the loss of the evaluator's scores with the trainer's, before it saved the weights."""
    found = scores(folder, enumerate(data.validation), **read_card(folder).params)
    probabilities = np.array([each["attribution"] for each in found])
    labels = np.array([each.label for each in data.validation])
    loss = -(labels * np.log(probabilities) + (1 - labels) * np.log(1 - probabilities)).mean()
    assert loss == pytest.approx(trained.measures["validation_loss"], abs=1e-5)


@pytest.mark.parametrize("base", with_further(["bert"], BASES))
def test_a_tiny_model_overfits_64_examples_and_scores_as_it_validated(base, tmp_path, record_property):
    watch = Watching()
    data, trained = train(tmp_path, watch=watch, model=str(BASES[base]()), epochs="18", best_by="loss")
    last = list(watch.losses.values())[-4:]
    record_property("loss", float(np.mean(last)))
    assert float(np.mean(last)) < 0.05

    assert_scores_as_validated(tmp_path / "model", data, trained)


@pytest.mark.parametrize("base", ["bert", pytest.param("mt5", marks=pytest.mark.thorough)])
def test_a_model_that_learns_shares_approaches_them(base, tmp_path):
    """Three quarters of the raters say yes to one kind of summary, one quarter to the other."""
    items = [
        replace(each, labels={"attribution": 0.25 + each.labels["attribution"] / 2})
        for each in learnable_items()
    ]
    data, trained = train(
        tmp_path, items=items, model=str(BASES[base]()), epochs="18", best_by="loss", labels="share"
    )
    assert {each.label for each in data.train} == {0.25, 0.75}
    assert_scores_as_validated(tmp_path / "model", data, trained)
    entropy = -(0.25 * np.log(0.25) + 0.75 * np.log(0.75))
    assert entropy <= trained.measures["validation_loss"] < entropy + 0.05
    assert trained.measures["validation_auc"] > 0.95


def test_only_the_head_of_a_base_model_may_have_another_shape(tmp_path):
    settings = {
        "prompts": {"attribution": "{article} {summary}"},
        "max_length": 128,
        "choose_by": "validation_loss",
        "lora_rank": 0,
        "gradient_checkpointing": False,
        "attention_dropout": True,
    }
    three = tiny_model("bert", "ForSequenceClassification", labels=("a", "b", "c"))
    assert learner_for(three, **settings).module.model.classifier.out_features == 2
    folder = shutil.copytree(three, tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"intermediate_size": 24}))
    with pytest.raises(MissingWeights, match=r"intermediate\.dense\.bias is 48, and 24"):
        learner_for(folder, **settings)


@pytest.mark.parametrize(("base", "tied"), [("mt5", False), ("t5, tied", True)])
def test_a_saved_model_says_whether_its_output_matrix_is_tied(base, tied, tmp_path):
    from scoring.neural.loading import load_tensors

    train(tmp_path, model=str(BASES[base]()), epochs="1")
    stated = json.loads((tmp_path / "model" / "config.json").read_text())
    assert stated["tie_word_embeddings"] is tied
    assert ("lm_head.weight" in load_tensors(tmp_path / "model")) is not tied


def test_an_encoder_learns_without_attention_dropout_if_asked_to_and_keeps_its_configuration(tmp_path):
    weights, stated = [], []
    for dropout, asked in ((0.5, "no"), (0.0, "yes")):
        base = tiny_model("bert", attention_probs_dropout_prob=dropout)
        train(tmp_path / asked, model=str(base), epochs="1", attention_dropout=asked)
        weights.append((tmp_path / asked / "model" / "model.safetensors").read_bytes())
        stated.append(json.loads((tmp_path / asked / "model" / "config.json").read_text()))
    assert weights[0] == weights[1]
    assert [each["attention_probs_dropout_prob"] for each in stated] == [0.5, 0.0]


def test_the_card_tells_what_was_learnt(tmp_path):
    base = str(tiny_model("bert"))
    data, trained = train(tmp_path, model=base, epochs="2")
    card = read_card(tmp_path / "model")
    assert card.dimensions == ("attribution",)
    assert card.articles == data.articles
    assert card.measures == trained.measures
    assert card.warnings == data.warnings
    assert all(each in Sketches(card.sketches) for each in data.texts.values() if len(each.split()) >= 5)
    assert card.intervals == trained.intervals
    low, high = card.intervals["validation_loss"]
    assert low < card.measures["validation_loss"] < high
    assert card.data["origin"] == "A project"
    assert card.trained_with["params"]["epochs"] == 2
    assert {each.name for each in (tmp_path / "model").iterdir()} >= {"README.md", "model.safetensors"}
    assert card.weights_sha256 in (tmp_path / "model" / "README.md").read_text()


def test_the_command_of_the_card_scores(tmp_path, monkeypatch):
    train(tmp_path, model=str(tiny_model("bert")), epochs="1")
    examples, output = tmp_path / "examples.jsonl", tmp_path / "scores.jsonl"
    examples.write_text('{"id": "1", "article": "The cat sat on the mat.", "summary": "A cat sat."}\n')
    monkeypatch.setenv("WEIGHTS_DIR", str(tmp_path))
    card = (tmp_path / "model" / "README.md").read_text()
    (command,) = [line for line in card.splitlines() if line.startswith("    manage.py ")]
    given = {"EXAMPLES": str(examples), "SCORES": str(output), "model=FOLDER": "model=model"}
    call_command(*(given.get(word, word) for word in shlex.split(command)[1:]))
    assert 0 < json.loads(output.read_text())["scores"]["attribution"] < 1


def test_a_model_trained_further_has_also_seen_what_its_base_had_seen(tmp_path):
    train(tmp_path / "first", model=str(tiny_model("bert")), epochs="1")
    other = [
        TrainingItem(each.id, each.article_id, f"Other: {each.article}", each.summary, labels=each.labels)
        for each in learnable_items()
    ]
    train(tmp_path / "second", other, model=str(tmp_path / "first" / "model"), epochs="1", test_share="0")
    first, second = (read_card(tmp_path / name / "model").articles for name in ("first", "second"))
    assert set(first["train"]) < set(second["train"])
    assert len(second["train"]) + len(second["validation"]) == 160


def test_the_same_seed_gives_the_same_numbers_and_another_one_others(tmp_path):
    losses = []
    for run, seed in enumerate(("1", "1", "2")):
        watch = Watching()
        data, trained = train(
            tmp_path / str(run), watch=watch, model=str(tiny_model("xlm-roberta")), epochs="1", seed=seed
        )
        losses.append(watch.losses)
    assert losses[0] == losses[1]
    assert losses[0] != losses[2]
    assert_scores_as_validated(tmp_path / "2" / "model", data, trained)


@pytest.mark.parametrize(
    ("base", "settings"),
    [
        pytest.param("mt5", {"epochs": "15"}, marks=pytest.mark.thorough),
        ("bert", {"epochs": "30", "learning_rate": "0.005"}),
    ],
)
def test_several_questions_share_one_model_that_reads_the_question(base, settings, tmp_path):
    items = [
        TrainingItem(
            each.id,
            each.article_id,
            each.article,
            each.summary,
            labels={"attribution": each.labels["attribution"], "main_ideas": 1 - each.labels["attribution"]},
            split=each.split,
        )
        for each in learnable_items(32, 8)
    ]
    model = str(BASES[base]())
    data, trained = train(tmp_path, items, model=model, dimensions="attribution,main_ideas", **settings)
    assert len(data.train) == 64
    assert trained.measures["validation_auc_attribution"] > 0.9
    assert trained.measures["validation_auc_main_ideas"] > 0.9
    [scored] = scores(tmp_path / "model", enumerate(data.validation[:1]), max_length="128")
    assert list(scored) == ["attribution", "main_ideas"]
    assert scored["attribution"] != scored["main_ideas"]


@pytest.mark.parametrize("base", with_further(["t5, tied"], ["t5, tied", "bert"]))
def test_lora_trains_few_weights_and_is_merged(base, tmp_path, recwarn):
    from scoring.neural.loading import load_tensors

    model = BASES[base]()
    data, trained = train(
        tmp_path,
        model=str(model),
        lora_rank="4",
        epochs="3",
        gradient_checkpointing="yes",
        learning_rate="0.01",
    )
    whole = sum(each.numel() for each in load_tensors(model).values())
    kept = tmp_path / "checkpoints" / f"checkpoint-{trained.best_step}"
    assert sum(each.numel() for each in load_tensors(kept).values()) < whole / 3
    before, after = load_tensors(model), load_tensors(tmp_path / "model")
    after = {name.removeprefix("bert."): each for name, each in after.items()}
    assert not any("lora" in name for name in after)
    assert [each for each in recwarn if each.category is FutureWarning] == []
    assert any(not after[name].equal(before[name]) for name in before.keys() & after.keys())
    assert_scores_as_validated(tmp_path / "model", data, trained)


def test_accumulated_batches_learn_as_one_large_batch(tmp_path):
    watches = []
    for name, settings in (
        ("whole", {"batch_size": "64"}),
        ("parts", {"batch_size": "16", "accumulation": "4"}),
    ):
        watches.append(Watching())
        model = str(BASES["bert"]())
        train(tmp_path / name, watch=watches[-1], model=model, epochs="3", learning_rate="0.001", **settings)
    whole, parts = (list(each.losses.values()) for each in watches)
    assert whole == pytest.approx(parts, abs=1e-4)


def test_a_model_of_another_kind_is_refused(tmp_path):
    with pytest.raises(CannotTrain, match="expected T5, mT5 or an encoder"):
        train(tmp_path, model=str(tiny_model("bart")))
    with pytest.raises(MissingWeights):
        train(tmp_path, model="no/such-model")


def test_a_head_has_only_measures_that_it_can_give(tmp_path):
    data, _ = train(tmp_path, model=str(tiny_model("bert")), epochs="1")
    [decided] = scores(tmp_path / "model", enumerate(data.validation[:1]), measure="decision")
    assert decided["attribution"] in (0, 1)
    with pytest.raises(EvaluatorError, match="measure must be labels or decision"):
        scores(tmp_path / "model", enumerate(data.validation), measure="vocabulary")
