"""Listing installed models and tables."""

import os
from pathlib import Path

import pytest

from scoring.weights.installed import installed, tables


@pytest.fixture
def weights(tmp_path, monkeypatch):
    monkeypatch.setenv("WEIGHTS_DIR", str(tmp_path))
    for name in ("first", "leaving", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.safetensors").touch()
    (tmp_path / "first" / "idf.tsv").touch()
    return tmp_path


def test_models_and_tables_are_named_by_their_folder(weights):
    assert [each.model for each in installed() if each.folder.is_relative_to(weights)] == [
        "first",
        "leaving",
        "second",
    ]
    assert list(tables()) == ["first/idf.tsv"]


def test_listing_survives_a_folder_removed_meanwhile(weights, monkeypatch):
    entries = os.scandir

    def vanishing(folder):
        if Path(folder).name == "leaving":
            raise FileNotFoundError(folder)
        return entries(folder)

    monkeypatch.setattr(os, "scandir", vanishing)
    names = [each.model for each in installed() if each.folder.is_relative_to(weights)]
    assert names == ["first", "second"]
