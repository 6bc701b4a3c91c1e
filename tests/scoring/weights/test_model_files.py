"""Finding models and hashing their files."""

import os

import pytest

from scoring.weights.model_card import card_of
from scoring.weights.model_files import (
    MissingWeights,
    digest,
    is_here,
    locate,
    locate_offered,
    size,
    weights_dir,
)


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("WEIGHTS_DIR", str(tmp_path / "weights"))
    return tmp_path / "weights"


def put(folder, **files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name.replace("_", ".")).write_bytes(content)
    return folder


def test_folder_is_found_by_path_and_by_name(root):
    folder = put(root / "mine" / "small", model_safetensors=b"1")
    assert locate(str(folder)) == folder
    assert locate("mine/small") == folder
    assert is_here("mine/small")


def test_path_takes_precedence_over_a_name(root, tmp_path, monkeypatch):
    put(root / "small", model_safetensors=b"1")
    here = put(tmp_path / "here" / "small", model_safetensors=b"2")
    monkeypatch.chdir(here.parent)
    assert locate("small").resolve() == here


def test_default_folder_is_in_the_project(monkeypatch):
    monkeypatch.delenv("WEIGHTS_DIR", raising=False)
    assert weights_dir().parts[-2:] == ("var", "weights")
    assert (weights_dir().parent.parent / "manage.py").is_file()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "There is no folder ''"),
        ("nothing", r"no folder 'nothing'.*it is not a hub id"),
        ("a/b/c", r"it is not a hub id \(owner/name or owner/name@revision\)"),
        ("owner-not/here", r"manage\.py weights fetch owner-not/here"),
        (
            "trained/mine",
            r"no trained model 'trained/mine'.* may have been deleted.*manage\.py weights list$",
        ),
        ("owner-not/here@v1", r"manage\.py weights fetch owner-not/here@v1"),
    ],
)
def test_missing_model_says_what_to_do(root, name, said):
    assert not is_here(name)
    with pytest.raises(MissingWeights, match=said) as caught:
        locate(name)
    assert caught.value.permanent


@pytest.mark.parametrize(
    "name", ["x" * 5000, "x/" + "y" * 5000, "trained/" + "y" * 5000, "x" * 5000 + ".tsv"]
)
def test_long_name_is_refused_in_a_sentence(root, name):
    for find in (locate, locate_offered):
        with pytest.raises(MissingWeights) as refusal:
            find(name)
        assert len(str(refusal.value)) < 300 + len(str(root))
    assert card_of(name) is None


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.ckpt", "model.pt", "model.pth"])
def test_pickled_weights_say_what_to_do(root, name):
    folder = put(root / "old", config_json=b"{}")
    (folder / name).write_bytes(b"anything")
    with pytest.raises(MissingWeights, match=r"can run code.*manage\.py weights convert old --to"):
        locate("old")


def test_folder_without_weights_is_refused(root):
    put(root / "empty", config_json=b"{}")
    with pytest.raises(MissingWeights, match=r"has no weights \(\*\.safetensors\)"):
        locate("empty")


def test_hash_covers_names_and_contents(root):
    files = {"model_safetensors": b"1", "config_json": b"{}"}
    one, same = put(root / "one", **files), put(root / "same", **files)
    assert digest(one) == digest(same)
    assert len(digest(one)) == 64
    others = [
        put(root / "content", **{**files, "config_json": b"{ }"}),
        put(root / "name", model_safetensors=b"1", other_json=b"{}"),
        put(root / "more", **files, head_safetensors=b"1"),
        put(root / "fewer", model_safetensors=b"1"),
        put(root / "swapped", model_safetensors=b"{}", config_json=b"1"),
    ]
    assert len({digest(each) for each in [one, *others]}) == 1 + len(others)


@pytest.mark.parametrize("name", ["vocab.txt", "spiece.model", "idf.tsv", "1_Pooling/config.json"])
def test_hash_covers_every_file_that_affects_scores(root, name):
    folder = put(root / "small", model_safetensors=b"1")
    before = digest(folder)
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_bytes(b"x")
    assert digest(folder) != before


def test_hash_ignores_other_files(root):
    folder = put(root / "small", model_safetensors=b"1")
    before = digest(folder)
    put(folder, README_md=b"# Mine", pytorch_bin=b"x")
    assert digest(folder) == before


def test_changed_file_is_hashed_again(root):
    folder = put(root / "small", model_safetensors=b"1")
    before = digest(folder)
    put(folder, model_safetensors=b"2")
    os.utime(folder / "model.safetensors", (1, 1))
    assert digest(folder) != before


def test_size_is_that_of_the_weights(root):
    folder = put(root / "small", model_safetensors=b"12345", config_json=b"{}")
    put(folder / "2_Dense", model_safetensors=b"678")
    assert size(folder) == 8
