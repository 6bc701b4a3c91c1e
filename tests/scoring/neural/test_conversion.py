"""Converting pickled checkpoints to safetensors without running their code."""

import json
import os
from argparse import Namespace

import pytest
import torch
from safetensors.torch import load_file

from scoring.neural.conversion import NotConvertible, convert
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


@pytest.mark.parametrize("new_format", [True, False])
def test_malicious_pickle_does_not_run(source, state, tmp_path, new_format):
    trace = tmp_path / "it ran"
    content = {"state_dict": state, "x": Malicious(trace)}
    torch.save(content, source / "pytorch_model.bin", _use_new_zipfile_serialization=new_format)
    with pytest.raises(NotConvertible, match=r"holds more than tensors.*mkdir"):
        convert(source, tmp_path / "new")
    assert not trace.exists()
    assert not (tmp_path / "new").exists()


def test_other_objects_are_refused_by_name(source, state, tmp_path):
    torch.save({"state_dict": state, "hyper_parameters": Namespace(lr=1)}, source / "model.ckpt")
    with pytest.raises(NotConvertible, match=r"argparse\.Namespace.*save only its tensors"):
        convert(source, tmp_path / "new")


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
