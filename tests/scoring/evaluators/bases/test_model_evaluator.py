"""The base class of evaluators with weights."""

import math
import shutil
from dataclasses import dataclass, fields
from importlib.metadata import version

import pytest

from annotation.declared.settings import setting
from scoring.contract.evaluator import Need
from scoring.contract.fingerprints import fingerprint
from scoring.contract.items import Item
from scoring.contract.params import read_params
from scoring.contract.scores import Scored
from scoring.evaluators import EVALUATORS, load_evaluator
from scoring.evaluators.bases.model_evaluator import ModelEvaluator, ModelParams
from scoring.texts.compared_texts import readable_references
from scoring.weights.model_files import MissingWeights, digest
from tests.scoring.evaluator_settings import required
from tests.scoring.tiny_models import tiny_model


class WordCounts(ModelEvaluator):
    """Count words; need an article, and references if `with_references` is set."""

    name = "word_counts"
    title = "Word counts"
    version = 1
    source = "this test"
    needs = frozenset({Need.ARTICLE})
    dimensions = ("words", "letters")

    @dataclass(frozen=True)
    class Params(ModelParams):
        model: str = setting("owner/name", label="Model", help="The model.", is_weights=True)
        second: str = setting("", label="Second", help="Another model, or none.", is_weights=True)
        with_references: bool = setting(False, label="References", help="Whether references are needed.")

    @classmethod
    def needs_for(cls, params):
        return cls.needs | {Need.REFERENCES} if params.with_references else cls.needs

    def score_readable(self, items):
        self.seen_items = [item.id for item in items]
        return [
            Scored.of({"words": len(item.summary.split()), "letters": len(item.summary)}) for item in items
        ]


def word_counts(**given):
    return WordCounts(read_params(WordCounts, {"model": str(tiny_model("bert")), **given}))


ITEMS = [
    Item("empty", " \n", article="An article."),
    Item("one", "one two", article="An article."),
    Item("no article", "one"),
    Item("blank article", "one", article=" "),
    Item("two", "one two three", article="An article.", references=("A reference.",)),
]


def test_items_with_a_problem_get_a_reason():
    evaluator = word_counts()
    scored = evaluator.score(ITEMS)
    assert evaluator.seen_items == ["one", "two"]
    assert [each.values["words"] for each in scored if not each.reasons] == [2, 3]
    assert [each.reasons.get("words") for each in scored] == [
        "empty summary",
        None,
        "no article",
        "no article",
        None,
    ]
    assert all(scored[0].reasons[each] == "empty summary" for each in evaluator.dimensions)
    assert all(math.isnan(value) for value in scored[0].values.values())


def test_needs_depend_on_the_given_parameters():
    scored = word_counts(with_references=True).score(ITEMS)
    assert [each.reasons.get("words") for each in scored] == [
        "empty summary",
        "no reference",
        "no article",
        "no article",
        None,
    ]


def test_model_is_not_loaded_without_scorable_items():
    evaluator = word_counts()
    evaluator.score(ITEMS[:1])
    assert not hasattr(evaluator, "seen_items")
    assert evaluator.score([]) == []


def test_blank_references_do_not_count():
    assert readable_references(Item("a", "b", references=("", "One.", " \n", "Two."))) == ["One.", "Two."]


def test_provenance_has_the_hash_of_every_model_and_the_library_versions():
    evaluator = word_counts(second=str(tiny_model("roberta")))
    assert evaluator.provenance() == {
        "weights": {"model": digest(tiny_model("bert")), "second": digest(tiny_model("roberta"))},
        "libraries": {name: version(name) for name in ("torch", "transformers", "tokenizers")},
    }
    assert set(word_counts().provenance()["weights"]) == {"model"}


def test_changed_weights_change_the_fingerprint(tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(tiny_model("bert"), folder)
    before = fingerprint(word_counts(model=str(folder)))
    shutil.copy(tiny_model("roberta") / "model.safetensors", folder)
    assert fingerprint(word_counts(model=str(folder))) != before


WITH_A_MODEL = [
    name for name in EVALUATORS if "model" in {each.name for each in fields(load_evaluator(name).Params)}
]


def test_model_left_empty_is_refused(subtests):
    for name in WITH_A_MODEL:
        refused = pytest.raises(ValueError, match="parameter 'model': found '', expected")
        with subtests.test(name=name), refused:
            read_params(load_evaluator(name), {**required(name), "model": ""})


def test_missing_weights_are_reported_before_scoring():
    with pytest.raises(MissingWeights, match="weights fetch owner-not/here"):
        fingerprint(word_counts(model="owner-not/here"))
