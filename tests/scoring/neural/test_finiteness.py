"""Passes that overflow inside, with finite weights: their texts get NaN, and others keep their numbers."""

import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from scoring.contract.scores import NotFinite
from scoring.neural.bart import Bart
from scoring.neural.causal_pass import CausalPass
from scoring.neural.encoder import Encoder
from scoring.neural.finiteness import ModelWatch, TextWatch, trace, whole
from scoring.neural.pair_classifier import PairClassifier
from scoring.neural.question_generation import QuestionWriter
from scoring.neural.t5 import Answers
from scoring.neural.text_pairs import EncodedPair
from scoring.weights.model_files import MissingWeights
from tests.scoring.tiny_models import tiny_model

LARGE = 1e30
TEXT = (5, 7, 9, 11)


def scaled(kind, folder, part, factor=LARGE, **options):
    """Return a copy of a tiny model in which a tensor, named by a part of its name, is multiplied."""
    shutil.copytree(tiny_model(kind, **options), folder)
    tensors = load_file(folder / "model.safetensors")
    [name] = [each for each in tensors if part in each]
    save_file(tensors | {name: tensors[name] * factor}, folder / "model.safetensors", {"format": "pt"})
    return folder


@pytest.mark.parametrize(
    "part",
    [
        "encoder.block.0.layer.0.SelfAttention.q.weight",
        "encoder.block.1.layer.0.SelfAttention.o.weight",
        "encoder.block.0.layer.1.DenseReluDense.wo.weight",
        "decoder.block.0.layer.0.SelfAttention.k.weight",
        "decoder.block.0.layer.1.EncDecAttention.v.weight",
        "decoder.block.1.layer.2.DenseReluDense.wo.weight",
        "shared.weight",
    ],
)
def test_t5_gives_no_number(tmp_path, part):
    """The norm after the layer gives 0 for numbers that are too large, so that all labels are as probable."""
    model = Answers(scaled("t5", tmp_path / "model", part))
    [logits] = model.logits([TEXT], [9, 4])
    assert logits.isnan().all()
    [logs] = model.answer_log_probabilities([TEXT], [(9, 1)])
    assert logs.isnan().all()
    with pytest.raises(NotFinite):
        model.written([TEXT], 3)


@pytest.mark.parametrize("kind", ["bert", "roberta"])
@pytest.mark.parametrize(
    "part",
    [
        "layer.0.attention.self.query.weight",
        "layer.0.attention.self.key.weight",
        "layer.1.output.dense.weight",
    ],
)
def test_encoder_gives_no_number(tmp_path, kind, part):
    [states] = Encoder(scaled(kind, tmp_path / "model", part)).states([TEXT], [-1])
    assert states.isnan().all()


@pytest.mark.parametrize(
    "part",
    [
        "encoder.layers.0.self_attn.q_proj.weight",
        "encoder.layers.1.fc2.weight",
        "decoder.layers.0.self_attn.q_proj.weight",
        "decoder.layers.0.encoder_attn.q_proj.weight",
        "decoder.layers.0.encoder_attn.k_proj.weight",
        "decoder.layers.1.fc1.weight",
    ],
)
def test_bart_gives_no_number(tmp_path, part):
    model = Bart(scaled("bart", tmp_path / "model", part))
    [found] = model.log_probabilities(model.encode([TEXT]), [[(6, 8, 10)]])
    assert found.isnan().all()


@pytest.mark.parametrize(
    ("kind", "part"),
    [
        ("gpt2", "h.0.attn.c_attn.weight"),
        ("gpt2", "h.1.mlp.c_proj.weight"),
        ("llama", "layers.0.self_attn.q_proj.weight"),
        ("llama", "layers.1.mlp.down_proj.weight"),
    ],
)
def test_causal_model_that_overflows_is_refused(tmp_path, kind, part):
    with pytest.raises(MissingWeights, match="gives no finite numbers"):
        CausalPass(scaled(kind, tmp_path / "model", part))


def test_causal_model_gives_no_number_after_a_position_that_overflows(tmp_path):
    folder = shutil.copytree(tiny_model("gpt2"), tmp_path / "model")
    tensors = load_file(folder / "model.safetensors")
    tensors["transformer.wpe.weight"][3:] *= LARGE
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    model = CausalPass(folder)
    with torch.inference_mode():
        short, long = model.read((), [TEXT[:3], TEXT]).logits
        assert short.isfinite().all()
        assert long.isnan().all()
        with pytest.raises(NotFinite):
            model.read(TEXT, [(*TEXT, 6)])


def test_classifier_whose_pooler_would_saturate_gives_no_number(tmp_path):
    folder = scaled(
        "bert",
        tmp_path / "model",
        "bert.pooler.dense.weight",
        head="ForSequenceClassification",
        labels=("a", "b"),
    )
    classifier = PairClassifier(folder, "float32", 100, ["a"])
    [[probability]] = classifier.probabilities([EncodedPair(TEXT, 2, 2, 2)])
    assert probability != probability


@pytest.mark.parametrize("beams", [1, 3])
@pytest.mark.parametrize(
    ("kind", "part"),
    [
        ("t5", "encoder.block.0.layer.0.SelfAttention.q.weight"),
        ("t5", "decoder.block.0.layer.1.EncDecAttention.v.weight"),
        ("t5", "decoder.block.1.layer.2.DenseReluDense.wo.weight"),
        ("bart", "encoder.layers.1.fc2.weight"),
        ("bart", "decoder.layers.0.encoder_attn.k_proj.weight"),
        ("bart", "decoder.layers.1.fc1.weight"),
    ],
)
def test_no_question_is_written_by_a_model_that_overflows(tmp_path, kind, part, beams):
    prompts = ["the cat sat", "the cat sat on the mat and the dog"]
    whole = QuestionWriter(tiny_model(kind), "float32", beams, longest=6)
    assert all(whole.questions(prompts))
    overflowing = QuestionWriter(scaled(kind, tmp_path / "model", part), "float32", beams, longest=6)
    with pytest.raises(NotFinite):
        overflowing.questions(prompts)


@pytest.mark.parametrize("beams", [1, 2])
def test_padding_that_overflows_marks_no_row(beams):
    """Rows of a search with beams are copies of those of the mask, one after the other."""
    layer = torch.nn.Linear(1, 1, bias=False)
    watch = ModelWatch(layer)
    mask = torch.tensor([[1, 1, 0], [1, 1, 1]])
    numbers = torch.ones(2, 3, 1)
    numbers[:, 2] = torch.inf
    copies = numbers.repeat_interleave(beams, dim=0)
    _, marks = watch.run(mask, lambda: layer(copies), beams)
    assert marks.isnan().tolist() == [False, True]


def test_only_texts_that_overflow_are_marked():
    watch = TextWatch([2, 1, 3])
    numbers = torch.ones(6, 4)
    numbers[2] = LARGE
    watch.see(numbers)
    watch.see(torch.tensor([[1.0], [-torch.inf]]), torch.tensor([0, 5]))
    expected = [False, False, True, True, True, True]
    assert watch.marked(torch.zeros(6, 1)).isnan()[:, 0].tolist() == expected
    assert watch.marked(torch.zeros(2, 1), torch.tensor([1, 4])).isnan()[:, 0].tolist() == [False, True]


def test_finite_numbers_stay_as_they_are():
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        numbers = torch.tensor([[1.5, -6e4], [0.0, 3.0]], dtype=dtype)
        assert trace(numbers).tolist() == [0, 0]
        assert torch.equal(whole(numbers), numbers)
        assert whole(numbers).dtype == dtype
