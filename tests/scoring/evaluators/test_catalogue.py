import json
from pathlib import Path

import pytest

from annotation.declared.settings import settings_of
from scoring.evaluators import EVALUATORS, FAMILIES, UnknownEvaluator, load_evaluator
from scoring.evaluators.catalogue import as_markdown, asking_evaluators, describe

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "evaluators.md"


def test_the_document_in_the_repository_is_up_to_date():
    assert DOCUMENT.read_text("utf-8") == as_markdown(), (
        "update it: manage.py evaluators > docs/evaluators.md"
    )


def test_every_evaluator_and_every_parameter_is_in_the_document(subtests):
    for name in EVALUATORS:
        with subtests.test(name=name):
            text = as_markdown([name])
            assert f"(`{name}`)" in text
            for spec in settings_of(load_evaluator(name).Params):
                assert f"| `{spec.name}` |" in text
                assert f"| {spec.label} |" in text
                assert spec.help in text
                assert spec.details in text


def test_descriptions_are_json_in_the_order_of_the_table():
    described = json.loads(json.dumps(describe()))
    assert [each["name"] for each in described] == list(EVALUATORS)
    assert {each["name"]: each["family"] for each in described} == {
        name: family for family, names in FAMILIES.items() for name in names
    }


def test_description_lists_needs_and_their_conditions():
    [rouge] = describe(["rouge"])
    assert rouge["needs"] == ["references"]
    assert rouge["needs_if"] == [{"parameter": "against", "value": "article", "needs": ["article"]}]
    assert rouge["dimensions"] == ["general"]
    [ice] = describe(["ice"])
    assert ice["needs"] == ["article", "references", "labelled_pool"]
    assert ice["dimensions"] is None
    assert (ice["queue"], rouge["queue_if"]) == ("llm", [])
    local = {"parameter": "api", "value": "local_chat", "queue": "gpu"}
    assert ice["queue_if"] == [local, local | {"value": "local_completions"}]
    model = ice["parameters"][0]
    assert (model["name"], model["required"], model["default"]) == ("model", True, None)


def test_an_unknown_name_is_refused():
    with pytest.raises(UnknownEvaluator):
        describe(["rogue"])


def test_evaluators_with_a_language_model_are_known_by_name():
    asking = asking_evaluators()
    assert "ice" in asking
    assert not {"rouge", "seahorse", "jury"} & set(asking)
