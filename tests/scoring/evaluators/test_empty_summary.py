"""The parameter `empty_summary` of all evaluators that have it: unscored, or scored like the authors."""

import json
import math

import pytest

from annotation.declared.settings import settings_of
from scoring.contract.items import Item
from scoring.contract.params import read_params
from scoring.contract.scores import EMPTY_SUMMARY, NO_ARTICLE
from scoring.evaluators import EVALUATORS, load_evaluator
from scoring.files.examples import read_examples
from tests.scoring.evaluator_settings import required

SCORING = [
    name
    for name in EVALUATORS
    if "empty_summary" in {each.name for each in settings_of(load_evaluator(name).Params)}
]
SUITED = {"ctc": {"aligner": "R"}, "umse": {"granularity": "whole"}, "unieval": {"dimensions": "coherence"}}
"""Evaluator -> parameters that let an empty summary be scored on every dimension except overall."""
UNSUITED = [
    ("ctc", {"aligner": "D"}),
    ("ctc", {"aligner": "E"}),
    ("entailment", {"granularity": "sentences"}),
    ("umse", {"granularity": "sentences"}),
    ("unieval", {"dimensions": "consistency,fluency"}),
]
PARITY = [
    ("entailment", "entailment", {}, {"general": "prob_entailment"}),
    ("seahorse", "seahorse", {}, {"attribution": "prob_1_two_labels"}),
    ("seahorse", "seahorse", {"measure": "sequences"}, {"attribution": "prob_1_two_sequences"}),
    ("true_nli", "t5_nli", {}, {"general": "prob_1_two_labels"}),
    ("true_nli", "t5_nli", {"measure": "vocabulary"}, {"general": "prob_1_full_vocabulary"}),
    ("xnli_mt5", "mt5_xnli", {}, {"general": "prob_1_two_labels"}),
    ("summaqa", "summaqa", {}, {"general": "avg_prob"}),
    ("summaqa", "summaqa", {"measure": "f1"}, {"general": "avg_fscore"}),
    (
        "unieval",
        "unieval",
        {},
        {f"{name}": f"max_length_1024/{name}" for name in ("coherence", "relevance")},
    ),
    (
        "ctc",
        "ctc",
        {"aligner": "R", "model": "model-R-doc_to_summ", "relevance_model": "model-R-summ_to_ref"},
        {f"{name}": f"R/default/{name}" for name in ("consistency", "relevance")},
    ),
]
"""Evaluator, set, parameters (models by folder), dimension -> path of its value in expected.json."""
TOLERANCE = 2e-5
ARTICLE = "The cat sat on the mat. It was a good mat, said Ann."
REFERENCES = ("A cat sat on a mat.",)


def evaluator(name, **settings):
    if name == "ctc" and settings.get("aligner") == "R":
        from tests.scoring.ctc_model import ctc_model

        folder = str(ctc_model("bert"))
        settings |= {"model": folder, "relevance_model": folder}
    evaluator_class = load_evaluator(name)
    return evaluator_class(read_params(evaluator_class, required(name) | settings))


@pytest.mark.parametrize("name", SCORING)
def test_empty_summary_is_unscored_by_default_and_scored_on_request(name):
    item = Item("a", " \n", "en", ARTICLE, REFERENCES)
    [unscored] = evaluator(name, **SUITED.get(name, {})).score([item])
    assert set(unscored.reasons.values()) == {EMPTY_SUMMARY}
    asked = evaluator(name, **SUITED.get(name, {}), empty_summary="score")
    [scored] = asked.score([item])
    assert all(map(math.isfinite, scored.values.values())), scored.reasons
    assert not scored.shares_read
    [lacking] = asked.score([Item("a", "")])
    assert EMPTY_SUMMARY not in lacking.reasons.values()
    assert set(lacking.reasons) == set(asked.dimensions)


@pytest.mark.parametrize(("name", "settings"), UNSUITED)
def test_empty_summary_stays_unscored_where_the_authors_have_no_value(name, settings):
    asked = evaluator(name, **settings, empty_summary="score")
    [scored] = asked.score([Item("a", "", "en", ARTICLE, REFERENCES)])
    assert set(scored.reasons) == set(asked.dimensions)
    assert set(scored.reasons.values()) == {EMPTY_SUMMARY}


def test_each_dimension_of_unieval_names_the_missing_text():
    [scored] = evaluator("unieval", empty_summary="score").score([Item("a", "", references=REFERENCES)])
    assert math.isfinite(scored.values["relevance"])
    assert dict(scored.reasons) == {
        "coherence": NO_ARTICLE,
        "consistency": NO_ARTICLE,
        "fluency": EMPTY_SUMMARY,
        "overall": f"{NO_ARTICLE}, {EMPTY_SUMMARY}",
    }


@pytest.mark.parametrize(("name", "parity", "settings", "wanted"), PARITY)
def test_scores_equal_the_authors(shared, name, parity, settings, wanted):
    folder = shared / "parity" / parity
    models = {key: str(folder / value) for key, value in settings.items() if key.endswith("model")}
    evaluator_class = load_evaluator(name)
    given = {"model": str(folder / "model"), **settings, **models, "empty_summary": "score"}
    empty = [each.item for each in read_examples(folder / "inputs.jsonl") if not each.item.summary.strip()]
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))["items"]
    assert empty
    found = evaluator_class(read_params(evaluator_class, given)).score(empty)
    for item, scored in zip(empty, found, strict=True):
        [numbers] = [each for each in expected if each["id"] == item.id]
        for dimension, path in wanted.items():
            value = numbers
            for key in path.split("/"):
                value = value[key]
            assert scored.values[dimension] == pytest.approx(value, abs=TOLERANCE, rel=0), item.id
