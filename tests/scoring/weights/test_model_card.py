import json

import pytest

from scoring.weights.model_card import NAME, ModelCard, read_card, write_card
from scoring.weights.model_files import MissingWeights

CARD = ModelCard(
    method="seahorse",
    title="SEAHORSE, attribution",
    evaluator="seahorse",
    dimensions=("attribution",),
    base_model="google/mt5-small",
    weights_sha256="0" * 64,
    params={"max_length": 512},
    data={"languages": ["de"], "origin": "Projekt Süd"},
    articles={"train": ("a" * 64, "b" * 64), "validation": ("c" * 64,)},
    measures={"validation_auc": 0.75},
)


def test_a_card_that_was_written_is_read(tmp_path):
    write_card(tmp_path, CARD)
    assert read_card(tmp_path) == CARD


def test_a_folder_may_have_no_card(tmp_path):
    assert read_card(tmp_path) is None


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "cannot be read"),
        ("[]", "it is no object"),
        (json.dumps({"format": 2}), "found format 2, expected 1"),
        (json.dumps({"format": 1, "method": "umse"}), "missing"),
        (json.dumps({"format": 1, "articles": []}), "cannot be read"),
    ],
)
def test_a_damaged_card_is_refused_with_the_reason(tmp_path, content, problem):
    (tmp_path / NAME).write_text(content)
    with pytest.raises(MissingWeights, match=problem):
        read_card(tmp_path)


def test_unknown_fields_of_a_later_touchstone_are_ignored(tmp_path):
    write_card(tmp_path, CARD)
    stated = json.loads((tmp_path / NAME).read_text())
    (tmp_path / NAME).write_text(json.dumps({**stated, "later": 1}))
    assert read_card(tmp_path) == CARD
