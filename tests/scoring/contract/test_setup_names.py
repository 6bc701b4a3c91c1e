"""Names of setups, in the style of papers."""

from types import MappingProxyType

import pytest

from scoring.contract.evaluator import Member
from scoring.contract.params import read_params
from scoring.contract.setup_names import LONGEST_NAME, joined
from scoring.evaluators import load_evaluator

ICE = MappingProxyType({"model": "openai/gpt-4o", "base_url": "https://api.openai.com/v1"})


@pytest.mark.parametrize(
    ("evaluator", "given", "name"),
    [
        ("rouge", {}, "ROUGE-L"),
        (
            "rouge",
            {"variant": "1", "stem": True, "references": "mean"},
            "ROUGE-1, mean over references, stemmed",
        ),
        ("bertscore", {}, "BERTScore F1, roberta-large layer 17"),
        (
            "bertscore",
            {"measure": "recall", "layer": 4, "idf": True, "against": "article"},
            "BERTScore recall, roberta-large layer 4, against the article, IDF-weighted",
        ),
        ("moverscore", {"idf": False, "n_gram": 2}, "MoverScore, 2-grams, no IDF weights"),
        ("similarity", {"model": "owner/multilingual@v2"}, "Embedding similarity, multilingual@v2"),
        ("blanc", {"form": "tune"}, "BLANC-tune"),
        ("ctc", {"aligner": "E"}, "CTC-E"),
        ("seahorse", {}, "SEAHORSE, attribution"),
        ("length", {"unit": "characters"}, "Length, in characters"),
        ("qa", {"prompt": "a" * 40 + "{context}"}, "QA (QAGS, FEQA), own question prompt"),
        ("ice", {**ICE, "api": "local_chat"}, "ICE, 4 examples, gpt-4o, local chat"),
        (
            "ice",
            {**ICE, "mode": "expected", "marks": "1-5", "examples": 1, "base_url": "http://localhost:1/v1"},
            "ICE, 1 example, gpt-4o, at localhost:1, expected value, scale 1 to 5",
        ),
    ],
)
def test_name_starts_with_the_headline_then_changed_parameters(evaluator, given, name):
    found = load_evaluator(evaluator)
    assert joined(found(read_params(found, given)).name_parts()) == name


def test_jury_name_lists_or_counts_its_jurors():
    found = load_evaluator("jury")
    for label, expected in (("ROUGE", "Jury of ROUGE-1 + ROUGE-2, median"), ("R" * 90, "Jury of 2, median")):
        jury = found(read_params(found, {"members": ["a", "b"], "how": "median"}))
        jury.use_members([Member("a", f"{label}-1", ("general",)), Member("b", f"{label}-2", ("general",))])
        assert joined(jury.name_parts()) == expected


def test_long_name_counts_its_last_parts():
    parts = ["Headline", "b" * 60, "c" * 60, "d"]
    assert joined(parts) == f"Headline, {'b' * 60}, 2 more settings"
    assert joined(parts[:2]) == f"Headline, {'b' * 60}"
    assert len(joined(["x" * 300])) == LONGEST_NAME
