"""What lies in the folder of weights is listed, whatever else lies or moves there."""

from pathlib import Path

import pytest

from scoring.local_models import installed, tables


@pytest.fixture
def weights(tmp_path, monkeypatch):
    monkeypatch.setenv("WEIGHTS_DIR", str(tmp_path))
    for name in ("first", "leaving", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.safetensors").touch()
    (tmp_path / "first" / "idf.tsv").touch()
    return tmp_path


def test_models_and_tables_are_named_by_where_they_lie(weights):
    assert [each.model for each in installed() if each.folder.is_relative_to(weights)] == [
        "first",
        "leaving",
        "second",
    ]
    assert list(tables()) == ["first/idf.tsv"]


def test_a_folder_that_is_removed_meanwhile_hides_no_other(weights, monkeypatch):
    entries = Path.iterdir

    def vanishing(folder):
        if folder.name == "leaving":
            raise FileNotFoundError(folder)
        return entries(folder)

    monkeypatch.setattr(Path, "iterdir", vanishing)
    names = [each.model for each in installed() if each.folder.is_relative_to(weights)]
    assert names == ["first", "second"]
