"""SUPERT compared with the authors' program on the same tiny model."""

import pytest

from tests.scoring.further_cases import with_further
from tests.scoring.parity_sets import evaluator_with, parity_set

ABSOLUTE = 2e-5
FIRST_SENTENCES = {"top10": 10, "top15": 15, "top30": 30, "full_doc": 0}
MEASURES = ("f1", "precision", "recall")


@pytest.fixture(scope="module")
def golden(shared):
    folder, expected, items = parity_set(shared, "supert")
    return folder / "model", expected, items


def test_parity_set_covers_every_variant(golden):
    _, expected, _ = golden
    told = {key for item in expected["items"] for key in item} - {"id", "n_reference_sentences_top15"}
    assert told == {f"{length}/{measure}" for length in FIRST_SENTENCES for measure in MEASURES}


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("length", with_further([*FIRST_SENTENCES][:1], FIRST_SENTENCES))
def test_scores_equal_the_authors(golden, length, measure, record_property):
    model, expected, items = golden
    settings = {
        "model": str(model),
        "first_sentences": FIRST_SENTENCES[length],
        "measure": measure,
        "stop_list": "none",
        "stop_words": expected["settings"]["stop_words"],
    }
    scored = evaluator_with("supert", settings).score(items)
    deviations = []
    for item, found, told in zip(items, scored, expected["items"], strict=True):
        assert item.id == told["id"]
        if told[f"{length}/{measure}"] is None:
            assert found.reasons["general"] == "empty summary"
        else:
            deviations.append(abs(found.values["general"] - told[f"{length}/{measure}"]))
    record_property("largest deviation", max(deviations))
    print(f"{length}/{measure}: largest deviation {max(deviations):.1e}")
    assert max(deviations) <= ABSOLUTE
