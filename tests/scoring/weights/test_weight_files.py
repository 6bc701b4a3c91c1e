"""Tables that belong to a model: single files, found and hashed like folders."""

import hashlib

import pytest

from scoring.weights.model_files import LARGE, MissingWeights, digest, is_offered, locate, size


@pytest.fixture
def weights(tmp_path, monkeypatch):
    monkeypatch.setenv("WEIGHTS_DIR", str(tmp_path))
    return tmp_path


def test_table_is_found_by_path_and_by_name(weights):
    table = weights / "baselines" / "en.tsv"
    table.parent.mkdir()
    table.write_text("LAYER,P,R,F\n")
    assert locate(str(table)) == table
    assert locate("baselines/en.tsv") == table
    assert is_offered("baselines/en.tsv")


def test_missing_table_is_not_a_hub_id(weights):
    with pytest.raises(MissingWeights, match=r"no file 'baselines/en\.tsv'"):
        locate("baselines/en.tsv")


def test_other_files_cannot_be_named(weights):
    (weights / "secrets.txt").write_text("a secret")
    with pytest.raises(MissingWeights):
        locate("secrets.txt")


def test_hash_and_size_of_a_table(weights):
    one, two = weights / "one.tsv", weights / "two.tsv"
    one.write_text("LAYER,P,R,F\n0,0,0,0\n")
    two.write_text("LAYER,P,R,F\n0,0,0,0\n")
    assert digest(one) == digest(two)
    two.write_text("LAYER,P,R,F\n0,0,0,0.5\n")
    assert digest(one) != digest(two)
    assert size(two) == size(one) + len(".5")


def test_cached_hash_of_a_large_file_follows_changes(weights, monkeypatch):
    monkeypatch.setenv("VAR_DIR", str(weights / "var"))
    large = weights / "model.safetensors"
    with large.open("wb") as file:
        file.truncate(LARGE)
    truth = digest(weights / "model.safetensors")
    assert truth == hashlib.sha256(bytes(LARGE)).hexdigest()
    [kept] = (weights / "var" / "hashes").iterdir()
    kept.write_text("f" * 64)
    monkeypatch.setattr("scoring.weights.model_files._hashes", {})  # like in a new process
    assert digest(large) == "f" * 64
    with large.open("r+b") as file:
        file.write(b"1")
    assert digest(large) not in (truth, "f" * 64)


def test_incomplete_cached_hash_is_ignored(weights, monkeypatch):
    monkeypatch.setenv("VAR_DIR", str(weights / "var"))
    large = weights / "model.safetensors"
    with large.open("wb") as file:
        file.truncate(LARGE)
    truth = digest(large)
    [kept] = (weights / "var" / "hashes").iterdir()
    kept.write_text("")
    monkeypatch.setattr("scoring.weights.model_files._hashes", {})
    assert digest(large) == truth
