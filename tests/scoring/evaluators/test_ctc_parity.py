"""CTC compared with the authors' code on tiny models."""

import math

import pytest

from tests.scoring.further_cases import with_further
from tests.scoring.parity_sets import evaluator_with, parity_set

TOLERANCE = {"E": 1e-5, "D": 1e-5, "R": 2e-5}


@pytest.mark.parametrize("aligner", ["E", "D", "R"])
@pytest.mark.parametrize("stop_words", with_further(["remove_stopwords"], ["default", "remove_stopwords"]))
def test_scores_equal_the_authors(shared, aligner, stop_words, record_property):
    folder, expected, items = parity_set(shared, "ctc")
    settings = {"aligner": aligner, "stop_list": "english" if stop_words == "remove_stopwords" else "none"}
    if aligner == "E":
        settings |= {"model": str(folder / "model-E"), "layer": 3}
    else:
        settings |= {
            "model": str(folder / f"model-{aligner}-doc_to_summ"),
            "relevance_model": str(folder / f"model-{aligner}-summ_to_ref"),
        }
    evaluator = evaluator_with("ctc", settings)
    deviations = []
    for item, each, scored in zip(items, expected["items"], evaluator.score(items), strict=True):
        for dimension in ("consistency", "relevance"):
            wanted = each[aligner][stop_words][dimension]
            if not item.summary.strip():
                assert scored.reasons[dimension] == "empty summary"
                continue
            deviations.append(abs(scored.values[dimension] - wanted))
    assert len(deviations) == 2 * (len(items) - 1)
    assert not any(map(math.isnan, deviations))
    record_property("largest deviation", max(deviations))
    assert max(deviations) <= TOLERANCE[aligner]
