"""A table that goes with a model: a file of its own, found and told apart like a folder."""

import pytest

from scoring.weights import MissingWeights, digest, is_offered, locate, size


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
