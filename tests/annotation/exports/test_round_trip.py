"""What is exported can be imported into another project, and then exported again unchanged."""

import pytest
from hypothesis import HealthCheck, given, settings

from annotation.models import Rater
from tests.annotation.exports.exporting_steps import exported, imported, json_rows
from tests.annotation.exports.odd_projects import destination, odd_projects

pytestmark = pytest.mark.django_db

EVERYBODY = ",".join(Rater.Status.values)


def state(project):
    """Return everything that exports say of a project, except where its ratings were made."""
    found = {name: json_rows(project, name) for name in ("examples", "gold")}
    found["ratings"] = json_rows(project, "ratings", file_type="jsonl")
    found["with removed raters"] = json_rows(project, "ratings", file_type="jsonl", rater_status=EVERYBODY)
    for row in (*found["ratings"], *found["with removed raters"]):
        del row["is_imported"]
    return {name: sorted(map(repr, rows)) for name, rows in found.items()}


@pytest.mark.parametrize(
    ("order", "options"),
    [
        (("ratings", "examples", "gold"), {"file_type": "csv", "articles": True}),
        (("examples", "ratings", "gold"), {"file_type": "jsonl"}),
    ],
)
@settings(  # each example is a project stored and read twice
    max_examples=max(10, settings().max_examples // 5), suppress_health_check=[HealthCheck.too_slow]
)
@given(project=odd_projects())
def test_exports_of_any_project_import_again_to_the_same_state(tmp_path_factory, order, options, project):
    folder = tmp_path_factory.mktemp("exports")
    elsewhere = destination(project)
    chosen = {"ratings": {"rater_status": EVERYBODY, **options}}
    for name in order:
        imported(elsewhere, name, exported(project, name, **chosen.get(name, {})), folder)
    assert state(elsewhere) == state(project)
