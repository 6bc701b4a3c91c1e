"""A table that goes with a model: a file of its own, found and told apart like a folder."""

import hashlib

import pytest

from scoring.weights import LARGE, MissingWeights, digest, is_offered, locate, size


@pytest.fixture
def weights(tmp_path, monkeypatch):
    monkeypatch.setenv("WEIGHTS_DIR", str(tmp_path))
    return tmp_path


def test_it_is_found_by_path_and_by_name_in_the_folder_of_weights(weights):
    table = weights / "baselines" / "en.tsv"
    table.parent.mkdir()
    table.write_text("LAYER,P,R,F\n")
    assert locate(str(table)) == table
    assert locate("baselines/en.tsv") == table
    assert is_offered("baselines/en.tsv")


def test_a_missing_one_is_not_taken_for_a_model_to_download(weights):
    with pytest.raises(MissingWeights, match=r"no file 'baselines/en\.tsv'"):
        locate("baselines/en.tsv")


def test_no_other_file_can_be_named(weights):
    (weights / "secrets.txt").write_text("a secret")
    with pytest.raises(MissingWeights):
        locate("secrets.txt")


def test_its_hash_and_its_size_are_those_of_its_content(weights):
    one, two = weights / "one.tsv", weights / "two.tsv"
    one.write_text("LAYER,P,R,F\n0,0,0,0\n")
    two.write_text("LAYER,P,R,F\n0,0,0,0\n")
    assert digest(one) == digest(two)
    two.write_text("LAYER,P,R,F\n0,0,0,0.5\n")
    assert digest(one) != digest(two)
    assert size(two) == size(one) + len(".5")


def test_the_hash_of_a_large_file_outlives_the_process_but_no_change_of_the_file(weights, monkeypatch):
    monkeypatch.setenv("VAR_DIR", str(weights / "var"))
    large = weights / "model.safetensors"
    with large.open("wb") as file:
        file.truncate(LARGE)
    truth = digest(weights / "model.safetensors")
    assert truth == hashlib.sha256(bytes(LARGE)).hexdigest()
    [kept] = (weights / "var" / "hashes").iterdir()
    kept.write_text("f" * 64)
    monkeypatch.setattr("scoring.weights._hashes", {})  # as in a process that starts
    assert digest(large) == "f" * 64
    with large.open("r+b") as file:
        file.write(b"1")
    assert digest(large) not in (truth, "f" * 64)


def test_a_hash_that_was_not_written_whole_is_not_believed(weights, monkeypatch):
    monkeypatch.setenv("VAR_DIR", str(weights / "var"))
    large = weights / "model.safetensors"
    with large.open("wb") as file:
        file.truncate(LARGE)
    truth = digest(large)
    [kept] = (weights / "var" / "hashes").iterdir()
    kept.write_text("")
    monkeypatch.setattr("scoring.weights._hashes", {})
    assert digest(large) == truth
