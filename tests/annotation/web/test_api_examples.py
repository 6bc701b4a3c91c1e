"""Examples in the API's schema, held to the schemas of what they show."""

from collections import Counter
from typing import Any

from drf_spectacular.generators import SchemaGenerator
from jsonschema import Draft202012Validator

WITH_EXAMPLES = {
    *("projects_create", "projects_update", "imports_create", "raters_create", "invitations_create"),
    *("runs_create", "webhooks_create", "rating_next", "rating_submit", "rating_skip"),
}


def strict(schema: Any) -> Any:
    """Return an OpenAPI 3.0 schema as a JSON schema whose objects have no other fields than those named."""
    if isinstance(schema, list):
        return [strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    told = {name: strict(part) for name, part in schema.items() if name != "nullable"}
    if isinstance(told.get("properties"), dict):
        told.setdefault("additionalProperties", False)
    return {"anyOf": [told, {"type": "null"}]} if schema.get("nullable") is True else told


def problems(body: dict[str, Any], components: dict[str, Any], value: object) -> list[str]:
    checked = Draft202012Validator({**strict(body["schema"]), "components": components})
    return [f"{error.json_path}: {error.message}" for error in checked.iter_errors(value)]


def test_every_example_fits_the_schema_of_its_body():
    schema = SchemaGenerator().get_schema(public=True)
    components = strict(schema["components"])
    operations = [each for methods in schema["paths"].values() for each in methods.values()]
    found: Counter[str] = Counter()
    wrong = []
    for operation in operations:
        for part in (operation.get("requestBody", {}), *operation["responses"].values()):
            for body in part.get("content", {}).values():
                for example in body.get("examples", {}).values():
                    found[operation["operationId"]] += 1
                    wrong += [
                        (operation["operationId"], problem)
                        for problem in problems(body, components, example["value"])
                    ]
    assert wrong == []
    assert set(found) == WITH_EXAMPLES


def test_an_example_with_an_unknown_or_a_missing_field_does_not_fit():
    schema = SchemaGenerator().get_schema(public=True)
    components = strict(schema["components"])
    body = {"schema": {"$ref": "#/components/schemas/NewProject"}}
    for wrong in ({"name": "A"}, {"name": "A", "questionnaire": "seahorse", "title": "A"}, {"name": None}):
        assert problems(body, components, wrong)
