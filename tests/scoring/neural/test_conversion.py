"""Converting pickled checkpoints to safetensors without running their code."""

import json
import os
import sys
import types
from argparse import Namespace
from fractions import Fraction
from itertools import accumulate

import numpy
import pytest
import torch
from safetensors.torch import load_file

from scoring.neural.conversion import NotConvertible, convert
from scoring.neural.encoder import Encoder
from scoring.neural.loading import load_model
from tests.scoring.tiny_models import tiny_model


@pytest.fixture
def source(tmp_path):
    """Create a folder with the configuration and vocabulary of a tiny model, without weights."""
    folder = tmp_path / "source"
    folder.mkdir()
    for path in tiny_model("bert").iterdir():
        if path.suffix != ".safetensors":
            (folder / path.name).write_bytes(path.read_bytes())
    return folder


@pytest.fixture
def state():
    return load_file(tiny_model("bert") / "model.safetensors")


def test_conversion_keeps_the_model(source, state, tmp_path):
    torch.save(state, source / "pytorch_model.bin")
    done = convert(source, tmp_path / "new")
    assert done.tensors == {"model.safetensors": len(state)}
    written = load_file(tmp_path / "new" / "model.safetensors")
    assert written.keys() == state.keys()
    assert all(torch.equal(written[name], state[name]) for name in state)
    assert "tokenizer.json" in done.copied
    assert load_model(tmp_path / "new").config.hidden_size == state["embeddings.LayerNorm.weight"].shape[0]


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda state: {"state_dict": state, "epoch": 2, "hyper_parameters": {"lr": 1e-5}},
        lambda state: {"model": {f"module.{name}": tensor for name, tensor in state.items()}},
        lambda state: {name: torch.nn.Parameter(tensor) for name, tensor in state.items()},
    ],
    ids=["lightning", "several cards", "parameters"],
)
def test_wrappers_of_training_frameworks_are_removed(source, state, tmp_path, wrapped):
    torch.save(wrapped(state), source / "model.ckpt")
    convert(source / "model.ckpt", tmp_path / "new")
    assert load_file(tmp_path / "new" / "model.safetensors").keys() == state.keys()


def test_names_of_inner_encoders_are_kept(source, state, tmp_path):
    torch.save({"state_dict": {f"encoder.model.{name}": state[name] for name in state}}, source / "a.ckpt")
    convert(source, tmp_path / "new")
    written = load_file(tmp_path / "new" / "model.safetensors")
    assert all(name.startswith("encoder.model.embeddings.") for name in sorted(written)[:2])


def test_parts_are_written_to_separate_files(source, state, tmp_path):
    head = {"_classifier.weight": torch.ones(2, 32), "_classifier.bias": torch.zeros(2)}
    encoder = {f"_roberta.{name}": tensor for name, tensor in state.items()}
    torch.save({**encoder, **head, "counter": torch.tensor(3)}, source.parent / "doc_to_summ.ckpt")
    done = convert(
        source.parent / "doc_to_summ.ckpt",
        tmp_path / "new",
        configuration=source,
        parts={"_roberta.": "model", "_classifier.": "classifier"},
    )
    assert load_file(tmp_path / "new" / "model.safetensors").keys() == state.keys()
    assert load_file(tmp_path / "new" / "classifier.safetensors").keys() == {"weight", "bias"}
    assert done.left_out == ("counter",)


def test_tied_tensors_are_written_under_each_name(source, tmp_path):
    one = torch.arange(12.0).reshape(3, 4)
    torch.save({"a": one, "b": one, "turned": one.T, "row": one[1]}, source / "pytorch_model.bin")
    convert(source, tmp_path / "new")
    written = load_file(tmp_path / "new" / "model.safetensors")
    assert torch.equal(written["a"], one)
    assert torch.equal(written["b"], one)
    assert torch.equal(written["turned"], one.T)
    assert torch.equal(written["row"], one[1])


def test_tensors_keep_their_type(source, tmp_path):
    state = {
        "half": torch.tensor([1.5, float("nan")], dtype=torch.bfloat16),
        "whole": torch.tensor([1, 2]),
        "single": torch.tensor(2.5),
    }
    torch.save(state, source / "pytorch_model.bin")
    convert(source, tmp_path / "new")
    written = load_file(tmp_path / "new" / "model.safetensors")
    assert {name: (each.dtype, each.shape) for name, each in written.items()} == {
        name: (each.dtype, each.shape) for name, each in state.items()
    }


def test_model_in_several_files_becomes_one(source, state, tmp_path):
    names = sorted(state)
    files = {"pytorch_model-1.bin": names[:5], "pytorch_model-2.bin": names[5:]}
    for file, each in files.items():
        torch.save({name: state[name] for name in each}, source / file)
    index = {"weight_map": {name: file for file, each in files.items() for name in each}}
    (source / "pytorch_model.bin.index.json").write_text(json.dumps(index))
    done = convert(source, tmp_path / "new")
    assert load_file(tmp_path / "new" / "model.safetensors").keys() == state.keys()
    assert "pytorch_model.bin.index.json" not in done.copied


class Malicious:
    def __init__(self, trace):
        self.trace = str(trace)

    def __reduce__(self):
        return os.mkdir, (self.trace,)


class Touching(Malicious):
    """Opens a file for writing by a function of numpy."""

    def __reduce__(self):
        return numpy.memmap, (self.trace, "uint8", "w+", 0, 1)


@pytest.mark.parametrize("new_format", [True, False])
def test_malicious_pickle_does_not_run(source, state, tmp_path, new_format):
    trace = tmp_path / "it ran"
    content = {"state_dict": state, "harmless": Namespace(lr=numpy.float32(1)), "x": Malicious(trace)}
    torch.save(content, source / "pytorch_model.bin", _use_new_zipfile_serialization=new_format)
    with pytest.raises(NotConvertible, match=r"holds more than tensors.*mkdir"):
        convert(source, tmp_path / "new")
    assert not trace.exists()
    assert not (tmp_path / "new").exists()


def stored_class(name):
    """Return a class that is pickled under a name of a library that need not be installed."""
    module, _, name = name.rpartition(".")
    for parent in accumulate(module.split("."), "{}.{}".format):
        sys.modules.setdefault(parent, types.ModuleType(parent))
    found = type(name, (), {"__module__": module})
    setattr(sys.modules[module], name, found)
    return found


@pytest.fixture
def library_modules():
    """Forget the modules that `stored_class` made."""
    before = set(sys.modules)
    yield
    for name in sys.modules.keys() - before:
        del sys.modules[name]


@pytest.mark.parametrize("new_format", [True, False])
def test_objects_of_training_beside_the_tensors_are_left_out(
    source, state, tmp_path, new_format, library_modules
):
    """Lightning 1.3 keeps the state of callbacks by their class."""
    checkpoint = stored_class("pytorch_lightning.callbacks.model_checkpoint.ModelCheckpoint")
    stopping = stored_class("pytorch_lightning.callbacks.early_stopping.EarlyStopping")
    tracked = stopping()
    tracked.wait = 3
    content = {
        "epoch": numpy.int64(3),
        "pytorch-lightning_version": "1.3.8",
        "state_dict": state,
        "callbacks": {
            checkpoint: {"best_model_score": torch.tensor(0.5), "best_model_path": tmp_path},
            stopping: {"best": numpy.float32(0.5), "itself": tracked},
        },
        "hyper_parameters": {"args": Namespace(lr=1, layers=numpy.array([1, 2]))},
    }
    torch.save(content, source / "model.ckpt", _use_new_zipfile_serialization=new_format)
    convert(source, tmp_path / "new")
    written = load_file(tmp_path / "new" / "model.safetensors")
    assert written.keys() == state.keys()
    assert all(torch.equal(written[name], state[name]) for name in state)


def test_object_in_the_place_of_a_tensor_is_refused(source, state, tmp_path):
    torch.save({"state_dict": {**state, "rate": numpy.float64(1)}}, source / "model.ckpt")
    with pytest.raises(NotConvertible, match="entries that are no tensors: rate"):
        convert(source, tmp_path / "new")


def test_function_with_a_harmless_name_is_not_called(source, state, tmp_path):
    trace = tmp_path / "it ran"
    torch.save({"state_dict": state, "x": Touching(trace)}, source / "pytorch_model.bin")
    convert(source, tmp_path / "new")
    assert not trace.exists()


def test_other_objects_are_refused_by_name(source, state, tmp_path):
    torch.save({"state_dict": state, "made": Fraction(1, 2)}, source / "model.ckpt")
    with pytest.raises(NotConvertible, match=r"fractions\.Fraction.*save only its tensors"):
        convert(source, tmp_path / "new")


def test_folder_of_a_training_program_is_converted(source, state, tmp_path):
    torch.save(state, source / "pytorch_model.bin")
    for name in ("training_args.bin", "optimizer.pt", "scheduler.pt", "rng_state.pth", "rng_state_1.pth"):
        torch.save({"python": (3, (1, 2)), "numpy": numpy.random.default_rng()}, source / name)
    assert convert(source, tmp_path / "new").tensors == {"model.safetensors": len(state)}


def test_folder_with_a_configuration_in_berts_own_form_is_converted(source, state, tmp_path):
    torch.save(state, source / "pytorch_model.bin")
    config = json.loads((source / "config.json").read_text())
    (source / "config.json").unlink()
    stated = {name: value for name, value in config.items() if name not in ("model_type", "architectures")}
    (source / "bert_config.json").write_text(json.dumps(stated))
    convert(source, tmp_path / "new")
    [ids] = Encoder(tmp_path / "new").tokens.pieces(["The cat sat."])
    states = [Encoder(folder).states([ids], [-1])[0] for folder in (tmp_path / "new", tiny_model("bert"))]
    torch.testing.assert_close(*states, atol=0, rtol=0)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({"epoch": 3}, "entries that are no tensors: epoch"),
        ({}, "no tensors by name"),
        (torch.ones(3), "no tensors by name"),
    ],
)
def test_file_without_a_model_is_refused(source, tmp_path, content, reason):
    torch.save(content, source / "pytorch_model.bin")
    with pytest.raises(NotConvertible, match=reason):
        convert(source, tmp_path / "new")


def test_damaged_file_is_refused(source, tmp_path):
    (source / "pytorch_model.bin").write_bytes(b"PK no checkpoint")
    with pytest.raises(NotConvertible, match=r"is no checkpoint|holds more than tensors"):
        convert(source, tmp_path / "new")


def test_incomplete_folder_is_refused_with_a_reason(source, state, tmp_path):
    with pytest.raises(NotConvertible, match="has 0 pickled files"):
        convert(source, tmp_path / "new")
    torch.save(state, source / "one.bin")
    torch.save(state, source / "optimizer.pt")
    convert(source, tmp_path / "new")
    torch.save(state, source / "two.bin")
    with pytest.raises(NotConvertible, match=r"2 pickled files of weights \(one\.bin, two\.bin\)"):
        convert(source, tmp_path / "newer")
    (source / "config.json").unlink()
    with pytest.raises(NotConvertible, match=r"no config\.json"):
        convert(source / "one.bin", tmp_path / "newer")


def test_existing_folder_is_kept_and_partial_output_removed(source, state, tmp_path):
    torch.save(state, source / "pytorch_model.bin")
    target = tmp_path / "new"
    target.mkdir()
    (target / "notes.txt").write_text("mine")
    with pytest.raises(NotConvertible, match="is not overwritten"):
        convert(source, target)
    assert [path.name for path in target.iterdir()] == ["notes.txt"]
    (target / "notes.txt").unlink()
    convert(source, target)
    assert (target / "model.safetensors").is_file()
    assert {path.name for path in tmp_path.iterdir()} == {"source", "new"}


def test_missing_part_is_refused(source, state, tmp_path):
    torch.save(state, source / "pytorch_model.bin")
    with pytest.raises(NotConvertible, match=r"no tensor's name begins with '_roberta\.'"):
        convert(source, tmp_path / "new", parts={"_roberta.": "model"})
