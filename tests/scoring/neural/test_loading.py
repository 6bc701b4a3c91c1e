"""Loading models from a folder: completely, from safetensors, and without running its code."""

import contextlib
import json
import re
import shutil

import pytest
import tokenizers
import torch
import transformers
from safetensors.torch import load_file, save_file
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer

from scoring.neural.loading import fill, load_encoder, load_model, load_tensors, load_tokenizer
from scoring.weights.model_files import MissingWeights
from tests.scoring.tiny_models import TEXT, tiny_model


@pytest.fixture
def folder(tmp_path):
    copy = tmp_path / "model"
    shutil.copytree(tiny_model("bert"), copy)
    return copy


def change(folder, edit):
    tensors = load_file(folder / "model.safetensors")
    save_file(edit(tensors), folder / "model.safetensors", {"format": "pt"})


def state(folder, key, more):
    """Add `more` to a number in the folder's config.json."""
    config = json.loads((folder / "config.json").read_text())
    config[key] += more
    (folder / "config.json").write_text(json.dumps(config))


def test_model_is_in_evaluation_mode(folder):
    model = load_model(folder)
    assert not model.training
    assert model.dtype == torch.float32
    expected = load_file(folder / "model.safetensors")["embeddings.word_embeddings.weight"]
    assert torch.equal(model.embeddings.word_embeddings.weight.cpu(), expected)


def test_precision_can_be_chosen(folder):
    assert load_model(folder, precision="bfloat16").dtype == torch.bfloat16


def test_missing_weights_are_refused(folder):
    change(folder, lambda each: {name: each[name] for name in each if "layer.1.output" not in name})
    with pytest.raises(
        MissingWeights, match=r"lack weights that a BertModel needs, such as encoder\.layer\.1"
    ):
        load_model(folder)


def test_missing_head_is_refused(folder):
    with pytest.raises(MissingWeights, match="they would be random"):
        load_model(folder, transformers.AutoModelForSequenceClassification)


def test_transposed_weights_are_refused(folder):
    name = "encoder.layer.1.intermediate.dense.weight"
    change(folder, lambda each: each | {name: each[name].T.contiguous()})
    with pytest.raises(MissingWeights, match=rf"do not fit: {name} is 32 x 48, and 48 x 32 is needed"):
        load_model(folder)


def test_unused_weights_may_have_another_shape(folder):
    change(folder, lambda each: each | {"pooler.dense.bias": torch.zeros(5)})
    load_model(folder, may_lack=("pooler.",))


def test_long_names_are_cut(folder):
    change(folder, lambda each: each | {"z" * 5000: torch.tensor([torch.nan])})
    with pytest.raises(MissingWeights, match=r"such as in z{97}\.{4} Are"):
        load_tensors(folder)
    with pytest.raises(MissingWeights, match=r"do not fit: z{97}\.\.\. has no place"):
        fill(torch.nn.Identity(), {"z" * 5000: torch.zeros(1)}, folder)


def test_unused_weights_may_be_missing(folder):
    change(folder, lambda each: {name: each[name] for name in each if not name.startswith("pooler.")})
    with pytest.raises(MissingWeights, match=r"pooler\.dense"):
        load_model(folder)
    load_model(folder, may_lack=("pooler.",))
    load_model(folder, transformers.AutoModelForSequenceClassification, may_lack=("pooler.", "classifier."))


@pytest.mark.parametrize(
    ("kind", "head", "key", "first"),
    [
        ("bert", "Model", "num_hidden_layers", "encoder.layer.2."),
        ("bert", "ForSequenceClassification", "num_hidden_layers", "bert.encoder.layer.2."),
        ("bart", "ForConditionalGeneration", "encoder_layers", "model.encoder.layers.1."),
        ("bart", "ForConditionalGeneration", "decoder_layers", "model.decoder.layers.1."),
        ("t5", "ForConditionalGeneration", "num_layers", "encoder.block.2."),
        ("gpt2", "LMHeadModel", "n_layer", "transformer.h.2."),
        ("gpt2", "Model", "n_layer", "h.2."),
        ("llama", "ForCausalLM", "num_hidden_layers", "model.layers.2."),
    ],
)
def test_more_layers_than_the_configuration_states_are_refused(tmp_path, kind, head, key, first):
    folder = shutil.copytree(tiny_model(kind, head), tmp_path / "model")
    loaded_as = "LMHeadModel" if kind == "gpt2" else head
    model_class = getattr(
        transformers, f"{ {'bert': 'Bert', 'gpt2': 'GPT2'}.get(kind, kind.title()) }{loaded_as}"
    )
    load_model(folder, model_class)
    state(folder, key, -1)
    with pytest.raises(
        MissingWeights, match=rf"no place, such as {re.escape(first)}.*; the model would be cut"
    ):
        load_model(folder, model_class)


def test_layers_beyond_those_of_an_encoder_are_refused_beside_its_heads(tmp_path):
    folder = shutil.copytree(tiny_model("bert", "ForPreTraining"), tmp_path / "model")
    load_encoder(folder, "float32")
    state(folder, "num_hidden_layers", -1)
    with pytest.raises(MissingWeights, match=r"such as bert\.encoder\.layer\.2\..* \(16 in all\)"):
        load_encoder(folder, "float32")


@pytest.mark.parametrize("key", ["intermediate_size", "max_position_embeddings", "vocab_size"])
def test_other_shapes_than_the_configuration_states_are_refused(folder, key):
    state(folder, key, -16)
    with pytest.raises(MissingWeights, match=r"do not fit: .* is \d+.*, and \d+.* is needed"):
        load_model(folder, may_lack=("pooler.",))


@pytest.mark.parametrize(
    ("head", "loaded_as", "options"),
    [
        ("ForMaskedLM", "Model", {"may_lack": ("pooler.",)}),
        ("ForPreTraining", "Model", {}),
        ("ForPreTraining", "ForMaskedLM", {"unused": ("cls.seq_relationship.",)}),
        ("ForSequenceClassification", "Model", {}),
        ("ForQuestionAnswering", "Model", {"may_lack": ("pooler.",)}),
        ("ForPreTraining", "ForSequenceClassification", {"may_lack": ("classifier.",)}),
    ],
)
def test_heads_for_other_tasks_are_ignored(head, loaded_as, options):
    load_model(tiny_model("bert", head), getattr(transformers, f"Bert{loaded_as}"), **options)


def test_further_weights_of_the_models_own_head_are_refused_unless_declared():
    with pytest.raises(MissingWeights, match=r"no place, such as cls\.seq_relationship\.bias \(2 in all\)"):
        load_model(tiny_model("bert", "ForPreTraining"), transformers.BertForMaskedLM)


def test_pooler_and_positions_of_a_checkpoint_are_ignored_where_the_model_has_none(tmp_path):
    """RoBERTa's published files have a pooler, which its classifier does without."""
    folder = shutil.copytree(tiny_model("roberta", "ForSequenceClassification"), tmp_path / "model")
    further = {
        "roberta.pooler.dense.weight": torch.ones(32, 32),
        "roberta.embeddings.position_ids": torch.arange(514)[None],
        "lm_head.bias": torch.ones(3),
    }
    change(folder, lambda each: each | further)
    load_model(folder, transformers.AutoModelForSequenceClassification)


def test_masks_stored_by_earlier_releases_are_ignored(tmp_path):
    folder = shutil.copytree(tiny_model("gpt2"), tmp_path / "model")
    masks = {"attn.bias": torch.ones(1, 1, 4, 4), "attn.masked_bias": torch.tensor(-1e4)}
    change(folder, lambda each: each | {f"transformer.h.0.{name}": mask for name, mask in masks.items()})
    load_model(folder, transformers.AutoModelForCausalLM)


def test_pickled_weights_are_not_loaded(folder):
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    torch.save(tensors, folder / "pytorch_model.bin")
    with pytest.raises(MissingWeights, match="cannot be loaded"):
        load_model(folder)


@pytest.mark.parametrize("damage", [b"", b"not a safetensors file", None])
def test_damaged_weights_are_refused(folder, damage):
    whole = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(whole[: len(whole) // 2] if damage is None else damage)
    with pytest.raises(MissingWeights, match="cannot be loaded"):
        load_model(folder)


@pytest.mark.parametrize("number", [torch.nan, torch.inf])
def test_weights_that_are_not_finite_are_refused(folder, number):
    def spoil(tensors):
        tensors["encoder.layer.1.attention.self.query.bias"][3] = number
        return tensors

    change(folder, spoil)
    for load in (load_tensors, load_model):
        with pytest.raises(MissingWeights, match=r"hold NaN or infinity, such as in .*1\.attention\.self\."):
            load(folder)


def test_large_finite_weights_are_loaded(folder):
    change(folder, lambda each: {name: torch.full_like(tensor, 3e38) for name, tensor in each.items()})
    assert load_tensors(folder)
    assert load_model(folder)


def test_weights_that_may_be_missing_may_hold_nan(folder):
    def spoil(tensors):
        tensors["pooler.dense.bias"][0] = torch.nan
        return tensors

    change(folder, spoil)
    assert load_model(folder, may_lack=("pooler.",))


def test_code_in_the_folder_never_runs(folder, tmp_path):
    trace = tmp_path / "it ran"
    (folder / "evil.py").write_text(
        f"import pathlib\npathlib.Path({str(trace)!r}).touch()\n"
        "from transformers import BertConfig as Config, BertModel as Model, BertTokenizer as Tokenizer\n"
    )
    config = json.loads((folder / "config.json").read_text())
    config |= {
        "model_type": "evil",
        "auto_map": {"AutoConfig": "evil.Config", "AutoModel": "evil.Model"},
    }
    (folder / "config.json").write_text(json.dumps(config))
    tokenizer = json.loads((folder / "tokenizer_config.json").read_text())
    tokenizer |= {"tokenizer_class": "Evil", "auto_map": {"AutoTokenizer": ["evil.Tokenizer", None]}}
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer))

    with pytest.raises(MissingWeights, match="cannot be loaded"):
        load_model(folder)
    with contextlib.suppress(MissingWeights):
        load_tokenizer(folder)
    assert not trace.exists()


def test_a_folder_without_tokenizer_is_refused(folder):
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()
    with pytest.raises(MissingWeights, match=r"The tokenizer in .* cannot be loaded"):
        load_tokenizer(folder)


@pytest.mark.parametrize("stated", ["x", "512", [1], True, 0, 5.5, float("inf"), "y" * 5000])
def test_limit_that_is_no_whole_number_is_refused(folder, stated):
    configuration = folder / "tokenizer_config.json"
    settings = json.loads(configuration.read_text())
    configuration.write_text(json.dumps(settings | {"model_max_length": stated}))
    with pytest.raises(MissingWeights, match=r"tokenizer_config\.json says model_max_length is") as refusal:
        load_tokenizer(folder)
    assert len(str(refusal.value)) < 400


@pytest.mark.parametrize(("stated", "limit"), [(512.0, 512), (1e30, int(1e30)), (None, int(1e30))])
def test_limit_is_a_whole_number(folder, stated, limit):
    configuration = folder / "tokenizer_config.json"
    settings = json.loads(configuration.read_text())
    configuration.write_text(json.dumps(settings | {"model_max_length": stated}))
    assert repr(load_tokenizer(folder).model_max_length) == repr(limit)


def test_tokenizer_file_of_an_unknown_form_is_refused(folder):
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    tokenizer["model"]["type"] = "Unheard"
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    with pytest.raises(MissingWeights, match=rf"none that tokenizers {tokenizers.__version__} reads"):
        load_tokenizer(folder)


@pytest.mark.parametrize("name", ["config.json", "tokenizer_config.json"])
def test_configuration_that_is_no_object_is_refused(folder, name):
    (folder / name).write_text("[]")
    with pytest.raises(MissingWeights, match="cannot be"):
        load_tokenizer(folder)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"num_hidden_layers": "three"}, "'num_hidden_layers' expected int, got str"),
        ({"num_attention_heads": 0}, "modulo by zero"),
        ({"num_attention_heads": 5}, "not a multiple of the number of attention heads"),
    ],
)
def test_impossible_configuration_is_refused_with_its_fault(folder, entry, said):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | entry))
    with pytest.raises(MissingWeights, match=said):
        load_encoder(folder, "float32")


@pytest.mark.parametrize("kind", ["bart", "t5"])
def test_encoder_with_a_decoder_is_refused(kind):
    with pytest.raises(MissingWeights, match=f"is of the kind {kind}, an encoder with a decoder"):
        load_encoder(tiny_model(kind), "float32")


@pytest.mark.parametrize(
    "index", ["", "{", "[]", "{}", '{"weight_map": 3}', '{"weight_map": {"a": 5}}', '{"weight_map": ["a"]}']
)
def test_damaged_index_is_refused(folder, index):
    (folder / "model.safetensors").rename(folder / "model-1.safetensors")
    (folder / "model.safetensors.index.json").write_text(index)
    for load in (load_tensors, load_model):
        with pytest.raises(MissingWeights, match=r"model\.safetensors\.index\.json is damaged"):
            load(folder)


def test_tensors_fill_a_module(folder):
    save_file({"weight": torch.ones(2, 3), "bias": torch.zeros(2)}, folder / "head.safetensors")
    layer = torch.nn.Linear(3, 2)
    fill(layer, load_tensors(folder, "head.safetensors"), folder)
    assert torch.equal(layer.weight, torch.ones(2, 3))
    with pytest.raises(MissingWeights, match="do not fit: weight is 2 x 3, and 2 x 4 is needed"):
        fill(torch.nn.Linear(4, 2), load_tensors(folder, "head.safetensors"), folder)
    with pytest.raises(MissingWeights, match="do not fit: bias has no place"):
        fill(torch.nn.Linear(3, 2, bias=False), load_tensors(folder, "head.safetensors"), folder)
    with pytest.raises(MissingWeights, match="do not fit: bias is missing"):
        fill(layer, {"weight": torch.ones(2, 3)}, folder)
    with pytest.raises(MissingWeights, match=r"other\.safetensors cannot be read"):
        load_tensors(folder, "other.safetensors")
    (folder / "other.safetensors").write_bytes(b"damaged")
    with pytest.raises(MissingWeights, match=r"other\.safetensors cannot be read"):
        load_tensors(folder, "other.safetensors")


def test_tensors_in_parts_are_joined(folder):
    whole = load_file(folder / "model.safetensors")
    names = sorted(whole)
    parts = {"model-1.safetensors": names[::2], "model-2.safetensors": names[1::2]}
    for part, held in parts.items():
        save_file({name: whole[name] for name in held}, folder / part, {"format": "pt"})
    (folder / "model.safetensors").unlink()
    places = {name: part for part, held in parts.items() for name in held}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": places}))
    found = load_tensors(folder)
    assert found.keys() == whole.keys()
    assert all(torch.equal(found[name], whole[name]) for name in whole)
    assert load_model(folder).dtype == torch.float32
    (folder / "model-2.safetensors").unlink()
    for load in (load_tensors, load_model):
        with pytest.raises(MissingWeights, match=r"index\.json names 'model-2\.safetensors', which is"):
            load(folder)


@pytest.mark.parametrize("stored", [torch.float16, torch.bfloat16])
def test_half_precision_weights_are_computed_in_float32(folder, stored):
    change(folder, lambda each: {name: tensor.to(stored) for name, tensor in each.items()})
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"dtype": str(stored).removeprefix("torch.")}))
    model = load_model(folder)
    assert {each.dtype for each in model.parameters()} == {torch.float32}


def test_sentencepiece_file_alone_is_read(tmp_path):
    """Checkpoints of T5 and mT5 are published this way."""
    SentencePieceTrainer.train(
        sentence_iterator=iter(TEXT.splitlines()),
        model_prefix=str(tmp_path / "spiece"),
        vocab_size=150,
        pad_id=0,
        eos_id=1,
        unk_id=2,
        bos_id=-1,
    )
    shutil.copy(tiny_model("t5") / "config.json", tmp_path)
    tokenizer = load_tokenizer(tmp_path)
    trained = SentencePieceProcessor(str(tmp_path / "spiece.model"))
    text = "The cat sat on the mat."
    assert tokenizer(text)["input_ids"] == [*trained.encode(text), tokenizer.eos_token_id]
